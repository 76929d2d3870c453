/**
 * The singleton face that two of the requirement documents ask for: background shells by id, over one memoised engine.
 */
import { dirname } from 'node:path'
import type { Engine } from '../contract/engine.js'
import { ShellError } from '../contract/errors.js'
import type { Job, JobInfo } from '../contract/job.js'
import type { StartRequest } from '../contract/request.js'
import { removeJobDirectory } from '../os/job/directory.js'
import { createEngine } from './engine.js'
import type { EngineOptions } from './services/options.js'

export type ShellStatus = 'pending' | 'running' | 'completed' | 'failed' | 'timeout' | 'killed'

/** Makes and remembers background shells. They end with `reset`, with `killAll`, and with the process. */
export class ShellManager {
  static #instance: ShellManager | null = null

  /** The one instance; options count only for the call that makes it. */
  static get(options: EngineOptions = {}): ShellManager {
    return (ShellManager.#instance ??= new ShellManager(options))
  }

  /** Kills every shell and forgets the instance: the next `get` makes a fresh one. */
  static async reset(): Promise<void> {
    await ShellManager.#instance?.reset()
  }

  readonly #options: EngineOptions
  readonly #shells = new Map<string, ShellProcess>()
  #engine: Promise<Engine> | null = null

  private constructor(options: EngineOptions) {
    this.#options = options
  }

  async createShell(
    command: string,
    cwd?: string,
    options: Omit<StartRequest, 'command' | 'cwd'> = {},
  ): Promise<ShellProcess> {
    const engine = await (this.#engine ??= this.#open())
    const job = await engine.start({ owner: 'manager', ...options, command, ...(cwd === undefined ? {} : { cwd }) })
    const shell = new ShellProcess(job, await job.info())
    this.#shells.set(shell.id, shell)
    return shell
  }

  getShell(id: string): ShellProcess | null {
    return this.#shells.get(id) ?? null
  }

  listShells(): ShellProcess[] {
    return [...this.#shells.values()]
  }

  listRunning(): ShellProcess[] {
    return this.listShells().filter((shell) => shell.isRunning)
  }

  /** Forgets finished shells and their output; with an age only those that ended longer ago. Gives their number. */
  cleanupCompleted(maxAgeSeconds?: number): number {
    const old = this.listShells().filter(
      (shell) =>
        !shell.isRunning && (maxAgeSeconds === undefined || Date.now() - (shell.endedAt ?? 0) > maxAgeSeconds * 1_000),
    )
    for (const shell of old) {
      this.#shells.delete(shell.id)
      removeJobDirectory(dirname(shell.outputFile))
    }
    return old.length
  }

  /** Ends every running shell with all that it started. Gives their number. */
  async killAll(): Promise<number> {
    const running = this.listRunning()
    const results = await Promise.all(running.map((shell) => shell.kill()))
    return results.filter((alreadyStopped) => !alreadyStopped).length
  }

  async reset(): Promise<void> {
    if (ShellManager.#instance === this) ShellManager.#instance = null
    const engine = this.#engine
    this.#engine = null
    await this.killAll()
    this.cleanupCompleted()
    this.#shells.clear()
    await (await engine)?.close()
  }

  async #open(): Promise<Engine> {
    const engine = await createEngine(this.#options)
    // The end is told by the job's keeper: no poll for a status is needed.
    engine.onJobEvent((event) => {
      if (event.kind === 'ended') setImmediate(() => this.#shells.get(event.info.id)?.update(event.info))
    })
    return engine
  }
}

/** One background shell, with reading positions of its own. */
export class ShellProcess {
  readonly id: string
  readonly command: string
  /** Bytes of each stream that `getNewOutput` has given out. */
  lastReadStdout = 0
  lastReadStderr = 0
  readonly #job: Job
  #info: JobInfo
  #reading: Promise<unknown> = Promise.resolve()

  constructor(job: Job, info: JobInfo) {
    this.id = job.id
    this.command = info.command
    this.#job = job
    // A shell begins as running even when it has ended by the time its maker looks: the end comes as news.
    this.#info = info.isRunning
      ? info
      : { ...info, status: 'running', isRunning: true, end: null, exitCode: null, signal: null, endedAt: null }
    if (!info.isRunning) setImmediate(() => this.update(info))
  }

  /** A state only moves forward. */
  update(info: JobInfo): void {
    if (this.#info.isRunning) this.#info = info
  }

  get status(): ShellStatus {
    return this.#info.status === 'lost' ? 'failed' : this.#info.status
  }

  get isRunning(): boolean {
    return this.#info.isRunning
  }

  get exitCode(): number | null {
    return this.#info.exitCode
  }

  get pid(): number | null {
    return this.#info.pid
  }

  get outputFile(): string {
    return this.#info.outputFile
  }

  get startedAt(): number {
    return this.#info.startedAt
  }

  get endedAt(): number | null {
    return this.#info.endedAt
  }

  get durationMs(): number {
    return Math.max(0, (this.#info.endedAt ?? Date.now()) - this.#info.startedAt)
  }

  /** What came since the last call; with `includeStderr` the new part of stderr follows under a `[stderr]` line. */
  getNewOutput({ includeStderr = false }: { includeStderr?: boolean } = {}): Promise<string> {
    // One at a time: two calls at once must not both get the same bytes.
    const next = this.#reading.then(async () => {
      const apart = this.#info.streams === 'separate'
      const out = await this.#job.read({ since: this.lastReadStdout })
      this.lastReadStdout = out.cursor
      if (!includeStderr || !apart) return out.text
      const err = await this.#job.read({ since: this.lastReadStderr, stream: 'stderr' })
      this.lastReadStderr = err.cursor
      return err.text === ''
        ? out.text
        : `${out.text}${out.text === '' || out.text.endsWith('\n') ? '' : '\n'}[stderr]\n${err.text}`
    })
    this.#reading = next.catch(() => {})
    return next
  }

  /** Waits for the end. A shell that takes longer than `timeoutMs` is ended and its status is `timeout`. */
  async wait(timeoutMs?: number): Promise<ShellStatus> {
    const { reason } = await this.#job.wait({ exit: true, ...(timeoutMs === undefined ? {} : { timeoutMs }) })
    if (reason === 'timeout') await this.#job.kill({ why: 'timeout' })
    this.update(await this.#job.info())
    return this.status
  }

  /** Ends the shell and everything that it started. True when it had ended before. */
  async kill(): Promise<boolean> {
    try {
      const { info, alreadyStopped } = await this.#job.kill()
      this.update(info)
      return alreadyStopped
    } catch (error) {
      if (ShellError.is(error) && error.code === 'JOB_NOT_FOUND') return true
      throw error
    }
  }
}
