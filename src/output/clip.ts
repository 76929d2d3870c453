/**
 * Shortens text for a reader that pays by the character: first part, first and last part, or
 * both ends with what matters between them.
 */
import { LIMITS } from '../contract/limits.js'
import { characterEnd, characterStart, decodeUtf8, takeFirst, takeLast, utf8Length } from './utf8.js'
import { findTroubles, type FoundBetween } from './troubles.js'

/** `omittedBytes` counts in UTF-8. A limit is exceeded by more than it, never by exactly it. */
export interface Clipped {
  readonly text: string
  readonly truncated: boolean
  readonly omittedBytes: number
}

/**
 * Counts the bytes left out when the first and the last so many UTF-16 units are kept; for
 * callers that hold the bytes, which text with replaced bytes cannot tell.
 */
export type CountOmitted = (firstUnits: number, lastUnits: number) => number

/** The first `maxChars` UTF-16 units, then the marker. */
export function clipHead(
  text: string,
  {
    maxChars = LIMITS.clipChars,
    marker = headMarker(maxChars),
    count = (first) => utf8Length(text.slice(first)),
  }: { maxChars?: number; marker?: string; count?: CountOmitted } = {},
): Clipped {
  if (text.length <= maxChars) return whole(text)
  const kept = takeFirst(text, maxChars)
  return { text: kept + marker, truncated: true, omittedBytes: count(kept.length, 0) }
}

export function headMarker(maxChars: number): string {
  return `\n\n[Output truncated at ${maxChars} characters]`
}

/** The first and the last `endBytes` of more than `maxBytes`, each cut at a character border. */
export function clipMiddle(
  content: string | Uint8Array,
  { maxBytes = 131_072, endBytes = 4_096 }: { maxBytes?: number; endBytes?: number } = {},
): Clipped {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
  if (bytes.length <= maxBytes) return whole(typeof content === 'string' ? content : decodeUtf8(bytes))
  return joinMiddle(bytes.subarray(0, endBytes), bytes.subarray(bytes.length - endBytes), {
    totalBytes: bytes.length,
    maxBytes,
  })
}

/** The same for a stream of which only the two ends are at hand. */
export function joinMiddle(
  first: Uint8Array,
  last: Uint8Array,
  { totalBytes, maxBytes }: { totalBytes: number; maxBytes: number },
): Clipped {
  const head = first.subarray(0, characterEnd(first))
  const tail = last.subarray(characterStart(last))
  const text =
    `[output truncated in middle: got ${totalBytes} bytes, max is ${maxBytes} bytes]\n` +
    `${decodeUtf8(head)}\n\n[snip]\n\n${decodeUtf8(tail)}`
  return { text, truncated: true, omittedBytes: totalBytes - head.length - tail.length }
}

export interface ClipEndsOptions {
  readonly maxChars?: number
  /** Where the whole text is, named in the marker. */
  readonly wholeAt?: string | null
  readonly count?: CountOmitted
  /** What was found in the bytes of the hole while they passed. */
  readonly between?: FoundBetween
}

/** The house clip: beginning and end within `maxChars` all told, with the error-looking lines of what is left out. */
export function clipEnds(text: string, options: ClipEndsOptions = {}): Clipped {
  const { maxChars = LIMITS.clipChars } = options
  if (text.length <= maxChars) return whole(text)
  return joinEnds(text, text, { ...options, hole: null })
}

/**
 * The same for a stream of which a beginning and an end are kept with `hole` bytes missing between them.
 * With `hole: null` both are the same whole text.
 */
export function joinEnds(first: string, last: string, options: ClipEndsOptions & { hole: number | null }): Clipped {
  const { maxChars = LIMITS.clipChars, wholeAt = null, hole } = options
  if (maxChars < MIN_CHARS) {
    const start = takeFirst(first, maxChars)
    return {
      text: start,
      truncated: true,
      omittedBytes:
        options.count?.(start.length, 0) ??
        utf8Length(first.slice(start.length)) + (hole === null ? 0 : hole + utf8Length(last)),
    }
  }
  const reserve = Math.min(MARKER_CHARS + (wholeAt?.length ?? 0), Math.floor(maxChars / 2))
  const troubleChars = Math.floor((maxChars - reserve) * TROUBLE_SHARE)
  const budget = maxChars - reserve - troubleChars
  const headChars = Math.floor(budget * HEAD_SHARE)
  const head = headAtLine(first, headChars)
  const tail = tailAtLine(last, budget - headChars)

  const middle =
    hole === null
      ? [first.slice(head.length, first.length - tail.length)]
      : [first.slice(head.length), last.slice(0, last.length - tail.length)]
  const omittedBytes =
    options.count?.(head.length, tail.length) ?? middle.reduce((sum, part) => sum + utf8Length(part), hole ?? 0)
  const found = findTroubles(middle, {
    firstLine: countLines(head) + 1,
    hole: hole !== null,
    maxChars: troubleChars,
    between: options.between,
  })
  const lines = hole === null ? `, ${plural(countLines(middle[0]!), 'line')}` : ''
  const where = wholeAt === null ? '' : `; whole output: ${wholeAt}`
  const marker = takeFirst(
    `[... ${plural(omittedBytes, 'byte')}${lines} omitted${where} ...]`,
    Math.max(reserve - 3, 0),
  )
  return { text: `${endLine(head)}${marker}\n${found}${tail}`, truncated: true, omittedBytes }
}

/** Room for the marker with its numbers and for the line breaks around it. */
const MARKER_CHARS = 90
/** Part of the budget for the beginning; the end usually says how it went. */
const HEAD_SHARE = 0.4
const TROUBLE_SHARE = 0.2
/** Below this there is no room to say anything about a cut. */
const MIN_CHARS = 200

function whole(text: string): Clipped {
  return { text, truncated: false, omittedBytes: 0 }
}

/** Ends at a line border when one is near; a line of a megabyte is cut where the budget ends. */
function headAtLine(text: string, maxChars: number): string {
  const cut = takeFirst(text, maxChars)
  const border = cut.lastIndexOf('\n') + 1
  return border > cut.length / 2 ? cut.slice(0, border) : cut
}

function tailAtLine(text: string, maxChars: number): string {
  const cut = takeLast(text, maxChars)
  if (text.length === cut.length || text[text.length - cut.length - 1] === '\n') return cut
  const border = cut.indexOf('\n') + 1
  return border > 0 && border < cut.length / 2 ? cut.slice(border) : cut
}

function endLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

function countLines(text: string): number {
  let lines = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++
  return lines
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
