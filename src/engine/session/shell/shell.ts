/**
 * One live bash of a session: started once, given lines, heard through reports. It knows
 * nothing of queues, timeouts or outcomes.
 */
import type { Pipe, Ward } from '../../../os/helper/launcher.js'
import { readInto, type PipeReader } from '../../../os/files/pipe-reader.js'
import { watchDoom, type DoomWatch } from '../../../os/process/children.js'
import { processesOf } from '../../../os/helper/processes.js'
import { hasProc, commandLine, descendantsOf, processFacts, signalProcess } from '../../../os/process/proc.js'
import { within } from '../../services/within.js'
import type { Services } from '../../services/services.js'
import { Company } from './company.js'
import { Orders } from './orders.js'
import { Answer, ReportRouter, type ReportReceiver } from './router.js'
import type { SessionFiles } from './files.js'
import { before } from '../lines/dump-text.js'
import { askLine, keepStatusLine, leaveLine } from '../lines/lines.js'
import type { Marks } from '../lines/marks.js'
import { OwnWords } from '../lines/own-words.js'
import type { CommandLine } from '../lines/way.js'
import { createReportReader, type Report } from './report.js'
import { StallWatch } from './stall.js'
import { SessionStreams, type Attached, type Sinks } from './streams.js'
import { DumpReader } from './dump.js'
import { parseState, type ShellState } from './state.js'

/** What is still running when the session closes gets this long to end by itself. */
const COMPANY_GRACE_MS = 1_000
const SETTLE_LIMIT_MS = 1_000

/** What a shell talks through, open already. */
export interface ShellParts {
  readonly marks: Marks
  readonly orders: Orders
  readonly files: SessionFiles
  readonly report: Pipe
  readonly state: Pipe
}

export class SessionShell {
  readonly stall = new StallWatch(this)
  readonly marks: Marks
  /** What bash says of the command file alone. */
  readonly ownWords: OwnWords
  readonly ward: Ward
  readonly #services: Services
  readonly #orders: Orders
  readonly #reportPipe: Pipe
  readonly #reports: PipeReader
  readonly streams: SessionStreams
  /** What the shell has written down about itself. */
  readonly dumps: DumpReader
  readonly files: SessionFiles
  readonly #company: Company
  readonly #doom: DoomWatch
  /** The outcome of a call has said that this shell ended. */
  endIsTold = false
  #isBuiltinKnown = false
  /** The command that was given last. */
  #given: CommandLine | null = null
  /** The command during which the shell was asked whether it still has the builtin. */
  #asked: CommandLine | null = null
  readonly #router = new ReportRouter(() => this.#giveFallback())
  #number = 0

  constructor(services: Services, ward: Ward, { marks, orders, files, report, state }: ShellParts) {
    this.#services = services
    this.ward = ward
    this.marks = marks
    this.ownWords = new OwnWords(marks)
    this.streams = new SessionStreams(services, ward)
    this.#orders = orders
    this.#reportPipe = report
    this.dumps = new DumpReader(state, marks, services.scratch)
    this.files = files
    this.#company = new Company(ward, services.launcher.tier === 'native')
    this.#doom = watchDoom(ward.pid)
    this.#reports = readInto(
      report.readEnd(),
      services.scratch,
      createReportReader(services.scratch, marks.seal, (heard) => this.#router.hear(heard)),
    )
    void ward.exited.then(() => {
      // Reports written just before the end are still in the pipe.
      this.#reports.drainNow()
      this.#router.close()
    })
  }

  get pid(): number {
    return this.ward.pid
  }

  get alive(): boolean {
    return this.ward.state.exited === null
  }

  /** The shell is about to end, and the launcher will say so in a moment. */
  get isDoomed(): boolean {
    return this.#doom.isDoomed()
  }

  /**
   * Settles when it is known whether the shell has the builtin. Only the first command of a shell has to wait for it.
   */
  get builtinKnown(): Promise<unknown> | null {
    if (this.#isBuiltinKnown || !this.#services.shellBuiltin) return null
    return within(this.#router.builtinKnown, SETTLE_LIMIT_MS).then(() => (this.#isBuiltinKnown = true))
  }

  /** Whether it has loaded the builtin. */
  get hasBuiltin(): boolean {
    return this.#router.hasBuiltin
  }

  nextNumber(): number {
    return ++this.#number
  }

  type(text: string | Uint8Array): void {
    if (this.alive) this.#orders.type(text)
  }

  /**
   * A command, in the way that was found for it. `whole`: nothing of an earlier one that stands
   * behind it in the file can be reached.
   */
  give(command: CommandLine, whole = true): void {
    if (command.file !== null) this.files.writeCommand(command.file, whole, command.fallback !== null)
    this.#router.fallback = command.fallback
    this.#given = command
    this.type(command.line)
  }

  /** Whether a shell that is gone has not read the first line of what it was given last: nothing of it has happened. */
  neverRead(): boolean {
    return !this.alive && !this.#orders.closed && this.#given !== null && this.#orders.neverRead(this.#given.line)
  }

  /** The builtin has done nothing. */
  #giveFallback(): void {
    const { fallback } = this.#router
    if (!fallback || this.#orders.closed) return
    try {
      this.give(fallback())
    } catch (error) {
      this.#router.fail(error)
    }
  }

  /** A command that is stopped is not begun again in another way. */
  forgetFallback(): void {
    this.#router.fallback = null
  }

  /**
   * A shell that seems to wait for a line and has reported nothing may no longer have the builtin. It may also have
   * begun between two looks: so it is asked. One that answers before it has said anything about the command has done
   * nothing of it, and bash does the command itself. False: it was asked before, or does not look like that.
   */
  askForBuiltin(): boolean {
    const { fallback } = this.#router
    const given = this.#given
    if (!fallback || !given || this.#asked === given || !this.isIdle()) return false
    this.#asked = given
    const number = this.nextNumber()
    void this.heard('R', number).then((heard) => {
      if (!heard || this.#router.fallback !== fallback) return
      this.#router.hasBuiltin = false
      this.#giveFallback()
    })
    this.type(askLine(number, this.marks))
    return true
  }

  /** Resolves when a command that the builtin may decline has been started by it, or given otherwise. */
  async begun(): Promise<void> {
    await this.#until(() => {
      if (!this.#router.fallback) return true
      this.hearNow()
      // The builtin takes the orders away when it begins with a text.
      if (this.#given?.file && !this.isAtPrompt()) return true
      // Until it has become the program it looks like the shell; one that could not is gone,
      // and has only a name in brackets.
      const looks = descendantsOf(this.pid).map(commandLine)
      return looks.some((line) => !line.startsWith('[') && line !== commandLine(this.pid))
    })
  }

  /** Looks every millisecond: no event tells what a shell does between two reports. */
  async #until(isSo: () => boolean): Promise<void> {
    for (const began = performance.now(); this.alive && performance.now() - began < SETTLE_LIMIT_MS;) {
      if (isSo()) return
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }

  /** The report of this kind and number; null when the shell ends first. */
  heard(kind: Report['kind'], number: number): Promise<Report | null> {
    if (!this.alive) return Promise.resolve(null)
    return this.#router.heard(kind, number)
  }

  /** The report of a call's end. */
  answer(): Answer {
    const answer = new Answer()
    this.answerTo(answer)
    return answer
  }

  /** Registers the receiver of the next end report. */
  answerTo(receiver: ReportReceiver): void {
    this.#router.answerTo(receiver)
    if (!this.alive) receiver.give(null)
  }

  /** What the shell has reported by now, without waiting for the next turn of the event loop. */
  hearNow(): void {
    this.#reports.drainNow()
  }

  /** Hands the streams to a new call; a process of an earlier one gets none of them. */
  async attach(sinks: Sinks, moved: boolean): Promise<Attached> {
    const shared = this.#company.isThereStill()
    if (this.streams.used && (shared || moved)) await this.#settled()
    return this.streams.attach(sinks, shared, moved)
  }

  /**
   * Its stdout is a report's for a moment after each answer; only a shell that waits for a line
   * shows what it really is.
   */
  async #settled(): Promise<void> {
    // Without /proc its descriptors cannot be seen.
    if (hasProc) await this.#until(() => this.isIdle())
  }

  /**
   * Whether the shell reads our lines: its stdin is theirs only then, every command that could
   * take its time gets another one.
   */
  isAtPrompt(): boolean {
    return this.#orders.isReadBy(this.pid)
  }

  /**
   * Whether it has read all of them and waits for more: one that has not been given the
   * processor yet is runnable, not asleep.
   */
  isIdle(): boolean {
    // So is one that waits for the engine to read its state: the pipe of the state is full then.
    return this.isAtPrompt() && processFacts(this.pid)?.state === 'S' && !this.dumps.grows()
  }

  /** Whether processes other than the shell were there when the last call ended. */
  get hasOtherProcesses(): boolean {
    return this.#company.wasThere
  }

  /** The call's last bytes have been read; nothing that comes later is the call's. */
  detach(call: { readonly childless: boolean; readonly waits: boolean }): { held: boolean } {
    this.streams.detach()
    return { held: this.#company.note(call) }
  }

  /**
   * Whatever was written before a report that just arrived has been read when this resolves: the kernel tells of all
   * pipes that hold something at once, so what comes before the report is part of the same turn of the event loop.
   */
  async caughtUp(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    this.readUnread()
  }

  /** If this report arrived while another one was being read, its output may be unread: drain now. */
  readUnread(): void {
    if (this.#router.outputMayBeUnread || this.streams.held) this.streams.drain()
  }

  /** The state as last written down by this shell. */
  readState(): ShellState | null {
    this.dumps.readNow()
    return this.knownState
  }

  /** The last state that has been read. */
  get knownState(): ShellState | null {
    return parseState(this.dumps.last?.sections)
  }

  /** The state that a command at work wrote down before its first word: it takes a moment until it has. */
  async stateBefore(number: number): Promise<ShellState | null> {
    await this.#until(() => {
      this.dumps.readNow()
      return this.dumps.last?.mark === before(number)
    })
    return this.readState()
  }

  /** Its command goes on without the session: when that ends, the shell leaves with its status. */
  release(): void {
    if (this.#given?.way === 'native' && this.#asked !== this.#given) this.type(keepStatusLine(this.marks))
    this.type(leaveLine(this.marks))
    this.#closeOwn()
    void this.ward.exited.then(() => this.#closeReports())
  }

  /** Ends the shell and everything it started. */
  async end(graceMs: number, polite: boolean): Promise<void> {
    if (polite && this.alive) {
      this.type('\\builtin exit 0\n')
      await within(this.ward.exited, graceMs)
    }
    // What runs in the background is asked first; the shell itself would not listen to SIGTERM.
    if (!this.ward.state.gone && this.#company.isThere()) {
      for (const pid of processesOf(this.ward)) if (pid !== this.pid) signalProcess(pid, 'SIGTERM')
      this.ward.kill({ signal: this.alive ? 1 : 15, graceMs: COMPANY_GRACE_MS, why: 'close' })
    } else this.ward.kill({ signal: 9, graceMs: 0, why: 'close' })
    await this.ward.gone
    this.dispose()
  }

  /** Closes and removes everything that was opened for the shell, once it is gone. */
  dispose(): void {
    this.#closeOwn()
    this.#closeReports()
    this.streams.close()
    this.files.remove()
  }

  /** Once: a moment later the same numbers may be other files' descriptors. */
  #closeOwn(): void {
    if (this.#orders.closed) return
    this.stall.stop()
    this.#orders.close()
    this.files.close()
    this.#company.close()
    this.#doom.close()
  }

  #closeReports(): void {
    this.#reports.close()
    this.#reportPipe.release()
    this.dumps.close()
  }
}
