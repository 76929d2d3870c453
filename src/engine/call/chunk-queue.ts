/** Output of a call that its iterator has not read yet. */
import type { OutputChunk, StreamName } from '../../contract/output.js'
import { utf8Length } from '../../output/utf8.js'

/** A reader that falls this far behind loses the middle, not the memory of the host. */
const MAX_QUEUED_CHARS = 4 * 1024 * 1024

export class ChunkQueue {
  #waiting: OutputChunk[] = []
  #chars = 0
  /** What was lost since the last piece that was read, by stream. */
  readonly #gaps = new Map<StreamName, number>()
  /** Where the last piece that was lost ended. */
  readonly #ends = new Map<StreamName, number>()
  #wake: (() => void) | null = null
  #ended: boolean
  /** Bytes that were lost in all. */
  dropped = 0
  /** An iterator reads the queue; without one, pieces are not kept. */
  isRead = false

  constructor(ended: boolean) {
    this.#ended = ended
  }

  put(chunk: OutputChunk): void {
    if (!this.isRead) return
    this.#waiting.push(chunk)
    this.#chars += chunk.text.length
    while (this.#chars > MAX_QUEUED_CHARS && this.#waiting.length > 1) this.#drop(this.#waiting.shift() as OutputChunk)
    this.#wake?.()
  }

  end(): void {
    this.#ended = true
    this.#wake?.()
  }

  read(): AsyncIterator<OutputChunk> {
    this.isRead = true
    return {
      next: async () => {
        for (;;) {
          const chunk = this.#take()
          if (chunk) return { value: chunk, done: false }
          if (this.#ended) return { value: undefined, done: true }
          await new Promise<void>((resolve) => (this.#wake = resolve))
        }
      },
      return: async () => {
        this.isRead = false
        this.#waiting = []
        this.#chars = 0
        return { value: undefined, done: true }
      },
    }
  }

  #take(): OutputChunk | null {
    const chunk = this.#waiting.shift()
    if (chunk) {
      this.#chars -= chunk.text.length
      return this.#withGap(chunk)
    }
    // A stream may have lost its last pieces.
    const [gap] = this.#ended ? this.#gaps.keys() : []
    return gap ? this.#withGap({ stream: gap, text: '', offset: this.#ends.get(gap) ?? 0 }) : null
  }

  #drop({ stream, text, offset }: OutputChunk): void {
    const bytes = utf8Length(text)
    this.#chars -= text.length
    this.dropped += bytes
    this.#gaps.set(stream, (this.#gaps.get(stream) ?? 0) + bytes)
    this.#ends.set(stream, offset + bytes)
  }

  #withGap(chunk: OutputChunk): OutputChunk {
    const droppedBytes = this.#gaps.get(chunk.stream)
    if (!droppedBytes) return chunk
    this.#gaps.delete(chunk.stream)
    return { ...chunk, droppedBytes }
  }
}
