/** The engine as a dialect's tools use it: policies filled in, sessions found, one read cursor per job. */
import type { Note } from '../contract/note.js'
import type { Engine, Session } from '../contract/engine.js'
import { badRequest, ShellError } from '../contract/errors.js'
import type { Job, JobInfo, KillResult, SendOptions, WaitResult } from '../contract/job.js'
import type { Outcome } from '../contract/outcome.js'
import type { StartRequest } from '../contract/request.js'
import { jobIds } from './job-ids.js'
import { JobReader } from './reading/cursors.js'
import { Looks, type Look } from './reading/looking.js'
import { otherOwner } from './reading/owners.js'
import type { Policy, Timeouts } from './dialect.js'
import type { ToolOptions } from './options.js'
import { shortened } from './reading/shortened.js'
import { positionAfter, readJob, type OutputShape, type Reading, type ReadRequest } from './reading/read.js'
import { clipFor, commandText, runRequest, type ToolRequest } from './run-request.js'
import { inWordsOf } from './texts.js'
import type { CallOptions } from './tool.js'

/** What a wait is for; the end of the job always ends it. */
export interface WaitRequest {
  readonly until?: string
  readonly port?: number
  readonly waitMs: number
  readonly signal?: AbortSignal
}

/** A read of what is new. `signal`: of the call that it is for. */
type NewRequest = ReadRequest & { readonly since?: number; readonly signal?: AbortSignal }

/** A finished (or yielded, or refused) foreground command, with what a reader should know besides. */
export interface Ran {
  readonly command: string
  readonly outcome: Outcome
  /**
   * Exit 1 of a program that answers "no" with it (grep found nothing): news, not a failure.
   * The notes say what it means.
   */
  readonly answeredNo: boolean
  /** The session is in another directory than before. */
  readonly moved: boolean
  readonly description: string | null
  readonly timeoutMs: number | null
}

/** A job that was started, or the Outcome that says why nothing was. */
export type Started =
  | { readonly kind: 'started'; readonly job: Job; readonly info: JobInfo }
  | { readonly kind: 'not'; readonly ran: Ran }

export class Toolbox {
  readonly #readers = new Map<string, JobReader>()
  readonly #placed = new Map<string, Promise<void>>()
  readonly #looks = new Looks()
  readonly #warned = new Set<string>()
  readonly #idMaker: ReturnType<typeof jobIds>
  readonly timeouts: Timeouts
  /** How output is made into text. */
  readonly shape: OutputShape

  constructor(
    readonly engine: Engine,
    readonly policy: Policy,
    readonly options: ToolOptions,
  ) {
    this.#idMaker = jobIds(engine, policy.newId)
    this.timeouts = { ...policy.timeouts, ...options.timeouts }
    this.shape = {
      ansi: options.ansi ?? policy.ansi,
      progress: options.progress ?? policy.progress,
      binary: options.binary ?? policy.binary,
    }
  }

  get cwd(): string {
    return this.options.cwd ?? this.engine.cwd
  }

  get graceMs(): number {
    return this.options.graceMs ?? this.policy.graceMs
  }

  async foreground(asked: ToolRequest, call: CallOptions): Promise<Ran> {
    const { yieldMs } = this.options
    const { onProgress } = call
    const request = runRequest(asked, call, this, {
      streams: this.policy.streams,
      timeoutMs: asked.timeoutMs === undefined ? this.timeouts.defaultMs : asked.timeoutMs,
      clip: clipFor(this.policy.clip, call.maxChars),
      onOutput: onProgress && ((chunk) => onProgress(chunk.text)),
      yieldMs,
      newId: yieldMs === undefined ? undefined : await this.#idMaker(),
      outside: this.engine.sandbox ? call.outside : undefined,
    })
    const session = this.policy.state === 'session' ? await this.session(call, asked.session) : null
    let cwdBefore = ''
    const { result: outcome, back } = await this.#within(session, asked, () => {
      cwdBefore = session?.cwd ?? ''
      return session ? session.run(request) : this.engine.run(request)
    })
    const screen = outcome.status === 'running' && outcome.id !== null ? await this.#wasShown(outcome) : null
    const moved = session !== null && outcome.cwd !== '' && outcome.cwd !== this.engine.secrets.mask(cwdBefore)
    const news: readonly Note[] = moved ? [...back, { code: 'directory', text: `cwd is now ${outcome.cwd}` }] : back
    // Every dialect says in its own words that a command goes on or asks, and names its own tools for it.
    const said = outcome.notes.filter(({ code }) => code !== 'goes-on' && code !== 'waits-for-input').map(this.#inWords)
    const isSame = news.length === 0 && outcome.notes.length === 0
    const told = isSame ? outcome : { ...outcome, notes: [...news, ...said] }
    return {
      command: request.command as string,
      outcome: shortened(screen === null ? told : { ...told, output: screen }, call.maxFailedChars),
      moved,
      answeredNo: outcome.exitCode === 1 && outcome.notes.some(({ code }) => code === 'answered-no'),
      description: asked.description ?? null,
      timeoutMs: request.timeoutMs ?? null,
    }
  }

  async background(asked: ToolRequest, call: CallOptions): Promise<Started> {
    if (this.options.background === false)
      throw badRequest(
        'Background commands are not allowed here.',
        'Run it in the foreground, with a timeout that is long enough.',
      )
    if (this.engine.sandbox && call.outside !== undefined)
      throw badRequest(
        'A command outside the sandbox cannot go to the background: everything in the sandbox stands still ' +
          'until it has ended.',
        'Run it in the foreground.',
      )
    const session = this.policy.state === 'session' ? await this.session(call, asked.session) : null
    const request: StartRequest = {
      ...runRequest(asked, call, this, {
        streams: this.policy.jobStreams,
        timeoutMs: asked.timeoutMs,
        newId: await this.#idMaker(),
      }),
      owner: this.policy.owner,
      session: session?.name,
    }
    const { result: begun } = await this.#within(session, asked, () => this.engine.begin(request))
    if ('job' in begun) return { kind: 'started', job: begun.job, info: await begun.job.info() }
    const { description = null, timeoutMs = null } = asked
    const command = commandText(asked.command)
    const { outcome } = begun
    return { kind: 'not', ran: { command, outcome, answeredNo: false, moved: false, description, timeoutMs } }
  }

  /**
   * A session of the host's engine, moved to the host's directory the first time these tools
   * use it. `main` is what a caller's own session is called in every text, so a call that names
   * it means its own, also where the first connection has the session of that name.
   */
  async session(call: Pick<CallOptions, 'session'>, named?: string): Promise<Session> {
    const usual = this.options.session ?? 'main'
    const name = named === undefined || named === usual ? (call.session ?? usual) : named
    const session = await this.engine.session(name)
    const { cwd } = this.options
    if (cwd === undefined) return session
    const placed = this.#placed.get(name) ?? place(session, cwd)
    this.#placed.set(name, placed)
    // A directory that is not there yet may be there at the next call.
    placed.catch(() => this.#placed.delete(name))
    await placed
    return session
  }

  async job(id: string): Promise<Job> {
    try {
      return await this.engine.job(id)
    } catch (error) {
      if (!ShellError.is(error) || error.code !== 'JOB_NOT_FOUND') throw error
      throw notFound(id, await this.engine.jobs({ all: true }))
    }
  }

  /** New output since the last read of this job through these tools; any range with `since`. */
  async read(id: string, { signal, ...asked }: NewRequest = {}): Promise<Reading> {
    const job = await this.job(id)
    const reader = this.#reader(job.id)
    return reader.inTurn(async () => {
      const from = asked.since === undefined ? reader.last : reader.positionOf(asked.since)
      const reading = await readJob(job, from, { ...this.shape, ...asked })
      // What a caller that has given up does not see is new at the next call.
      if (!signal?.aborted) reader.note(reading.position)
      return this.#told(reading)
    })
  }

  /** The same, with what its processes and its screen say. */
  async look(id: string, asked: NewRequest = {}): Promise<{ readonly reading: Reading; readonly look: Look }> {
    const reading = await this.read(id, asked)
    return { reading, look: await this.#looks.at(await this.job(id), reading.info) }
  }

  /** Everything that is kept, whatever was read before. */
  async readAll(id: string, asked: ReadRequest = {}): Promise<Reading> {
    return this.#told(await readJob(await this.job(id), {}, { ...this.shape, ...asked }))
  }

  readonly #inWords = (note: Note): Note => inWordsOf(this.policy.terminal, note)

  #told(reading: Reading): Reading {
    const { info } = reading
    return info.notes.length === 0 ? reading : { ...reading, info: { ...info, notes: info.notes.map(this.#inWords) } }
  }

  /**
   * A job of another server or connection is ended when asked for twice: the model may not know that it is another's.
   */
  async kill(id: string, call: CallOptions): Promise<KillResult> {
    const job = await this.job(id)
    const info = await job.info()
    const owner = otherOwner(info, this.engine.id, call.labels)
    if (owner !== null && info.isRunning && !this.#warned.has(job.id)) {
      this.#warned.add(job.id)
      throw new ShellError(
        'REFUSED',
        `${job.id} was started by ${owner}, not by you: ${info.command.slice(0, 80)}`,
        'Leave it alone, or repeat the same call to end it all the same.',
      )
    }
    return job.kill({ graceMs: this.graceMs, by: call.client ?? 'a tool call' })
  }

  /** Waits for the end, or for a line that was not read yet. Never ends anything. */
  async wait(id: string, asked: WaitRequest): Promise<WaitResult> {
    const job = await this.job(id)
    const { waitMs, ...rest } = asked
    const { output, stdout, stderr } = this.#readers.get(job.id)?.last ?? {}
    return job.wait({
      exit: true,
      ...rest,
      since: output ?? stdout ?? 0,
      sinceStderr: stderr ?? 0,
      timeoutMs: this.patience(Math.max(0, waitMs)),
    })
  }

  /** Waits for the first of several jobs that ends, prints such a line or opens the port. */
  async waitForAny(
    ids: readonly string[],
    asked: WaitRequest,
  ): Promise<{ readonly id: string; readonly waited: WaitResult }> {
    const [only] = ids
    if (ids.length === 1 && only !== undefined) return { id: only, waited: await this.wait(only, asked) }
    const others = new AbortController()
    const signal = asked.signal ? AbortSignal.any([asked.signal, others.signal]) : others.signal
    try {
      return await Promise.race(ids.map(async (id) => ({ id, waited: await this.wait(id, { ...asked, signal }) })))
    } finally {
      others.abort()
    }
  }

  /** Types into a job and gives it a moment to react. */
  async send(id: string, input: SendOptions): Promise<void> {
    const job = await this.job(id)
    await job.send(input)
    await job.wait({ exit: true, idleMs: 150, timeoutMs: this.patience(2_000) })
  }

  /** How long a tool may block: no longer than the host's own patience. */
  patience(wantedMs: number): number {
    return Math.min(wantedMs, this.options.yieldMs ?? Number.POSITIVE_INFINITY, this.timeouts.maxMs)
  }

  /**
   * A command may leave its session where no command may begin (`cd /` under `roots`).
   * Everything after it would be refused, the `cd` back too, and few dialects have a field for
   * a directory: so the session is brought back, and the call made again.
   */
  async #within<T>(
    session: Session | null,
    asked: ToolRequest,
    run: () => Promise<T>,
  ): Promise<{ readonly result: T; readonly back: readonly Note[] }> {
    try {
      return { result: await run(), back: [] }
    } catch (error) {
      if (!session || asked.cwd !== undefined || !ShellError.is(error) || error.code !== 'CWD_OUTSIDE_ROOT') throw error
      const outside = session.cwd
      await session.run({ command: ':', cwd: this.cwd })
      const text = `cwd is back in ${this.cwd}: ${outside} is outside the allowed roots`
      return { result: await run(), back: [{ code: 'directory', text }] }
    }
  }

  #reader(id: string): JobReader {
    const reader = this.#readers.get(id) ?? new JobReader()
    this.#readers.set(id, reader)
    return reader
  }

  /**
   * A foreground command that goes on as a job: what its answer showed is not new any more.
   * Returns the screen of a full-screen program.
   */
  async #wasShown(outcome: Outcome): Promise<string | null> {
    const job = await this.engine.job(outcome.id!)
    this.#reader(job.id).note(await positionAfter(job, outcome, this.shape))
    return (await job.info()).pty ? this.#looks.screen(job) : null
  }
}

async function place(session: Session, cwd: string): Promise<void> {
  const { calls } = await session.info()
  if (calls > 0 || session.cwd === cwd) return
  const moved = await session.run({ command: ['cd', '--', cwd] })
  if (moved.status !== 'completed')
    throw new ShellError(
      'CWD_NOT_FOUND',
      `Working directory not found: ${cwd}`,
      'Create it, or give the tools another cwd.',
    )
}

function notFound(id: string, jobs: readonly JobInfo[]): ShellError {
  const known = jobs.slice(-20).map((info) => `${info.id} (${info.status})`)
  return new ShellError(
    'JOB_NOT_FOUND',
    `Shell not found: ${id.slice(0, 80)}.`,
    known.length > 0 ? `Existing ids: ${known.join(', ')}.` : 'There are no background shells.',
  )
}
