/**
 * Makes the text of an Outcome from the kept bytes of a stream: decoded, collapsed, stripped,
 * clipped, with the exact count of what is missing.
 */
import type { AnsiMode, Clip, ProgressMode } from '../contract/output.js'
import { createAnsiStripper } from './terminal/ansi.js'
import type { TextStage } from './terminal/stage.js'
import type { Kept } from './transcript.js'
import {
  type Clipped,
  type CountOmitted,
  clipEnds,
  clipHead,
  clipMiddle,
  headMarker,
  joinEnds,
  joinMiddle,
} from './clip.js'
import type { FoundBetween } from './troubles.js'
import { createProgressCollapser } from './terminal/progress.js'
import {
  bytesOfUnits,
  characterEnd,
  characterStart,
  createUtf8Decoder,
  decodeUtf8,
  joinBytes,
  takeFirst,
  utf8Length,
} from './utf8.js'

export interface ShapeOptions {
  readonly ansi?: AnsiMode
  readonly progress?: ProgressMode
  readonly clip?: Clip
  /** Where the whole output is; named where text is left out. */
  readonly wholeAt?: string | null
  /** What was found in the bytes that are not kept. */
  readonly between?: FoundBetween | null
}

/**
 * `omittedBytes` counts raw bytes where the text is shown as it came, and bytes of the shaped
 * text where it was stripped or collapsed.
 */
export function shapeText(
  kept: Kept,
  { ansi = 'keep', progress = 'keep', clip = { kind: 'none' }, wholeAt = null, between = null }: ShapeOptions = {},
): Clipped {
  if (kept.totalBytes === 0) return { text: '', truncated: false, omittedBytes: 0 }
  const asItCame = ansi === 'keep' && progress === 'keep'
  if (clip.kind === 'middle' && asItCame) return middleOf(kept, clip)
  const shaped = (bytes: Uint8Array): string =>
    createStages({ ansi, progress }).reduce((text, stage) => stage.push(text) + stage.flush(), decodeUtf8(bytes))
  const shaping = { shaped, asItCame, clip, wholeAt, between }
  return kept.omittedBytes === 0 ? shapeWhole(kept, shaping) : shapeEnds(kept, shaping)
}

/**
 * What every way of shaping and clipping leaves as it came: lines of printable ASCII that fit. Null for anything else.
 * Most output is like that, and all the stages that it would pass through cost more than the command's own end.
 */
export function plainText({ head, totalBytes }: Kept, clip: Clip): string | null {
  const most = clip.kind === 'none' ? totalBytes : clip.kind === 'middle' ? clip.maxBytes : clip.maxChars
  if (head.length < totalBytes || totalBytes > most) return null
  const text = decodeUtf8(head)
  return PLAIN.test(text) ? text : null
}

const PLAIN = /^[\t\n\x20-\x7e]*$/

interface Shaping extends Required<Pick<ShapeOptions, 'clip' | 'wholeAt' | 'between'>> {
  readonly shaped: (bytes: Uint8Array) => string
  readonly asItCame: boolean
}

/**
 * The same shaping for output that is shown while it comes: bytes in, text out, nothing split, nothing lost at the end.
 */
export function createTextStream(options: Pick<ShapeOptions, 'ansi' | 'progress'> = {}): {
  push(bytes: Uint8Array): string
  flush(): string
} {
  const decoder = createUtf8Decoder()
  const stages = createStages(options)
  return {
    push: (bytes) => stages.reduce((text, stage) => stage.push(text), decoder.push(bytes)),
    flush: () => stages.reduce((text, stage) => stage.push(text) + stage.flush(), decoder.flush()),
  }
}

/** Collapsing comes first: it needs the sequences that say which part of a line was erased. */
function createStages({ ansi, progress }: Pick<ShapeOptions, 'ansi' | 'progress'>): TextStage[] {
  return [
    ...(progress === 'collapse' ? [createProgressCollapser()] : []),
    ...(ansi === 'strip' ? [createAnsiStripper()] : []),
  ]
}

function shapeWhole(kept: Kept, { shaped, asItCame, clip, wholeAt }: Shaping): Clipped {
  const bytes = joinBytes(kept.head, kept.tail)
  const text = shaped(bytes)
  const count: CountOmitted = (first, last) => bytesOfUnits(bytes, text.length - last) - bytesOfUnits(bytes, first)
  const exact = asItCame ? { count } : {}
  switch (clip.kind) {
    case 'none':
      return { text, truncated: false, omittedBytes: 0 }
    case 'head':
      return clipHead(text, { maxChars: clip.maxChars, ...exact })
    case 'middle':
      return clipMiddle(text, clip)
    case 'ends':
      return clipEnds(text, { maxChars: clip.maxChars, wholeAt, ...exact })
    default:
      return clip satisfies never
  }
}

/** The stream was larger than memory: its two ends are shaped apart. */
function shapeEnds(kept: Kept, { shaped, asItCame, clip, wholeAt, between }: Shaping): Clipped {
  const headBytes = kept.head.subarray(0, characterEnd(kept.head))
  const tailBytes = kept.tail.subarray(cleanStart(kept.tail))
  const hole = kept.totalBytes - headBytes.length - tailBytes.length
  const head = shaped(headBytes)
  const tail = shaped(tailBytes)
  const count: CountOmitted = (first, last) =>
    hole + headBytes.length - bytesOfUnits(headBytes, first) + bytesOfUnits(tailBytes, tail.length - last)
  const exact = asItCame ? { count } : {}
  switch (clip.kind) {
    case 'none':
      return {
        text:
          `${head}\n[... ${hole} bytes omitted${wholeAt === null ? '' : `; whole output: ${wholeAt}`} ...]\n` +
          `${tail}`,
        truncated: true,
        omittedBytes: hole,
      }
    case 'head': {
      const first = takeFirst(head, clip.maxChars)
      const omittedBytes = asItCame
        ? count(first.length, 0)
        : utf8Length(head.slice(first.length)) + hole + utf8Length(tail)
      return { text: first + headMarker(clip.maxChars), truncated: true, omittedBytes }
    }
    case 'middle': {
      const encoder = new TextEncoder()
      const [first, last] = [encoder.encode(head), encoder.encode(tail)]
      return joinMiddle(first.subarray(0, clip.endBytes), last.subarray(Math.max(0, last.length - clip.endBytes)), {
        totalBytes: first.length + hole + last.length,
        maxBytes: clip.maxBytes,
      })
    }
    case 'ends':
      return joinEnds(head, tail, { maxChars: clip.maxChars, wholeAt, hole, ...exact, ...(between ? { between } : {}) })
    default:
      return clip satisfies never
  }
}

function middleOf(kept: Kept, { maxBytes, endBytes }: { maxBytes: number; endBytes: number }): Clipped {
  if (kept.omittedBytes === 0) return clipMiddle(joinBytes(kept.head, kept.tail), { maxBytes, endBytes })
  return joinMiddle(kept.head.subarray(0, endBytes), kept.tail.subarray(Math.max(0, kept.tail.length - endBytes)), {
    totalBytes: kept.totalBytes,
    maxBytes,
  })
}

/**
 * A tail begins anywhere: in a character, in a sequence, in a line. The next line is near enough in nearly all output.
 */
function cleanStart(tail: Uint8Array): number {
  const newline = tail.subarray(0, NEAR_BYTES).indexOf(0x0a)
  return newline === -1 ? characterStart(tail) : newline + 1
}

const NEAR_BYTES = 4096
