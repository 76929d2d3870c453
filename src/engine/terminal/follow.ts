/**
 * Follows the stored output of a terminal's job as it grows: every byte once, in order, bounded
 * blocks, with what could not be kept counted.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { readStored } from '../../os/job/output.js'
import type { Held } from '../../os/files/pipe-reader.js'

const BLOCK = 256 * 1024

export class OutputFollower {
  readonly #dir: string
  readonly #onBytes: (bytes: Uint8Array) => Held
  /** How many bytes have been handed on, or were dropped before. */
  offset = 0
  #again = false
  #running: Promise<void> | null = null
  /** Bytes that the store had to drop before we came. */
  missed = 0

  /** `onBytes` may answer with a promise: nothing more is read before it settles. */
  constructor(dir: string, onBytes: (bytes: Uint8Array) => Held) {
    this.#dir = dir
    this.#onBytes = onBytes
  }

  /** Resolves when everything that is stored now has been handed on. */
  pull(): Promise<void> {
    this.#again = true
    // When the directory is removed, the rest of the output is lost with it; what was handed on stays.
    return (this.#running ??= this.#run()
      .catch(() => {})
      .finally(() => (this.#running = null)))
  }

  async #run(): Promise<void> {
    while (this.#again) {
      this.#again = false
      for (;;) {
        const { bytes, start, lostBefore } = readStored(this.#dir, 'output.log', this.offset, BLOCK)
        this.missed += lostBefore
        this.offset = start + bytes.length
        if (bytes.length === 0) break
        await this.#onBytes(bytes)
        // A flood must not keep the host from its other work.
        if (bytes.length === BLOCK) await turn()
      }
    }
  }
}

/** A terminal ends lines with CR LF; text without escape sequences is to have plain line ends. Works across pieces. */
export function createLineEnds(): { push(bytes: Uint8Array): Uint8Array; flush(): Uint8Array } {
  let held = false
  return {
    push(bytes) {
      const out = Buffer.alloc(bytes.length + 1)
      let size = 0
      for (const byte of bytes) {
        if (byte === 13) {
          // Several in a row do what one does.
          held = true
          continue
        }
        if (held && byte !== 10) out[size++] = 13
        held = false
        out[size++] = byte
      }
      return out.subarray(0, size)
    },
    flush() {
      const rest = Buffer.alloc(held ? 1 : 0, 13)
      held = false
      return rest
    },
  }
}
