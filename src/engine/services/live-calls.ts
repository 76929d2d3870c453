/**
 * The foreground calls of an engine that are under way, for pages and terminals that show them.
 * Costs an entry of a list per call while none is open.
 */
import type { RunHandle } from '../../contract/engine.js'
import type { Outcome } from '../../contract/outcome.js'
import type { OutputChunk, StreamName } from '../../contract/output.js'
import type { RunRequest } from '../../contract/request.js'

/** One stream of a call, masked, as far as memory holds it. */
export interface LiveStream {
  readonly stream: StreamName
  readonly bytes: number
  readonly transcript: {
    snapshot(): { readonly head: Uint8Array; readonly tail: Uint8Array; readonly omittedBytes: number }
  }
}

export interface LiveCall extends RunHandle {
  readonly request: RunRequest
  readonly session: string | null
  /** Epoch milliseconds. */
  readonly at: number
  readonly age: number
  readonly captures: readonly LiveStream[]
  /** The listener is told of every chunk from now on; returns what ends that. */
  follow(listener: (chunk: OutputChunk) => void): () => void
}

export interface CallsWatcher {
  began(call: LiveCall): void
  ended(call: LiveCall, outcome: Outcome | null): void
}

export class LiveCalls {
  /** Few at a time. Not a Set: see `Numbered`. */
  readonly #calls: LiveCall[] = []
  readonly watchers = new Set<CallsWatcher>()
  readonly #numbers = new WeakMap<LiveCall, number>()
  #last = 0

  began(call: LiveCall): void {
    this.#calls.push(call)
    if (this.watchers.size > 0) for (const watcher of this.watchers) watcher.began(call)
  }

  ended(call: LiveCall, outcome: Outcome | null): void {
    const at = this.#calls.lastIndexOf(call)
    if (at >= 0) this.#calls.splice(at, 1)
    if (this.watchers.size > 0) for (const watcher of this.watchers) watcher.ended(call, outcome)
  }

  get all(): Iterable<LiveCall> {
    return this.#calls
  }

  /** Given when it is asked for: most calls are never looked at. */
  numberOf(call: LiveCall): number {
    const known = this.#numbers.get(call)
    if (known !== undefined) return known
    this.#numbers.set(call, ++this.#last)
    return this.#last
  }

  byNumber(number: number): LiveCall | undefined {
    for (const call of this.#calls) if (this.#numbers.get(call) === number) return call
    return undefined
  }
}
