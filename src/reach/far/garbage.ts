/**
 * Keeps an engine at a place small: V8 alone would let 8 MB of garbage gather. Collecting takes milliseconds, and with
 * the garbage goes what V8 had compiled for functions that each call makes anew: it is done when there is something to
 * collect, in a pause between calls where there is one.
 */
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8'

/** While calls follow each other without a pause. */
const LOOK_EVERY = 10
const PAUSE_MS = 250
const MOST_GARBAGE = 384 * 1024

export class Garbage {
  #usedAfter = 0
  #calls = 0
  #pause: NodeJS.Timeout | null = null

  /** A call is over. */
  look(): void {
    if (!globalThis.gc) return
    this.#pause ??= setTimeout(() => this.#collect(), PAUSE_MS).unref()
    this.#pause.refresh()
    if (++this.#calls % LOOK_EVERY === 0) setImmediate(() => this.#collect())
  }

  #collect(): void {
    if (used() < this.#usedAfter + MOST_GARBAGE) return
    globalThis.gc?.()
    this.#usedAfter = used()
  }
}

/** Objects that live longer than a call, and buffers: the youngest part of the heap fills and empties by itself. */
function used(): number {
  const lasting = getHeapSpaceStatistics().filter((space) => space.space_name !== 'new_space')
  return lasting.reduce((sum, { space_used_size: bytes }) => sum + bytes, getHeapStatistics().external_memory)
}
