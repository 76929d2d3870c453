/**
 * Takes the bytes of one stream: masks them, keeps them bounded, shows them live, and makes the text of the Outcome.
 */
import type { Note } from '../../contract/note.js'
import type { Outcome } from '../../contract/outcome.js'
import type { AnsiMode, BinaryMode, Clip, OutputChunk, ProgressMode, StreamName } from '../../contract/output.js'
import { describeBinary, looksBinary, sampleText, showControls } from '../../output/binary.js'
import type { Clipped } from '../../output/clip.js'
import { createTextStream, plainText, shapeText } from '../../output/shape.js'
import { Transcript } from '../../output/transcript.js'
import { PassingTroubles } from '../../output/troubles.js'
import { utf8Length } from '../../output/utf8.js'
import type { Held } from '../../os/files/pipe-reader.js'
import type { Masker, MaskStream } from '../../secrets/mask/masker.js'

export interface CaptureOptions {
  readonly stream: StreamName
  readonly masker: Masker | null
  readonly ansi: AnsiMode
  readonly progress: ProgressMode
  readonly binary: BinaryMode
  readonly onOutput: (chunk: OutputChunk) => void
  /** Gets every masked byte; its promise holds the writer back. */
  readonly onBytes: ((bytes: Uint8Array, offset: number) => Held) | null
  /** Whether the output is followed live; otherwise nothing is decoded before the end. */
  readonly live: () => boolean
  readonly memoryBytes: number
  /** How the result will be clipped: only between two ends there is room for what the middle said. */
  readonly clip: Clip['kind']
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
  #spillMoved: string | null = null
  #shownAt = 0
  #ended = false
  /** Looks at what will not be kept; only where a result shows it. */
  #passing: PassingTroubles | null = null

  constructor(options: CaptureOptions) {
    this.#options = options
    const headBytes = Math.ceil(options.memoryBytes / 2)
    this.transcript = new Transcript({ headBytes, tailBytes: options.memoryBytes - headBytes })
    this.#mask = options.masker?.stream() ?? null
  }

  get stream(): StreamName {
    return this.#options.stream
  }

  get bytes(): number {
    return this.transcript.totalBytes
  }

  /** Whether the rest may go another way: nothing has to be masked, shown or written down. */
  get maySkip(): boolean {
    return !this.#mask && !this.#spill && !this.#options.openSpill && !this.#options.live() && this.transcript.skip(0)
  }

  skip(bytes: number): void {
    this.transcript.skip(bytes)
  }

  /** Said when the file for the whole output does not hold the whole of it. */
  get spillNote(): Note | null {
    return this.#spill && this.#spill.lost > 0
      ? {
          code: 'output-lost',
          text:
            `The file ${this.#spill.path} lacks ${this.#spill.lost} bytes of the output: it reached its limit, ` +
            'or the disk is full.',
        }
      : null
  }

  get spillPath(): string | null {
    return this.#spillMoved ?? this.#spill?.path ?? null
  }

  /** The bytes that the mask holds back, raw: the job that takes this stream over masks them. `push` puts them back. */
  takeHeld(): Uint8Array {
    return this.#mask?.take() ?? new Uint8Array(0)
  }

  /** The run became a job: the whole output is in the job's file now, and this capture writes no file any more. */
  movedTo(path: string): void {
    this.#spill?.finish(new Uint8Array(0))
    this.#spill = null
    this.#spillRefused = true
    this.#spillMoved = path
  }

  push(raw: Uint8Array): Held {
    if (this.#ended) return
    return this.#keep(this.#mask ? this.#mask.push(raw) : raw)
  }

  /**
   * Shows what was held back because it could begin a secret, when a reader has waited long
   * enough and it is too little to give one away.
   */
  release(): void {
    if (!this.#ended && this.#mask) void this.#keep(this.#mask.release())
  }

  /** Nothing more will come: hand on what was held back. */
  end(): void {
    if (this.#ended) return
    if (this.#mask) void this.#keep(this.#mask.flush())
    this.#ended = true
    this.transcript.end()
    if (this.#live) this.#show(this.#live.flush())
    if (this.#spill) this.#spill.finish(this.transcript.snapshot().tail)
  }

  #keep(bytes: Uint8Array): Held {
    if (bytes.length === 0) return
    const offset = this.transcript.totalBytes
    // The file begins before the bytes that make it necessary push others out of memory.
    if (
      !this.#spill &&
      !this.#spillRefused &&
      this.#options.openSpill &&
      this.transcript.totalBytes + bytes.length > this.#options.spillAfterBytes
    )
      this.#beginSpill()
    this.#lookAt(bytes, offset)
    this.transcript.write(bytes)
    this.#spill?.write(bytes)
    if (this.#live ?? this.#options.live())
      this.#show(
        (this.#live ??= createTextStream({ ansi: this.#options.ansi, progress: this.#options.progress })).push(bytes),
      )
    return this.#options.onBytes?.(bytes, offset)
  }

  /** Output that fits into memory costs no look before its end. */
  #lookAt(bytes: Uint8Array, offset: number): void {
    const { clip, onBytes, memoryBytes } = this.#options
    if (clip !== 'ends' || onBytes || offset + bytes.length <= memoryBytes) return
    if (!this.#passing) {
      this.#passing = new PassingTroubles()
      const { head, tail } = this.transcript.snapshot()
      if (tail.length > 0) this.#passing.push(tail, head.length)
    }
    this.#passing.push(bytes, offset)
  }

  #beginSpill(): SpillTarget | null {
    const file = this.#options.openSpill?.() ?? null
    this.#spill = file
    this.#spillRefused = !file
    if (!file) return null
    const kept = this.transcript.snapshot()
    file.write(kept.head)
    file.write(kept.tail)
    return file
  }

  #show(text: string): void {
    if (text === '') return
    const offset = this.#shownAt
    this.#shownAt += utf8Length(text)
    this.#options.onOutput({ stream: this.#options.stream, text, offset })
  }

  /** The whole of it goes to a file after all, because less of it will be shown than it could have been. */
  spillNow(growing: boolean): void {
    if ((!this.#ended && !growing) || this.#spill || this.#spillRefused || this.transcript.snapshot().omittedBytes > 0)
      return
    const file = this.#beginSpill()
    if (this.#ended) file?.finish(new Uint8Array(0))
  }

  /**
   * The text for the Outcome: decoded, shaped, then clipped, so that a cut never hides a
   * sequence or splits a character.
   */
  text(clip: Clip): Clipped {
    const { ansi, progress, binary } = this.#options
    const kept = this.transcript.snapshot()
    const plain = plainText(kept, clip)
    if (plain !== null) return { text: plain, truncated: false, omittedBytes: 0 }
    // As it came: a line of a program that is played like a progress bar no longer looks like what it is.
    const sample = binary === 'describe' ? sampleText(kept) : ''
    if (looksBinary(sample)) {
      this.spillNow(false)
      const text = describeBinary(sample, { totalBytes: this.bytes, wholeAt: this.spillPath })
      return { text, truncated: true, omittedBytes: this.bytes }
    }
    const between = this.#passing?.before(kept.totalBytes - kept.tail.length) ?? null
    const shaped = shapeText(kept, { ansi, progress, clip, wholeAt: this.spillPath, between })
    return binary === 'describe' && ansi === 'strip' ? { ...shaped, text: showControls(shaped.text) } : shaped
  }
}

/**
 * The texts of both streams for the Outcome. A head-and-tail clip is a budget for what a reader
 * gets in all: a stream that needs less than its half leaves the rest to the other one.
 * `growing`: a process that was left behind may still print, and what it prints goes to the file.
 */
export function clippedTexts(
  out: Capture,
  err: Capture | null,
  clip: Clip,
  growing = false,
): { readonly out: Clipped; readonly err: Clipped | null } {
  if (clip.kind !== 'ends' || !err || out.bytes === 0 || err.bytes === 0)
    return { out: out.text(clip), err: err?.text(clip) ?? null }
  // A character is at least a byte: what fits by bytes fits.
  const half = Math.floor(clip.maxChars / 2)
  const forErr = Math.min(err.bytes, Math.max(half, clip.maxChars - out.bytes))
  if (err.bytes > forErr) err.spillNow(growing)
  if (out.bytes > clip.maxChars - forErr) out.spillNow(growing)
  return { out: out.text({ ...clip, maxChars: clip.maxChars - forErr }), err: err.text({ ...clip, maxChars: forErr }) }
}

/** The same as the fields of an Outcome. */
export function textFields(out: Clipped, err: Clipped | null) {
  return {
    stdout: err ? out.text : '',
    stderr: err?.text ?? '',
    output: err ? null : out.text,
    truncated: out.truncated || (err?.truncated ?? false),
    omittedBytes: out.omittedBytes + (err?.omittedBytes ?? 0),
  } satisfies Partial<Outcome>
}
