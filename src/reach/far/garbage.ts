/**
 * Keeps an engine at a place small: in a pause between calls it gives back what the calls before have left. Not while
 * calls follow each other: collecting takes milliseconds, and with the garbage goes what V8 had compiled. V8 itself
 * lets no more than 2 MB gather there (`--optimize-for-size`), and does not follow one collection by another in the
 * middle of the calls that come then (`--no-memory-reducer`).
 */
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8'

const PAUSE_MS = 250
const MOST_GARBAGE = 384 * 1024

export class Garbage {
  #usedAfter = 0
  #pause: NodeJS.Timeout | null = null

  /** A call is over. */
  look(): void {
    if (!globalThis.gc) return
    this.#pause ??= setTimeout(() => this.#collect(), PAUSE_MS).unref()
    this.#pause.refresh()
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
