/**
 * Finds any of thousands of byte strings at a cost that hardly depends on how many there are:
 * most bytes of the text are never looked at.
 */
import { collapseSpace, joinLineEnds, type Fold } from './folds.js'
import { isSpace } from './bytes.js'
import type { Needle } from './forms.js'
import { createFoldTable, type FoldTable } from './lines.js'
import { extend } from './partial.js'
import { createPrefixes } from './prefixes.js'
import type { Material } from './projections.js'

/** A needle and the number of the secret that it belongs to. */
export interface NamedNeedle extends Needle {
  readonly owner: number
}

/** Told of every occurrence; `end` is exclusive. */
export type Found = (start: number, end: number, needle: NamedNeedle) => void

export interface NeedleIndex extends Material {
  readonly longest: number
  readonly folds: FoldTable
  /** Reports every occurrence, in no particular order; occurrences may overlap. */
  search(text: Uint8Array, length: number, found: Found): void
  /** The earliest position from which the rest of the text may be the beginning of a needle, or `length`. */
  holdFrom(text: Uint8Array, length: number): number
}

// The search looks at the four bytes (a gram) at the end of a window of the text. A table says
// how far the window may move on before a gram of any needle could stand at its end; only
// distance 0 needs a closer look. This is the algorithm of Wu and Manber.
const GRAM = 4
const SMALLEST_WINDOW = 6
const LARGEST_WINDOW = 14
/** The table of grams grows with the number of needles up to what a processor's cache holds. */
const MOST_GRAM_BITS = 18
const BLANK = 0x20
const NOWHERE = -1e9

export function createNeedleIndex(needles: readonly NamedNeedle[]): NeedleIndex {
  // A few values have no six bytes without white space. Their text is searched with its white
  // space collapsed, at an extra cost.
  const firm = needles.filter((needle) => usableLength(needle) >= SMALLEST_WINDOW)
  const loose = needles.filter((needle) => usableLength(needle) < SMALLEST_WINDOW)
  const searchFirm = createSearch(firm, Math.min(LARGEST_WINDOW, ...firm.map(usableLength)))
  const searchLoose = loose.length > 0 ? createSearch(loose, SMALLEST_WINDOW) : undefined
  // An encoding too short for two disjoint windows is looked for once more where lines were broken.
  const brief = needles.filter(({ kind, bytes }) => kind === 'dense' && bytes.length < 2 * SMALLEST_WINDOW)
  const searchBrief = brief.length > 0 ? createSearch(brief, SMALLEST_WINDOW) : undefined
  const briefBytes = membersOf(brief)
  const prefixes = createPrefixes(needles)
  const folds = createFoldTable(needles)
  return {
    longest: prefixes.longest,
    folds,
    lineEnds: folds.members,
    shortest: needles.reduce((least, { bytes }) => Math.min(least, bytes.length), Infinity),
    alphabet: alphabetOf(needles),
    body: bodyOf(needles),
    search(text, length, report) {
      const found: Found = (start, end, needle) => {
        if (needle.part === undefined) report(start, end, needle)
        else report(...extend(text, length, start, end, needle), needle)
      }
      const inFold =
        ({ from }: Fold): Found =>
        (start, end, needle) =>
          found(from[start] as number, (from[end - 1] as number) + 1, needle)
      searchFirm(text, length, found)
      if (searchLoose) {
        const fold = collapseSpace(text, length)
        searchLoose(fold.bytes, fold.size, inFold(fold))
      }
      if (searchBrief) {
        const fold = joinLineEnds(text, length, briefBytes, SMALLEST_WINDOW, 2 * SMALLEST_WINDOW)
        searchBrief(fold.bytes, fold.size, inFold(fold))
      }
    },
    holdFrom: prefixes.holdFrom,
  }
}

function alphabetOf(needles: readonly NamedNeedle[]): Uint8Array {
  const alphabet = new Uint8Array(256)
  for (const { bytes, kind } of needles) if (kind !== 'dump') for (const byte of bytes) alphabet[byte] = 1
  if (alphabet[BLANK] === 1) for (let byte = 0; byte < 256; byte++) if (isSpace(byte)) alphabet[byte] = 1
  return alphabet
}

/** White space is part of every body: encodings get wrapped. */
function bodyOf(needles: readonly NamedNeedle[]): Uint8Array {
  return membersOf(needles).map((member, byte) => (isSpace(byte) ? 1 : member))
}

function membersOf(needles: readonly NamedNeedle[]): Uint8Array {
  const members = new Uint8Array(256)
  for (const { bytes } of needles) for (const byte of bytes) members[byte] = 1
  return members
}

/**
 * How long a window of this needle may be: it must not hold white space that could be a longer
 * run, and wrapped text needs two disjoint ones.
 */
function usableLength({ bytes, kind }: NamedNeedle): number {
  if (kind !== 'plain') return bytes.length < 2 * SMALLEST_WINDOW ? SMALLEST_WINDOW : bytes.length >> 1
  let longest = 0
  for (let at = 0, run = 0; at < bytes.length; at++) {
    run = bytes[at] === BLANK ? 0 : run + 1
    longest = Math.max(longest, run)
  }
  return longest
}

function createSearch(
  needles: readonly NamedNeedle[],
  window: number,
): (text: Uint8Array, length: number, found: Found) => void {
  const anchors = chooseAnchors(needles, window)
  const furthest = window - GRAM + 1
  const gramShift =
    32 - Math.min(MOST_GRAM_BITS, Math.max(11, Math.ceil(Math.log2(anchors.length * furthest * 16 + 1))))
  const jump = new Uint8Array(2 ** (32 - gramShift)).fill(furthest)
  const bucketBits = Math.max(8, Math.ceil(Math.log2(anchors.length * 2 + 1)))
  const buckets = new Int32Array(1 << bucketBits).fill(-1)
  const hashes = new Int32Array(anchors.length)
  const next = new Int32Array(anchors.length)
  anchors.forEach(({ needle, offset }, index) => {
    for (let at = 0; at < furthest; at++) {
      const gram = gramAt(needle.bytes, offset + at + GRAM - 1) >>> gramShift
      jump[gram] = Math.min(jump[gram] as number, furthest - 1 - at)
    }
    const hash = tailHash(needle.bytes, offset + window - 1)
    const bucket = hash >>> (32 - bucketBits)
    hashes[index] = hash
    next[index] = buckets[bucket] as number
    buckets[bucket] = index
  })

  /** Anchors that the last text had: thousands of others need not be set back for each stretch of text. */
  const met = new Set<Anchor>()
  return (text, length, found) => {
    for (const anchor of met) anchor.lastStart = NOWHERE
    met.clear()
    let at = window - 1
    while (at < length) {
      const distance = jump[gramAt(text, at) >>> gramShift] as number
      if (distance > 0) {
        at += distance
        continue
      }
      const hash = tailHash(text, at)
      for (let index = buckets[hash >>> (32 - bucketBits)] as number; index >= 0; index = next[index] as number) {
        if (hashes[index] !== hash) continue
        const anchor = anchors[index] as Anchor
        verify(anchor, text, length, at - window + 1, found)
        if (anchor.lastStart !== NOWHERE) met.add(anchor)
      }
      at++
    }
  }
}

/** A window of a needle under which it is entered in the tables. */
interface Anchor {
  readonly needle: NamedNeedle
  readonly offset: number
  /**
   * The shortest shift under which the needle agrees with itself; 0 when it has to be compared
   * with an eye on white space.
   */
  readonly period: number
  lastStart: number
}

/**
 * Picks windows that few other needles share, so that a thousand keys with a common prefix do not meet in one bucket.
 */
function chooseAnchors(needles: readonly NamedNeedle[], window: number): Anchor[] {
  const crowd = new Map<number, number>()
  const choose = (needle: NamedNeedle, first: number, last: number): Anchor => {
    const isPlain = needle.kind === 'plain'
    const hasBlank = needle.bytes.includes(BLANK)
    let best = -1
    let bestCrowd = Infinity
    for (let offset = first; offset <= last && bestCrowd > 0; offset++) {
      if (
        isPlain &&
        hasBlank &&
        window > 0 &&
        last > first &&
        needle.bytes.subarray(offset, offset + window).includes(BLANK)
      )
        continue
      const others = crowd.get(tailHash(needle.bytes, offset + window - 1)) ?? 0
      if (others < bestCrowd) {
        best = offset
        bestCrowd = others
      }
    }
    if (best < 0) best = first // a loose needle: its windows hold blanks, and so does the collapsed text
    const hash = tailHash(needle.bytes, best + window - 1)
    crowd.set(hash, (crowd.get(hash) ?? 0) + 1)
    return { needle, offset: best, period: isPlain && !hasBlank ? smallestPeriod(needle.bytes) : 0, lastStart: NOWHERE }
  }
  return needles.flatMap((needle) => {
    const last = needle.bytes.length - window
    if (needle.kind === 'plain' || last < window) return [choose(needle, 0, last)]
    // A line break can fall into one window of a wrapped encoding, not into both.
    const first = choose(needle, 0, Math.min(last - window, 24))
    return [first, choose(needle, first.offset + window, Math.min(last, first.offset + window + 24))]
  })
}

function gramAt(bytes: Uint8Array, end: number): number {
  const gram =
    (bytes[end - 3] as number) |
    ((bytes[end - 2] as number) << 8) |
    ((bytes[end - 1] as number) << 16) |
    ((bytes[end] as number) << 24)
  return Math.imul(gram, 0x9e3779b1)
}

/** A hash of the last six bytes of a window. */
function tailHash(bytes: Uint8Array, end: number): number {
  const low = (bytes[end - 5] as number) | ((bytes[end - 4] as number) << 8) | ((bytes[end - 3] as number) << 16)
  const high = (bytes[end - 2] as number) | ((bytes[end - 1] as number) << 8) | ((bytes[end] as number) << 16)
  return Math.imul(Math.imul(low, 0x9e3779b1) ^ high, 0x85ebca6b) | 0
}

function verify(anchor: Anchor, text: Uint8Array, length: number, at: number, found: Found): void {
  const { needle, offset, period } = anchor
  const { bytes, kind } = needle
  if (period === 0) {
    const start = matchBackward(text, at - 1, bytes, offset - 1, kind === 'dense')
    const end = start < 0 ? -1 : matchForward(text, length, at, bytes, offset, kind === 'dense')
    if (end >= 0) found(start, end, needle)
    return
  }
  const start = at - offset
  const end = start + bytes.length
  if (start < 0 || end > length) return
  // Overlapping occurrences repeat by the period, and what they have in common need not be compared again:
  // a long value of equal characters would otherwise cost its length at every byte.
  const distance = start - anchor.lastStart
  if (distance < period) return
  for (let index = distance === period ? bytes.length - period : 0; index < bytes.length; index++)
    if (text[start + index] !== bytes[index]) return
  anchor.lastStart = start
  found(start, end, needle)
}

/** Compares from the window to the needle's end; a blank of the needle takes a whole run of white space. */
function matchForward(
  text: Uint8Array,
  length: number,
  start: number,
  bytes: Uint8Array,
  from: number,
  dense: boolean,
): number {
  let at = start
  for (let index = from; index < bytes.length; index++) {
    if (dense) while (at < length && isSpace(text[at] as number)) at++
    if (at >= length) return -1
    if (bytes[index] === BLANK) {
      if (!isSpace(text[at] as number)) return -1
      while (at < length && isSpace(text[at] as number)) at++
      while (bytes[index + 1] === BLANK) index++
    } else if (text[at++] !== bytes[index]) return -1
  }
  return at
}

function matchBackward(text: Uint8Array, start: number, bytes: Uint8Array, from: number, dense: boolean): number {
  let at = start
  for (let index = from; index >= 0; index--) {
    if (dense) while (at >= 0 && isSpace(text[at] as number)) at--
    if (at < 0) return -1
    if (bytes[index] === BLANK) {
      if (!isSpace(text[at] as number)) return -1
      while (at >= 0 && isSpace(text[at] as number)) at--
      while (bytes[index - 1] === BLANK) index--
    } else if (text[at--] !== bytes[index]) return -1
  }
  return at + 1
}

function smallestPeriod(bytes: Uint8Array): number {
  const border = new Int32Array(bytes.length)
  for (let at = 1, length = 0; at < bytes.length; at++) {
    while (length > 0 && bytes[at] !== bytes[length]) length = border[length - 1] as number
    if (bytes[at] === bytes[length]) length++
    border[at] = length
  }
  return bytes.length - (border[bytes.length - 1] ?? 0)
}
