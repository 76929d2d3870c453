/** One live bash of a session: started once, given lines, heard through reports. It knows nothing of queues, timeouts or outcomes. */
import { randomBytes } from 'node:crypto'
import { fstatSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Pipe, Ward } from '../os/launcher.js'
import { closeQuietly } from '../os/native-launcher.js'
import { readPipe, type PipeReader } from '../os/pipe-reader.js'
import { childrenOf, hasChildren, linkOf } from '../os/proc.js'
import { takePipe } from './fresh.js'
import type { Services } from './services.js'
import { LEAVE_LINE, dumpLine, restoreLine, setUpLines, type Marks } from './session-lines.js'
import { createReportReader, type Report } from './session-report.js'
import { parseState, restoreCode, type ShellState } from './session-state.js'

/** Where the bytes of the running call go; null between calls. */
export interface Sinks {
  out(chunk: Uint8Array): void
  err(chunk: Uint8Array): void
}

interface Channel {
  readonly reader: PipeReader
  /** `pipe:[123]`, as the kernel names it, to see whether the shell still has it. */
  readonly name: string
  owner: Sinks | null
}

export class SessionShell {
  readonly marks: Marks
  readonly ward: Ward
  readonly commandFile: string
  readonly savedEnvFile: string
  readonly #services: Services
  readonly #orders: number
  readonly #reportPipe: Pipe
  readonly #reports: PipeReader
  /** Null before the first call: what bash itself says at its start goes nowhere. */
  #out: Channel | null = null
  #err: Channel | null = null
  #old: Channel[] = []
  #switched: Pipe[] = []
  #waiters = new Map<string, (report: Report | null) => void>()
  #number = 0

  private constructor(services: Services, ward: Ward, marks: Marks, orders: number, report: Pipe, label: string) {
    this.#services = services
    this.ward = ward
    this.marks = marks
    this.#orders = orders
    this.#reportPipe = report
    this.commandFile = join(services.runDir, `${label}.command`)
    this.savedEnvFile = join(services.runDir, `${label}.env`)
    this.#reports = readPipe(report.readEnd(), services.scratch, createReportReader(marks.nonce, (heard) => this.#hear(heard)))
    void ward.exited.then(() => {
      // Reports written just before the end are still in the pipe.
      this.#reports.drainNow()
      for (const [key, waiter] of this.#waiters) {
        this.#waiters.delete(key)
        waiter(null)
      }
    })
  }

  static async start(services: Services, env: Readonly<Record<string, string>>, cwd: string): Promise<SessionShell> {
    const label = `s${services.nextNumber()}`
    const orders = await takePipe(services)
    const report = await takePipe(services)
    const marks: Marks = { nonce: randomBytes(12).toString('hex'), report: report.writePath, stateFile: join(services.runDir, `${label}.state`) }
    const ordersFd = orders.writeEnd()
    let ward: Ward
    try {
      ward = await services.launcher.start({ path: services.bash.path, argv: ['bash', '--norc', '--noprofile', '--noediting', '-i'], env: { ...env, PS1: '', CERITH_ENGINE: services.id }, cwd, stdin: orders, oomScore: 300 })
    } catch (error) {
      closeQuietly(ordersFd)
      report.release()
      throw error
    }
    const shell = new SessionShell(services, ward, marks, ordersFd, report, label)
    shell.type(`${setUpLines(marks)}\n`)
    return shell
  }

  get pid(): number {
    return this.ward.pid
  }

  get alive(): boolean {
    return this.ward.state.exited === null
  }

  nextNumber(): number {
    return ++this.#number
  }

  /** Lines are short (commands travel by file), so a pipe always takes them at once. */
  type(text: string): void {
    if (!this.alive) return
    try {
      writeSync(this.#orders, text)
    } catch {
      // It just died; its exit tells the rest.
    }
  }

  /** The report of this kind and number; null when the shell ends first. */
  heard(kind: Report['kind'], number: number): Promise<Report | null> {
    if (!this.alive) return Promise.resolve(null)
    return new Promise((resolve) => this.#waiters.set(`${kind}${number}`, resolve))
  }

  forget(kind: Report['kind'], number: number): void {
    this.#waiters.delete(`${kind}${number}`)
  }

  #hear(report: Report): void {
    const key = `${report.kind}${report.number}`
    const waiter = this.#waiters.get(key)
    this.#waiters.delete(key)
    waiter?.(report)
  }

  /**
   * Hands the streams to a new call. When a process of an earlier call may still write into the old pipes, the shell gets new ones,
   * unless the agent pointed its stdout or stderr somewhere else itself.
   */
  async attach(sinks: Sinks): Promise<{ stdout: string | null; stderr: string | null }> {
    if (this.#out && this.#err && !this.#mayShare()) {
      this.#out.owner = sinks
      this.#err.owner = sinks
      return { stdout: null, stderr: null }
    }
    const ours = { out: !this.#out || linkOf(this.pid, 'fd/1') === this.#out.name, err: !this.#err || linkOf(this.pid, 'fd/2') === this.#err.name }
    const renew = async (side: keyof Sinks, old: Channel | null): Promise<{ made: Channel; path: string }> => {
      const pipe = await takePipe(this.#services)
      this.#switched.push(pipe)
      const made = channel(pipe, this.#services, side)
      // Bytes that a process of an earlier call still writes are nobody's result; the reader only keeps it from blocking.
      if (old) {
        old.owner = null
        this.#old.push(old)
      }
      return { made, path: pipe.writePath }
    }
    const out = ours.out ? await renew('out', this.#out) : null
    const err = ours.err ? await renew('err', this.#err) : null
    if (out) this.#out = out.made
    if (err) this.#err = err.made
    if (this.#out) this.#out.owner = sinks
    if (this.#err) this.#err.owner = sinks
    return { stdout: out?.path ?? null, stderr: err?.path ?? null }
  }

  #mayShare(): boolean {
    if (this.#services.launcher.tier !== 'native') return true
    return hasChildren(this.pid) || childrenOf(this.ward.wardenPid).length > 1
  }

  /** The call's last bytes: what is in the pipes now. Nothing that comes later is the call's. */
  detach(): { held: boolean } {
    this.drain()
    if (this.#out) this.#out.owner = null
    if (this.#err) this.#err.owner = null
    this.#old = this.#old.filter(({ reader }) => !reader.ended)
    // The shell has opened the new pipes by now; the launcher need not hold them any longer.
    for (const pipe of this.#switched.splice(0)) pipe.release()
    return { held: hasChildren(this.pid) }
  }

  drain(): void {
    this.#out?.reader.drainNow()
    this.#err?.reader.drainNow()
  }

  get readers(): readonly PipeReader[] {
    return [this.#out, this.#err].flatMap((one) => (one ? [one.reader] : []))
  }

  async dump(): Promise<boolean> {
    const number = this.nextNumber()
    const done = this.heard('D', number)
    this.type(dumpLine(number, this.marks))
    return (await done) !== null
  }

  /** The state as last written down by this shell, if it was written whole. */
  readState(): ShellState | null {
    return parseState(this.readDump())
  }

  readDump(): string {
    try {
      return readFileSync(this.marks.stateFile, 'utf8')
    } catch {
      return ''
    }
  }

  async restore(state: ShellState, initial: readonly string[]): Promise<void> {
    const file = join(this.#services.runDir, `s${this.#services.nextNumber()}.restore`)
    writeFileSync(file, restoreCode(state, initial), { mode: 0o600 })
    const number = this.nextNumber()
    const done = this.heard('R', number)
    this.type(restoreLine(number, file, this.marks))
    await done
  }

  /** Its command goes on without the session: when that ends, the shell leaves with its status. */
  release(): void {
    this.type(LEAVE_LINE)
    closeQuietly(this.#orders)
    void this.ward.exited.then(() => this.#closeReports())
  }

  /** Ends the shell and everything it started. */
  async end(graceMs: number, polite: boolean): Promise<void> {
    if (polite && this.alive) {
      this.type('\\builtin exit 0\n')
      this.ward.kill({ signal: 1, graceMs, why: 'close' })
    } else this.ward.kill({ signal: 9, graceMs: 0, why: 'close' })
    await this.ward.gone
    this.dispose()
  }

  /** Lets go of everything of ours once the shell is gone. */
  dispose(): void {
    closeQuietly(this.#orders)
    this.#closeReports()
    for (const one of [this.#out, this.#err, ...this.#old]) one?.reader.close()
  }

  #closeReports(): void {
    this.#reports.close()
    this.#reportPipe.release()
  }
}

function channel(pipe: Pipe, services: Services, side: keyof Sinks): Channel {
  const fd = pipe.readEnd()
  const made: { reader: PipeReader; name: string; owner: Sinks | null } = { name: `pipe:[${fstatSync(fd).ino}]`, owner: null, reader: null as unknown as PipeReader }
  made.reader = readPipe(fd, services.scratch, (chunk) => made.owner?.[side](chunk))
  return made
}

