/** A foreground call elsewhere as its caller holds it: output as it comes, the outcome, and the means to stop it. */
import type { Outcome } from '../../contract/outcome.js'
import type { ByteChunk, OutputChunk } from '../../contract/output.js'
import type { RunRequest } from '../../contract/request.js'
import type { LiveCall } from '../../engine/services/live-calls.js'
import type { CallMessage, StopMessage } from '../messages.js'
import type { CallListener, PendingCall } from './calls.js'

/** A reader of the iterator that falls this far behind stops confirming, and the far side counts what it drops. */
export interface RunStart {
  begin(listener: CallListener, live: CallMessage['live']): PendingCall
  order(call: PendingCall, order: Omit<StopMessage, 'id'>): void
  finish(call: PendingCall, gap: number): Promise<Outcome>
}

export class NearRun implements LiveCall {
  readonly pid: number | null = null
  readonly outcome: Promise<Outcome>
  readonly at = Date.now()
  /** What was printed before a process looked is at the place; it sees what comes from then on. */
  readonly captures = []
  readonly followers: Set<(chunk: OutputChunk) => void> = new Followers(() => this.#look())
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
  #gap = 0

  constructor(
    readonly request: RunRequest,
    readonly session: string | null,
    start: RunStart,
  ) {
    this.#start = start
    this.#onOutput = request.onOutput
    this.#onBytes = request.onBytes
    // Begins in a moment: a caller that iterates at once gets every chunk.
    this.outcome = Promise.resolve().then(() => this.#begin(request))
    const end = (): void => {
      this.#done = true
      this.#wake?.()
    }
    this.outcome.then(end, end)
  }

  get age(): number {
    return Date.now() - this.at
  }

  interrupt(): void {
    this.#order({ how: 'interrupt' })
  }

  kill(): void {
    this.#order({ how: 'kill' })
  }

  async toBackground(): Promise<Outcome> {
    this.#order({ how: 'background' })
    return this.outcome
  }

  [Symbol.asyncIterator](): AsyncIterator<OutputChunk> {
    this.#look()
    this.#iterated = true
    return {
      next: async () => {
        for (;;) {
          const next = this.#queue.shift()
          if (next) {
            next.confirm()
            return { value: next.chunk, done: false }
          }
          if (this.#done) return { value: undefined, done: true }
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

  async #begin(request: RunRequest): Promise<Outcome> {
    const call = this.#start.begin(
      { onOutput: (chunk, confirm) => this.#show(chunk, confirm), onGap: (bytes) => (this.#gap += bytes) },
      this.#onBytes ? 'bytes' : this.#iterated || this.#onOutput || this.followers.size > 0 ? 'text' : undefined,
    )
    this.#call = call
    for (const order of this.#early.splice(0)) this.#start.order(call, order)
    const abort = (): void => this.#order({ how: 'abort' })
    request.signal?.addEventListener('abort', abort, { once: true })
    try {
      await call.result.catch(() => {})
      await this.#taking
      return await this.#start.finish(call, this.#gap)
    } finally {
      request.signal?.removeEventListener('abort', abort)
    }
  }

  /** Output of a call that began without a reader is sent from now on. */
  #look(): void {
    const isRead = this.#iterated || this.followers.size > 0 || this.#onOutput || this.#onBytes
    if (!isRead && this.#call) this.#order({ how: 'live' })
  }

  #order(order: Omit<StopMessage, 'id'>): void {
    if (this.#call) this.#start.order(this.#call, order)
    else this.#early.push(order)
  }

  #show(raw: ByteChunk, confirm: () => void): void {
    if (this.#onBytes) this.#taking = this.#taking.then(() => this.#hand(raw, confirm))
    if (!this.#onOutput && !this.#iterated && this.followers.size === 0) return void (this.#onBytes || confirm())
    const text = Buffer.from(raw.bytes).toString('utf8')
    const chunk: OutputChunk = { stream: raw.stream, offset: raw.offset, text }
    if (this.#onOutput) {
      try {
        this.#onOutput(chunk)
      } catch {
        // A listener's mistake must not end the command it listens to.
      }
    }
    for (const follow of this.followers) follow(chunk)
    const done = this.#onBytes ? (): void => {} : confirm
    if (!this.#iterated) return done()
    this.#queue.push({ chunk, confirm: done })
    this.#wake?.()
  }

  async #hand(chunk: ByteChunk, confirm: () => void): Promise<void> {
    try {
      const taken = await this.#onBytes?.(chunk)
      if (taken === 'closed') this.#order({ how: 'closed', stream: chunk.stream })
    } catch {
      // As above.
    }
    confirm()
  }
}

/** Says when the first reader comes. */
class Followers extends Set<(chunk: OutputChunk) => void> {
  readonly #onFirst: () => void

  constructor(onFirst: () => void) {
    super()
    this.#onFirst = onFirst
  }

  override add(follower: (chunk: OutputChunk) => void): this {
    if (this.size === 0) this.#onFirst()
    return super.add(follower)
  }
}
