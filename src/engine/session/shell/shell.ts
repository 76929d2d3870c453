/**
 * One live bash of a session: started once, given lines, heard through reports. It knows
 * nothing of queues, timeouts or outcomes.
 */
import { randomBytes } from 'node:crypto'
import { fstatSync, readSync, writeSync } from 'node:fs'
import type { Pipe, Ward } from '../../../os/helper/launcher.js'
import { closeQuietly } from '../../../os/files/quietly.js'
import { readInto, type PipeReader } from '../../../os/files/pipe-reader.js'
import { watchChildren, watchDoom, type ChildrenWatch, type DoomWatch } from '../../../os/process/children.js'
import { processesOf } from '../../../os/helper/processes.js'
import { hasProc, commandLine, descendantsOf, processFacts, signalProcess } from '../../../os/process/proc.js'
import { takePipe } from '../../services/pipes.js'
import { within } from '../../services/within.js'
import type { Services } from '../../services/services.js'
import { Answer, ReportRouter, type ReportReceiver } from './router.js'
import { SessionFiles, writeFirstFiles } from './files.js'
import { askLine, dumpLine, keepStatusLine, leaveLine, restoreLines, setUpLines, type Marks } from './lines.js'
import { OwnWords } from './own-words.js'
import type { CommandLine } from './way.js'
import { createReportReader, type Report } from './report.js'
import { StallWatch } from './stall.js'
import { fileName, openFile, SessionStreams, type Attached, type Sinks } from './streams.js'
import { bindingPayload } from '../../../secrets/deliver/binding.js'
import { feedPipe } from '../../../os/files/feed.js'
import { before, DumpReader } from './dump.js'
import { restoreCode, type Present } from './restore.js'
import { parseState, type ShellState } from './state.js'

/** What is still running when the session closes gets this long to end by itself. */
const COMPANY_GRACE_MS = 1_000
const SETTLE_LIMIT_MS = 1_000
/** An idle shell that takes longer than this for a line of the session's own is broken. */
const ANSWER_LIMIT_MS = 10_000
const NEWLINE = 0x0a

export class SessionShell {
  readonly stall = new StallWatch(this)
  readonly marks: Marks
  /** What bash says of the command file alone. */
  readonly ownWords: OwnWords
  readonly ward: Ward
  readonly #services: Services
  readonly #orders: number
  readonly #ordersFile: string
  readonly #reportPipe: Pipe
  readonly #reports: PipeReader
  readonly streams: SessionStreams
  /** What the shell has written down about itself. */
  readonly dumps: DumpReader
  readonly files: SessionFiles
  readonly #children: readonly ChildrenWatch[]
  readonly #doom: DoomWatch
  /** A call has said that it ended. */
  endIsTold = false
  /** Whether something that was started by an earlier call may still be there. */
  #hasOtherProcesses = false
  #isBuiltinKnown = false
  /** The command that was given last. */
  #given: CommandLine | null = null
  /** It was asked whether it has the builtin while it had this one. */
  #asked: CommandLine | null = null
  readonly #unread: number
  readonly #router = new ReportRouter(() => this.#giveFallback())
  #number = 0
  #closed = false

  private constructor(
    services: Services,
    ward: Ward,
    marks: Marks,
    orders: { readonly typed: number; readonly unread: number },
    report: Pipe,
    state: Pipe,
  ) {
    this.#services = services
    this.ward = ward
    this.marks = marks
    this.ownWords = new OwnWords(marks)
    this.streams = new SessionStreams(services, ward)
    this.#orders = orders.typed
    this.#unread = orders.unread
    this.#ordersFile = fileName(fstatSync(this.#orders))
    this.#reportPipe = report
    this.dumps = new DumpReader(state, marks, services.scratch)
    this.files = new SessionFiles(services, marks)
    // The warden adopts what the shell's children leave behind; in a room its init does.
    this.#children = [
      watchChildren(ward.pid),
      watchChildren(ward.initPid ?? (ward.mark === null ? ward.wardenPid : ward.pid)),
    ]
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

  static async start(services: Services, env: Readonly<Record<string, string>>, cwd: string): Promise<SessionShell> {
    const orders = await takePipe(services)
    const report = await takePipe(services)
    const state = await takePipe(services)
    const marks: Marks = {
      nonce: randomBytes(12).toString('hex'),
      seal: randomBytes(12).toString('hex'),
      farewell: randomBytes(12).toString('hex'),
      report: report.writePath,
      state: state.writePath,
      files: services.runFile('s'),
    }
    writeFirstFiles(marks)
    // Our own reading end shows what a shell that died had not read.
    const ends = { typed: orders.writeEnd(), unread: orders.readEnd() }
    let ward: Ward
    try {
      ward = await services.launcher.start({
        path: services.bash.path,
        argv: ['bash', '--norc', '--noprofile', '--noediting', '-i'],
        env: { ...env, CERITH_ENGINE: services.id },
        cwd,
        stdin: orders,
        oomScore: 300,
      })
    } catch (error) {
      closeQuietly(ends.typed)
      closeQuietly(ends.unread)
      report.release()
      state.release()
      throw error
    }
    const shell = new SessionShell(services, ward, marks, ends, report, state)
    shell.type(setUpLines(marks, services.shellBuiltin, `/proc/${process.pid}/fd/${ends.unread}`))
    return shell
  }

  get pid(): number {
    return this.ward.pid
  }

  get alive(): boolean {
    return this.ward.state.exited === null
  }

  /** It is about to end, and the launcher will say so in a moment. */
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

  /** Lines are short (commands travel by file), so a pipe always takes them at once. */
  type(text: string | Uint8Array): void {
    // Once it is closed, its number may belong to another open file.
    if (!this.alive || this.#closed) return
    try {
      // Two calls, each of one kind: the types have one for each.
      if (typeof text === 'string') writeSync(this.#orders, text)
      else writeSync(this.#orders, text)
    } catch {
      // It just died; its exit tells the rest.
    }
  }

  /**
   * A command, in the way that was found for it. `whole`: nothing of an earlier one that stands
   * behind it in the file can be reached.
   */
  give(command: CommandLine, whole = true): void {
    if (command.file !== null) this.files.writeCommand(command.file, whole)
    this.#router.fallback = command.fallback
    this.#given = command
    this.type(command.line)
  }

  /** Whether a shell that is gone has not read the first line of what it was given last: nothing of it has happened. */
  neverRead(): boolean {
    if (this.alive || this.#closed || !this.#given) return false
    const { line } = this.#given
    // A question may stand behind it: what is left unread is compared, not counted.
    const left = Buffer.alloc(line.length + 1)
    try {
      const length = readSync(this.#unread, left, 0, left.length, null)
      return left.subarray(0, length).includes(Buffer.from(line.subarray(line.indexOf(NEWLINE))))
    } catch {
      return false // Empty: bash has read it.
    }
  }

  /** The builtin has done nothing. */
  #giveFallback(): void {
    const { fallback } = this.#router
    if (!fallback || this.#closed) return
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
    for (
      const began = performance.now();
      this.#router.fallback && this.alive && performance.now() - began < SETTLE_LIMIT_MS;
    ) {
      this.hearNow()
      // The builtin takes the orders away when it begins with a text.
      if (this.#given?.file && !this.isAtPrompt()) return
      // Until it has become the program it looks like the shell; one that could not is gone,
      // and has only a name in brackets.
      const looks = descendantsOf(this.pid).map(commandLine)
      if (looks.some((line) => !line.startsWith('[') && line !== commandLine(this.pid))) return
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
    const shared = this.#mayShare()
    if (this.streams.used && (shared || moved)) await this.#settled()
    return this.streams.attach(sinks, shared, moved)
  }

  /**
   * Its stdout is a report's for a moment after each answer; only a shell that waits for a line
   * shows what it really is.
   */
  async #settled(): Promise<void> {
    // Without /proc its descriptors cannot be seen.
    if (!hasProc) return
    for (const began = performance.now(); !this.isIdle() && this.alive && performance.now() - began < SETTLE_LIMIT_MS;)
      await new Promise((resolve) => setTimeout(resolve, 1))
  }

  /**
   * Whether the shell reads our lines: its stdin is theirs only then, every command that could
   * take its time gets another one.
   */
  isAtPrompt(): boolean {
    const now = openFile(this.pid, 0)
    return now !== undefined && now === this.#ordersFile
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
    return this.#hasOtherProcesses || this.#services.launcher.tier !== 'native'
  }

  #hasCompany(): boolean {
    return (this.#children[0]?.count() ?? 0) > 0 || this.#wardenHasCompany()
  }

  #wardenHasCompany(): boolean {
    // The shell itself is a child of the warden, and none of the init.
    return (this.#children[1]?.count() ?? 0) > (this.ward.initPid === null ? 1 : 0)
  }

  #mayShare(): boolean {
    if (this.#services.launcher.tier !== 'native') return true
    return this.#hasOtherProcesses && (this.#hasOtherProcesses = this.#hasCompany())
  }

  /** The call's last bytes have been read; nothing that comes later is the call's. */
  detach({ childless, waits }: { readonly childless: boolean; readonly waits: boolean }): { held: boolean } {
    this.streams.detach()
    // No other processes before and none started: none now. Of those that bash has waited for,
    // only the warden can have got any.
    this.#hasOtherProcesses = this.#hasOtherProcesses
      ? this.#hasCompany()
      : !childless && (waits ? this.#wardenHasCompany() : this.#hasCompany())
    return { held: this.#hasOtherProcesses }
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

  /** False when the shell did not answer in time, or is gone. */
  async dump(): Promise<boolean> {
    this.files.ensure()
    const done = this.heard('D', 0)
    this.type(dumpLine(this.marks))
    return this.#inTime(done)
  }

  async #inTime(done: Promise<Report | null>): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<null>((resolve) => (timer = setTimeout(() => resolve(null), ANSWER_LIMIT_MS)))
    const heard = await Promise.race([done, late])
    clearTimeout(timer)
    if (heard === null && this.alive) {
      // It is idle and still does not answer: it never will.
      this.ward.kill({ signal: 9, graceMs: 0, why: 'close' })
      await this.ward.exited
    }
    return heard !== null
  }

  /** The state as last written down by this shell. */
  readState(): ShellState | null {
    this.dumps.readNow()
    return this.knownState
  }

  /** The one that has been read. */
  get knownState(): ShellState | null {
    return parseState(this.dumps.last?.sections)
  }

  /** The state that a command at work wrote down before its first word: it takes a moment until it has. */
  async stateBefore(number: number): Promise<ShellState | null> {
    for (const began = performance.now(); this.alive && performance.now() - began < SETTLE_LIMIT_MS;) {
      this.dumps.readNow()
      if (this.dumps.last?.mark === before(number)) break
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    return this.readState()
  }

  /** What the shell has then; null when it did not answer. */
  restore(state: ShellState, present: Present): Promise<ShellState | null> {
    return this.take(restoreCode(state, present))
  }

  /**
   * Runs the engine's own code (latin1) that changes what the shell holds; gives the state
   * afterwards, or null when it did not answer.
   */
  async take(text: string): Promise<ShellState | null> {
    this.files.ensure()
    const code = Buffer.from(text, 'latin1')
    const pipe = await takePipe(this.#services)
    const number = this.nextNumber()
    const done = this.heard('R', number)
    void feedPipe(pipe.writeEnd(), bindingPayload([{ variable: '', value: code }]))
    this.type(restoreLines(number, this.marks, code, pipe.readPath))
    try {
      return (await this.#inTime(done)) ? this.readState() : null
    } finally {
      pipe.release()
    }
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
    if (!this.ward.state.gone && this.#hasCompany()) {
      for (const pid of processesOf(this.ward)) if (pid !== this.pid) signalProcess(pid, 'SIGTERM')
      if (this.alive) this.ward.kill({ signal: 1, graceMs: COMPANY_GRACE_MS, why: 'close' })
      else this.ward.kill({ signal: 15, graceMs: COMPANY_GRACE_MS, why: 'close' })
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
    if (this.#closed) return
    this.#closed = true
    this.stall.stop()
    closeQuietly(this.#orders)
    closeQuietly(this.#unread)
    this.files.close()
    for (const watch of [...this.#children, this.#doom]) watch.close()
  }

  #closeReports(): void {
    this.#reports.close()
    this.#reportPipe.release()
    this.dumps.close()
  }
}
