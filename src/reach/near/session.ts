/** A session elsewhere as its caller holds it: it outlives its link, and says so when its engine did not. */
import type { RunHandle, Session, SessionInfo } from '../../contract/engine.js'
import { ShellError } from '../../contract/errors.js'
import type { Note } from '../../contract/note.js'
import type { Outcome } from '../../contract/outcome.js'
import type { RunRequest } from '../../contract/request.js'
import type { KnownSessions } from '../records.js'
import { elsewhereText } from './texts.js'

/** What a session asks of the near engine. */
export interface SessionHost {
  /** The engine that answers now: its number, the directory that it began in, and what a session lost with another. */
  engine(): {
    readonly id: string
    readonly generation: number
    readonly cwd: string | undefined
    readonly goneText: (session: string) => string
  }
  stream(session: NearSession, request: RunRequest): RunHandle
  call<T>(verb: string, args: Record<string, unknown>): Promise<T>
  open(name: string): Promise<Session>
  forget(name: string): void
  /** Of earlier processes: what they had in an engine that is gone is missed too. */
  readonly known: KnownSessions | undefined
}

export class NearSession implements Session {
  readonly #host: SessionHost
  #generation: number
  #news: Note[] = []
  #isClosed = false

  constructor(
    readonly name: string,
    public cwd: string,
    host: SessionHost,
  ) {
    this.#host = host
    const { id, generation } = host.engine()
    this.#generation = generation
    const before = host.known?.engineOf(name) ?? id
    if (before !== id) this.#begin()
    else if (host.known?.isElsewhere(name)) this.#news.push({ code: 'shell-restarted', text: elsewhereText(name) })
    host.known?.note(name, id)
  }

  /** Called for each command: a session of an engine that is gone is a new one, and says so once. */
  use(): void {
    if (this.#isClosed)
      throw new ShellError('SESSION_LOST', `Session ${this.name} is closed`, 'Open a session and try again.')
    const { id, generation, cwd = this.cwd } = this.#host.engine()
    if (this.#generation === generation) return
    this.#generation = generation
    this.cwd = cwd
    this.#begin()
    this.#host.known?.note(this.name, id)
  }

  /** In a new shell, which the next command says. */
  #begin(): void {
    this.#news.push({ code: 'shell-restarted', text: this.#host.engine().goneText(this.name) })
  }

  takeNews(): Note[] {
    // The engine may have been replaced while the call waited for its link.
    if (!this.#isClosed) this.use()
    return this.#news.splice(0)
  }

  async run(request: RunRequest): Promise<Outcome> {
    return this.#host.stream(this, request).outcome
  }
  stream(request: RunRequest): RunHandle {
    return this.#host.stream(this, request)
  }
  async info(): Promise<SessionInfo> {
    return this.#host.call('session.info', { session: this.name })
  }
  async restart(): Promise<void> {
    await this.#host.call('session.restart', { session: this.name })
    this.cwd = (await this.info()).cwd
  }
  async fork(name: string): Promise<Session> {
    this.use()
    await this.#host.call('session.fork', { session: this.name, options: { name } })
    return this.#host.open(name)
  }
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#host.forget(this.name)
    await this.#host.call('session.close', { session: this.name })
    this.#host.known?.note(this.name, null)
  }
}
