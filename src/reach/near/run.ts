/** A foreground call elsewhere as its caller holds it: output as it comes, the outcome, and the means to stop it. */
import { attempt } from '../../contract/attempt.js'
import type { Outcome } from '../../contract/outcome.js'
import type { ByteChunk, OutputChunk, StreamName } from '../../contract/output.js'
import type { RunRequest } from '../../contract/request.js'
import type { LiveCall } from '../../engine/services/live-calls.js'
import type { CallMessage, Gap, StopMessage } from '../messages.js'
import type { CallListener, PendingCall } from './pending-call.js'

/** What the engine does for the call. */
export interface RunStart {
  begin(listener: CallListener, live: CallMessage['live'], isCalledOff: boolean): PendingCall
  order(call: PendingCall, order: Omit<StopMessage, 'id'>): void
  finish(call: PendingCall, gap: number): Promise<Outcome>
}

export class NearRun implements LiveCall {
  readonly pid: number | null = null
  readonly outcome: Promise<Outcome>
  readonly at = Date.now()
  readonly #startedAt = performance.now()
  /** What was printed is at the place, which sends it to the first process that looks. */
  readonly captures = []
  readonly #followers = new Set<(chunk: OutputChunk) => void>()
  readonly #start: RunStart
  readonly #onOutput: RunRequest['onOutput']
  readonly #onBytes: RunRequest['onBytes']
  /** Bytes are handed out one chunk after the other; the outcome comes after the last. */
  #taking: Promise<void> = Promise.resolve()
  #call: PendingCall | null = null
  #early: Omit<StopMessage, 'id'>[] = []
  #iterated = false
  #queue: { chunk: OutputChunk; confirm: () => void }[] = []
  #wake: (() => void) | null = null
  #done = false
  /** What was dropped on the way, by stream; of that, what the reader has not been told yet. */
  readonly #gaps = new Map<StreamName, { bytes: number; untold: number; end: number }>()

  constructor(
    readonly request: RunRequest,
    readonly session: string | null,
    start: RunStart,
  ) {
    this.#start = start
    this.#onOutput = request.onOutput
    this.#onBytes = request.onBytes
    // Begins in a moment: a caller that iterates at once gets every chunk, and one that aborts meanwhile is heard.
    this.outcome = Promise.resolve().then(() => this.#begin())
    const abort = (): void => this.#order({ how: 'abort' })
    request.signal?.addEventListener('abort', abort, { once: true })
    const end = (): void => {
      request.signal?.removeEventListener('abort', abort)
      this.#done = true
      this.#wake?.()
    }
    this.outcome.then(end, end)
  }

  get age(): number {
    return performance.now() - this.#startedAt
  }

  interrupt(): void {
    this.#order({ how: 'interrupt' })
  }

  kill(): void {
    this.#order({ how: 'kill' })
  }

  async toBackground(): Promise<Outcome> {
    const newId = this.request.newId?.()
    this.#order({ how: 'background', ...(newId === undefined ? {} : { newId }) })
    return this.outcome
  }

  follow(listener: (chunk: OutputChunk) => void): () => void {
    this.#look(true)
    this.#followers.add(listener)
    return () => void this.#followers.delete(listener)
  }

  [Symbol.asyncIterator](): AsyncIterator<OutputChunk> {
    this.#look(false)
    this.#iterated = true
    return {
      next: async () => {
        for (;;) {
          const next = this.#queue.shift()
          if (next) {
            next.confirm()
            return { value: next.chunk, done: false }
          }
          if (this.#done) return this.#lastGap()
          await new Promise<void>((resolve) => (this.#wake = resolve))
        }
      },
      return: async () => {
        this.#iterated = false
        for (const { confirm } of this.#queue.splice(0)) confirm()
        return { value: undefined, done: true }
      },
    }
  }

  async #begin(): Promise<Outcome> {
    const call = this.#start.begin(
      { onOutput: (chunk, confirm) => this.#show(chunk, confirm), onGap: (gap) => this.#lost(gap) },
      this.#onBytes ? 'bytes' : this.#iterated || this.#onOutput || this.#followers.size > 0 ? 'text' : undefined,
      // An order behind the call would find it begun.
      this.#early.some(({ how }) => how === 'kill' || how === 'abort'),
    )
    this.#call = call
    for (const order of this.#early.splice(0)) this.#start.order(call, order)
    await call.result.catch(() => {})
    await this.#taking
    // One that iterates reads it behind its last chunk.
    if (!this.#iterated)
      for (let last = this.#lastGap(); !last.done; last = this.#lastGap())
        for (const follow of this.#followers) follow(last.value)
    const dropped = [...this.#gaps.values()].reduce((sum, { bytes }) => sum + bytes, 0)
    return this.#start.finish(call, dropped)
  }

  /** Output of a call that began without a reader is sent from now on. */
  #look(isWhole: boolean): void {
    const isRead = this.#iterated || this.#followers.size > 0 || this.#onOutput || this.#onBytes
    if (!isRead && this.#call) this.#order({ how: 'live', isWhole })
  }

  #order(order: Omit<StopMessage, 'id'>): void {
    if (this.#call) this.#start.order(this.#call, order)
    else this.#early.push(order)
  }

  #show(raw: ByteChunk, confirm: () => void): void {
    if (this.#onBytes) this.#taking = this.#taking.then(() => this.#hand(raw, confirm))
    if (!this.#onOutput && !this.#iterated && this.#followers.size === 0) return void (this.#onBytes || confirm())
    const text = Buffer.from(raw.bytes).toString('utf8')
    const chunk = this.#withGap({ stream: raw.stream, offset: raw.offset, text })
    // A listener's mistake must not end the command it listens to.
    attempt(() => this.#onOutput?.(chunk))
    for (const follow of this.#followers) follow(chunk)
    const done = this.#onBytes ? (): void => {} : confirm
    if (!this.#iterated) return done()
    this.#queue.push({ chunk, confirm: done })
    this.#wake?.()
  }

  #lost({ stream, bytes, end }: Gap): void {
    const before = this.#gaps.get(stream) ?? { bytes: 0, untold: 0 }
    this.#gaps.set(stream, { bytes, untold: before.untold + bytes - before.bytes, end })
  }

  #withGap(chunk: OutputChunk): OutputChunk {
    const gap = this.#gaps.get(chunk.stream)
    if (!gap?.untold) return chunk
    const droppedBytes = gap.untold
    gap.untold = 0
    return { ...chunk, droppedBytes }
  }

  /** A stream may have lost its last pieces. */
  #lastGap(): IteratorResult<OutputChunk> {
    for (const [stream, { untold, end }] of this.#gaps)
      if (untold > 0) return { value: this.#withGap({ stream, text: '', offset: end }), done: false }
    return { value: undefined, done: true }
  }

  async #hand(chunk: ByteChunk, confirm: () => void): Promise<void> {
    try {
      const taken = await this.#onBytes?.(chunk)
      if (taken === 'closed') this.#order({ how: 'closed', stream: chunk.stream })
    } catch {
      // A reader's mistake must not end the command it reads.
    }
    confirm()
  }
}
