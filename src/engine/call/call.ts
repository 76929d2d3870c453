/**
 * A foreground call as its caller sees it: the output so far, the promise of an Outcome, and
 * the means to stop it or let it go on alone.
 */
import { maskedNotes, type Note } from '../../contract/note.js'
import type { RunHandle } from '../../contract/engine.js'
import type { Outcome } from '../../contract/outcome.js'
import type { ByteChunk, OutputChunk, StreamName, Taken } from '../../contract/output.js'
import type { RunRequest } from '../../contract/request.js'
import type { Held } from '../../os/files/pipe-reader.js'
import { Capture } from './capture.js'
import { ChunkQueue } from './chunk-queue.js'
import type { Plan } from '../plan/plan.js'
import type { LiveCall, LiveCalls } from '../services/live-calls.js'
import { withDrops } from '../services/outcomes.js'
import type { Services } from '../services/services.js'
import { attempt } from '../../contract/attempt.js'

/** How a call steers the run behind it. */
export interface CallControl {
  interrupt(): void
  kill(by: 'caller' | 'close'): void
  toBackground(): Promise<Outcome>
  /**
   * The reader of this stream is gone: the command's next write to it fails. Where that cannot
   * be, the command is killed.
   */
  closeOutput?(stream: StreamName): void
  /** The rest of stdout may go into this pipe by itself; `takeBack` ends that. */
  passOn?(path: string): void
  takeBack?(): void
}

const NO_CAPTURES: readonly Capture[] = []
const NO_STREAMS: readonly StreamName[] = []

export class Call implements RunHandle, LiveCall {
  readonly outcome: Promise<Outcome>
  readonly startedAt = performance.now()
  readonly at = Date.now()
  readonly request: RunRequest
  readonly session: string | null
  captures: readonly Capture[] = NO_CAPTURES
  readonly #calls: LiveCalls
  #followers: Set<(chunk: OutputChunk) => void> | null = null
  pid: number | null = null
  control: CallControl | null = null
  #pendingStop: 'interrupt' | 'kill' | null = null
  /** Streams whose reader takes no more. */
  #unwanted = NO_STREAMS
  /** For the iterator, from when it is asked for. */
  #chunks: ChunkQueue | null = null
  readonly #secrets: { mask(text: string): string }
  settled = false
  #resolve!: (outcome: Outcome) => void
  #reject!: (error: unknown) => void

  /** `secrets`: notes name processes with their words, and files, where a value may stand. */
  constructor(
    request: RunRequest,
    session: string | null,
    { calls, secrets }: { readonly calls: LiveCalls; readonly secrets: { mask(text: string): string } },
  ) {
    this.#secrets = secrets
    this.request = request
    this.session = session
    this.#calls = calls
    this.outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    calls.began(this)
  }

  /** The engine reads the output from now on, also where the warden passed it on by itself. */
  follow(listener: (chunk: OutputChunk) => void): () => void {
    this.control?.takeBack?.()
    const followers = (this.#followers ??= new Set())
    followers.add(listener)
    return () => void followers.delete(listener)
  }

  /** In milliseconds. */
  get age(): number {
    return Math.round(performance.now() - this.startedAt)
  }

  /** The last word on the outcome: what a sandbox has to say about it. */
  adorn: ((outcome: Outcome) => Outcome) | null = null

  /** To be said with the outcome, whatever it is. */
  readonly notes: Note[] = []

  settle(outcome: Outcome): void {
    if (this.settled) return
    this.settled = true
    const told = this.notes.length === 0 ? outcome : { ...outcome, notes: [...this.notes, ...outcome.notes] }
    const adorned = this.adorn ? this.adorn(told) : told
    const whole = this.#chunks?.dropped ? withDrops(adorned, this.#chunks.dropped) : adorned
    const cwd = this.#secrets.mask(whole.cwd)
    const last =
      whole.notes.length === 0 && cwd === whole.cwd
        ? whole
        : { ...whole, cwd, notes: maskedNotes(whole.notes, this.#secrets) }
    this.#calls.ended(this, last)
    this.#resolve(last)
    this.#chunks?.end()
  }

  fail(error: unknown): void {
    if (this.settled) return
    this.settled = true
    this.#calls.ended(this, null)
    // A caller may read the chunks alone: a rejected outcome that is never awaited must not end its process.
    this.outcome.catch(() => {})
    this.#reject(error)
    this.#chunks?.end()
  }

  /** Before it has begun. */
  get isCalledOff(): boolean {
    return this.#pendingStop === 'kill' || this.request?.signal?.aborted === true
  }

  interrupt(): void {
    if (this.control) this.control.interrupt()
    else this.#pendingStop ??= 'interrupt'
  }

  kill(): void {
    if (this.control) this.control.kill('caller')
    else this.#pendingStop = 'kill'
  }

  async toBackground(): Promise<Outcome> {
    while (!this.control && !this.settled) await new Promise((resolve) => setTimeout(resolve, 1))
    return this.settled || !this.control ? this.outcome : this.control.toBackground()
  }

  /**
   * The run has started: from here on it can be stopped, and it is stopped now when that was asked before the start.
   */
  takeControl(control: CallControl): void {
    this.control = control
    if (this.#pendingStop === 'kill') control.kill('caller')
    else if (this.#pendingStop === 'interrupt') control.interrupt()
    for (const stream of this.#unwanted) this.#closeOutput(stream, control)
  }

  #closeOutput(stream: StreamName, control: CallControl): void {
    if (control.closeOutput) control.closeOutput(stream)
    else control.kill('caller')
  }

  capture(stream: StreamName, plan: Plan, services: Services): Capture {
    const { request } = plan
    const capture = new Capture({
      stream,
      masker: services.secrets.activeMasker,
      ansi: request.ansi ?? 'keep',
      progress: request.progress ?? 'keep',
      binary: request.binary ?? 'keep',
      onOutput: (chunk) => this.#show(chunk, request.onOutput),
      onBytes: request.onBytes ? (bytes, offset) => this.#take(request, { stream, bytes, offset }) : null,
      live: () => this.#chunks?.isRead || request.onOutput !== undefined || this.#isFollowed,
      memoryBytes: services.limits.memoryBytes,
      clip: plan.clip.kind,
      // A caller that was given every byte needs no file, unless the run may become a job.
      openSpill: request.onBytes && !mayBecomeJob(request) ? null : () => services.openSpill(stream),
      spillAfterBytes: spillAfter(plan, services),
    })
    this.captures = this.captures === NO_CAPTURES ? [capture] : [...this.captures, capture]
    return capture
  }

  get #isFollowed(): boolean {
    return this.#followers !== null && this.#followers.size > 0
  }

  #take({ onBytes }: RunRequest, chunk: ByteChunk): Held {
    if (!onBytes || this.#unwanted.includes(chunk.stream)) return
    const heard = (answer: Taken): void => {
      if (answer === 'closed') this.readerLeft(chunk.stream)
      else if (answer && chunk.stream !== 'stderr') this.control?.passOn?.(answer.into)
    }
    try {
      const answer = onBytes(chunk)
      if (answer instanceof Promise) return answer.then(heard, () => {})
      heard(answer)
    } catch {
      // A listener's mistake must not end the command it listens to.
    }
  }

  /** Nothing more of this stream is wanted. */
  readerLeft(stream: StreamName): void {
    if (this.#unwanted.includes(stream)) return
    this.#unwanted = [...this.#unwanted, stream]
    if (this.control) this.#closeOutput(stream, this.control)
  }

  #show(chunk: OutputChunk, listener: ((chunk: OutputChunk) => void) | undefined): void {
    this.#chunks?.put(chunk)
    if (this.#followers) for (const follow of this.#followers) follow(chunk)
    if (!listener) return
    // A listener's mistake must not end the command it listens to.
    attempt(() => listener(chunk))
  }

  [Symbol.asyncIterator](): AsyncIterator<OutputChunk> {
    this.#chunks ??= new ChunkQueue(this.settled)
    this.control?.takeBack?.()
    return this.#chunks.read()
  }
}

function mayBecomeJob({ yieldMs, onTimeout }: RunRequest): boolean {
  return yieldMs !== undefined || onTimeout === 'background'
}

/** Beyond this many bytes the Outcome cannot show everything, so the whole goes to a file. */
function spillAfter(plan: Plan, services: Services): number {
  const { clip } = plan
  if (clip.kind === 'none') return services.limits.memoryBytes
  return clip.kind === 'middle' ? clip.maxBytes : clip.maxChars
}
