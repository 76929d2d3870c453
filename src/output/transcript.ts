/** Keeps the first and the last bytes of a stream of any length in flat memory, and knows exactly what it left out. */
import { LIMITS } from '../contract/limits.js'

/** What is kept of a stream: its first bytes and its last bytes. With nothing omitted, head and tail are adjacent. */
export interface Kept {
  readonly head: Uint8Array
  readonly tail: Uint8Array
  readonly omittedBytes: number
  readonly totalBytes: number
}

/** One contiguous range of a stream. `lostBefore` counts the bytes that were asked for and are no longer kept. */
export interface Slice {
  readonly bytes: Uint8Array
  readonly start: number
  readonly end: number
  readonly lostBefore: number
}

export interface TranscriptOptions {
  readonly headBytes?: number
  readonly tailBytes?: number
}

/** Bytes have monotonic offsets from 0; reading changes nothing, so every reader owns its cursor. */
export class Transcript {
  readonly #headBytes: number
  readonly #head: Growing
  readonly #tail: Ring
  #ended = false

  constructor({ headBytes = LIMITS.memoryBytes / 2, tailBytes = LIMITS.memoryBytes / 2 }: TranscriptOptions = {}) {
    for (const value of [headBytes, tailBytes])
      if (!Number.isSafeInteger(value) || value < 0)
        throw new TypeError(`headBytes and tailBytes must be whole numbers, got ${value}`)
    this.#headBytes = headBytes
    this.#head = new Growing(headBytes)
    this.#tail = new Ring(tailBytes)
  }

  /** All bytes ever written, which is also the offset of the next one. */
  get totalBytes(): number {
    return this.#head.length + this.#tail.written
  }

  get omittedBytes(): number {
    return this.#tail.written - this.#tail.length
  }

  get ended(): boolean {
    return this.#ended
  }

  /** Copies what it keeps: the caller may use the chunk's memory again at once. */
  write(chunk: Uint8Array): void {
    if (this.#ended) throw new TypeError('write after end of a Transcript')
    const room = this.#headBytes - this.#head.length
    if (room === 0) return this.#tail.append(chunk)
    if (chunk.length <= room) return this.#head.append(chunk)
    this.#head.append(chunk.subarray(0, room))
    this.#tail.append(chunk.subarray(room))
  }

  /** Bytes that went another way: counted, not kept. False while the beginning is not full: it would have a hole. */
  skip(count: number): boolean {
    if (this.#head.length < this.#headBytes) return false
    this.#tail.skip(count)
    return true
  }

  end(): void {
    this.#ended = true
  }

  /**
   * The bytes from `since` on, as one contiguous range that never jumps over a hole:
   * what lies behind the hole comes with the next read, whose `lostBefore` counts it.
   */
  read({ since = 0, maxBytes = Number.POSITIVE_INFINITY }: { since?: number; maxBytes?: number } = {}): Slice {
    const total = this.totalBytes
    const wanted = clamp(since, 0, total)
    const inHead = wanted < this.#head.length
    const start = inHead ? wanted : Math.max(wanted, total - this.#tail.length)
    let end = clamp(start + Math.max(0, maxBytes), start, total)
    if (inHead && this.omittedBytes > 0) end = Math.min(end, this.#head.length)
    return { bytes: this.#copy(start, end), start, end, lostBefore: start - wanted }
  }

  /** The last `maxBytes` that are still kept without a hole in them. */
  readLast(maxBytes: number): Slice {
    const whole = this.omittedBytes > 0 ? this.#tail.length : this.totalBytes
    return this.read({ since: this.totalBytes - Math.min(whole, Math.max(0, maxBytes)) })
  }

  snapshot(): Kept {
    const total = this.totalBytes
    return {
      head: this.#copy(0, this.#head.length),
      tail: this.#copy(total - this.#tail.length, total),
      omittedBytes: this.omittedBytes,
      totalBytes: total,
    }
  }

  #copy(start: number, end: number): Uint8Array {
    const out = new Uint8Array(end - start)
    const headEnd = Math.min(end, this.#head.length)
    if (start < headEnd) out.set(this.#head.view(start, headEnd))
    const from = Math.max(start, headEnd)
    if (from < end) this.#tail.copyTo(out, out.length - (end - from), from - this.#head.length, end - from)
    return out
  }
}

/** A buffer that doubles until its limit, so that a run that prints nothing costs nothing. */
class Growing {
  readonly #limit: number
  #bytes = new Uint8Array(0)
  length = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  append(chunk: Uint8Array): void {
    this.#bytes = grown(this.#bytes, this.length, this.length + chunk.length, this.#limit)
    this.#bytes.set(chunk, this.length)
    this.length += chunk.length
  }

  view(start: number, end: number): Uint8Array {
    return this.#bytes.subarray(start, end)
  }
}

/**
 * The last `limit` bytes appended. Grows while it has never wrapped; after that each byte costs
 * one copy, a huge chunk only its end.
 */
class Ring {
  readonly #limit: number
  #bytes = new Uint8Array(0)
  #next = 0
  written = 0
  length = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  append(chunk: Uint8Array): void {
    this.written += chunk.length
    const limit = this.#limit
    if (chunk.length >= limit) {
      if (this.#bytes.length < limit) this.#bytes = new Uint8Array(limit)
      this.#bytes.set(chunk.subarray(chunk.length - limit))
      this.#next = 0
      this.length = limit
      return
    }
    // Until the first wrap #next equals length, so the content lies straight and may be moved to a larger buffer.
    if (this.#bytes.length < limit) this.#bytes = grown(this.#bytes, this.length, this.length + chunk.length, limit)
    const straight = Math.min(chunk.length, this.#bytes.length - this.#next)
    this.#bytes.set(straight === chunk.length ? chunk : chunk.subarray(0, straight), this.#next)
    if (straight < chunk.length) this.#bytes.set(chunk.subarray(straight), 0)
    this.#next = (this.#next + chunk.length) % limit
    this.length = Math.min(limit, this.length + chunk.length)
  }

  skip(count: number): void {
    if (count === 0) return
    this.written += count
    this.length = this.#next = 0
  }

  /** `offset` counts from the first byte ever appended and must still be kept. */
  copyTo(out: Uint8Array, at: number, offset: number, count: number): void {
    const fromOldest = offset - (this.written - this.length)
    const oldest = this.length < this.#limit ? 0 : this.#next
    const begin = (oldest + fromOldest) % Math.max(1, this.#bytes.length)
    const straight = Math.min(count, this.#bytes.length - begin)
    out.set(this.#bytes.subarray(begin, begin + straight), at)
    if (straight < count) out.set(this.#bytes.subarray(0, count - straight), at + straight)
  }
}

function grown(bytes: Uint8Array<ArrayBuffer>, used: number, needed: number, limit: number): Uint8Array<ArrayBuffer> {
  if (needed <= bytes.length) return bytes
  const larger = new Uint8Array(Math.min(limit, Math.max(needed, bytes.length * 2)))
  larger.set(bytes.subarray(0, used))
  return larger
}

function clamp(value: number, low: number, high: number): number {
  return Number.isNaN(value) ? low : Math.min(high, Math.max(low, Math.trunc(value)))
}
