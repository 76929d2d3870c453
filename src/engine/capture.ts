/** Takes the bytes of one stream: masks them, keeps them bounded, shows them live, and makes the text of the Outcome. */
import type { AnsiMode, Clip, OutputChunk, ProgressMode, StreamName } from '../contract/output.js'
import { createAnsiStripper, stripAnsi } from '../output/ansi.js'
import { clipHead, joinEnds, clipEnds, clipMiddle, joinMiddle, type Clipped } from '../output/clip.js'
import { createProgressCollapser, collapseProgress } from '../output/progress.js'
import { Transcript } from '../output/transcript.js'
import { characterEnd, characterStart, createUtf8Decoder, decodeUtf8, utf8Length } from '../output/utf8.js'
import type { Masker, MaskStream } from '../secrets/masker.js'

export interface CaptureOptions {
  readonly stream: StreamName
  readonly masker: Masker | null
  readonly ansi: AnsiMode
  readonly progress: ProgressMode
  readonly onOutput: (chunk: OutputChunk) => void
  /** Whether anybody follows the output; without a follower nothing is decoded before the end. */
  readonly live: () => boolean
  readonly memoryBytes: number
  /** Opens the file for the whole output; asked for once, when the output outgrows what the Outcome will show. */
  readonly openSpill: (() => SpillTarget | null) | null
  /** Output longer than this is written to the spill file as well. */
  readonly spillAfterBytes: number
}

/** What the capture needs of a file; the engine passes one of `os/`. */
export interface SpillTarget {
  readonly path: string
  readonly lost: number
  write(bytes: Uint8Array): void
  finish(tail: Uint8Array): void
}

export class Capture {
  readonly #options: CaptureOptions
  readonly transcript: Transcript
  readonly #mask: MaskStream | null
  #live: { push(bytes: Uint8Array): string; flush(): string } | null = null
  #spill: SpillTarget | null = null
  #spillRefused = false
  #shownAt = 0
  #ended = false
  lastByteAt = performance.now()

  constructor(options: CaptureOptions) {
    this.#options = options
    this.transcript = new Transcript({ headBytes: options.memoryBytes / 2, tailBytes: options.memoryBytes / 2 })
    this.#mask = options.masker?.stream() ?? null
  }

  get bytes(): number {
    return this.transcript.totalBytes
  }

  get spillPath(): string | null {
    return this.#spill?.path ?? null
  }

  push(raw: Uint8Array): void {
    if (this.#ended) return
    this.lastByteAt = performance.now()
    this.#keep(this.#mask ? this.#mask.push(raw) : raw)
  }

  /** Nothing more will come: hand on what was held back. */
  end(): void {
    if (this.#ended) return
    if (this.#mask) this.#keep(this.#mask.flush())
    this.#ended = true
    this.transcript.end()
    if (this.#live) this.#show(this.#live.flush())
    if (this.#spill) this.#spill.finish(this.transcript.snapshot().tail)
  }

  #keep(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.transcript.write(bytes)
    if (this.#spill) this.#spill.write(bytes)
    else if (!this.#spillRefused && this.#options.openSpill && this.transcript.totalBytes > this.#options.spillAfterBytes) this.#beginSpill()
    if (this.#live ?? this.#options.live()) this.#show((this.#live ??= createLiveText(this.#options.ansi, this.#options.progress)).push(bytes))
  }

  #beginSpill(): void {
    this.#spill = this.#options.openSpill?.() ?? null
    if (!this.#spill) {
      this.#spillRefused = true
      return
    }
    const kept = this.transcript.snapshot()
    this.#spill.write(kept.head)
    this.#spill.write(kept.tail)
  }

  #show(text: string): void {
    if (text === '') return
    const offset = this.#shownAt
    this.#shownAt += utf8Length(text)
    this.#options.onOutput({ stream: this.#options.stream, text, offset })
  }

  /** The text for the Outcome: decoded, stripped, then clipped, so that a cut never hides a sequence or splits a character. */
  text(clip: Clip): Clipped {
    const kept = this.transcript.snapshot()
    const shape = (text: string): string => {
      const plain = this.#options.ansi === 'strip' ? stripAnsi(text) : text
      return this.#options.progress === 'collapse' ? collapseProgress(plain) : plain
    }
    if (kept.omittedBytes === 0) {
      const whole = shape(decodeUtf8(concat(kept.head, kept.tail)))
      switch (clip.kind) {
        case 'none':
          return { text: whole, truncated: false, omittedBytes: 0 }
        case 'head':
          return clipHead(whole, { maxChars: clip.maxChars })
        case 'middle':
          return clipMiddle(whole, clip)
        case 'ends':
          return clipEnds(whole, { maxChars: clip.maxChars, wholeAt: this.spillPath })
      }
    }
    const head = shape(decodeUtf8(kept.head.subarray(0, characterEnd(kept.head))))
    const tail = shape(decodeUtf8(kept.tail.subarray(characterStart(kept.tail))))
    switch (clip.kind) {
      case 'none':
        return { text: `${head}\n[... ${kept.omittedBytes} bytes omitted ...]\n${tail}`, truncated: true, omittedBytes: kept.omittedBytes }
      case 'head': {
        const shown = clipHead(head, { maxChars: clip.maxChars })
        return { text: shown.text, truncated: true, omittedBytes: shown.omittedBytes + kept.omittedBytes + kept.tail.length }
      }
      case 'middle':
        return joinMiddle(kept.head.subarray(0, clip.endBytes), kept.tail.subarray(Math.max(0, kept.tail.length - clip.endBytes)), { totalBytes: kept.totalBytes, maxBytes: clip.maxBytes })
      case 'ends':
        return joinEnds(head, tail, { maxChars: clip.maxChars, wholeAt: this.spillPath, hole: kept.omittedBytes })
    }
  }
}

function createLiveText(ansi: AnsiMode, progress: ProgressMode): { push(bytes: Uint8Array): string; flush(): string } {
  const decoder = createUtf8Decoder()
  const strip = ansi === 'strip' ? createAnsiStripper() : null
  const collapse = progress === 'collapse' ? createProgressCollapser() : null
  const stages = (text: string, last: boolean): string => {
    let out = text
    for (const stage of [strip, collapse]) if (stage) out = stage.push(out) + (last ? stage.flush() : '')
    return out
  }
  return { push: (bytes) => stages(decoder.push(bytes), false), flush: () => stages(decoder.flush(), true) }
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (second.length === 0) return first
  const joined = new Uint8Array(first.length + second.length)
  joined.set(first)
  joined.set(second, first.length)
  return joined
}
