/** Finds any of thousands of byte strings at a cost that hardly depends on how many there are: it looks at every third or fourth position only. */
import type { Needle } from './forms.js'

/** A needle and what its match is called. */
export interface NamedNeedle extends Needle {
  readonly owner: number
}

/** Where a needle was found in the searched bytes. */
export type Found = (start: number, end: number, needle: NamedNeedle) => void

export interface NeedleIndex {
  readonly longest: number
  readonly shortest: number
  /** Reports every occurrence, in no particular order; occurrences may overlap. */
  search(text: Uint8Array, length: number, found: Found): void
  /** The earliest position from which the rest of the text is the beginning of a needle, or `length`. */
  holdFrom(text: Uint8Array, length: number): number
}

// Every needle has at least WINDOW bytes. One window of it (two for a dense one) is entered into the tables;
// a gram of the text that is in no window lets the search jump, as in the algorithm of Wu and Manber.
const WINDOW = 6
const GRAM = 3
const FURTHEST = WINDOW - GRAM + 1
const GRAM_BITS = 16
const BLANK = 0x20

export function createNeedleIndex(needles: readonly NamedNeedle[]): NeedleIndex {
  const anchors = chooseAnchors(needles)
  const jump = new Uint8Array(1 << GRAM_BITS).fill(FURTHEST)
  const bucketBits = Math.max(8, Math.ceil(Math.log2(anchors.length * 2 + 1)))
  const buckets = new Int32Array(1 << bucketBits).fill(-1)
  const hashes = new Int32Array(anchors.length)
  const next = new Int32Array(anchors.length)
  anchors.forEach(({ needle, offset }, index) => {
    for (let at = 0; at < FURTHEST; at++) {
      const gram = gramAt(needle.bytes, offset + at + GRAM - 1)
      jump[gram] = Math.min(jump[gram] as number, FURTHEST - 1 - at)
    }
    const hash = windowHash(needle.bytes, offset)
    const bucket = hash >>> (32 - bucketBits)
    hashes[index] = hash
    next[index] = buckets[bucket] as number
    buckets[bucket] = index
  })
  const prefixes = createPrefixes(needles)
  const densePrefixes = createPrefixes(needles.filter(({ dense }) => dense))
  const despaced = { bytes: new Uint8Array(2 * densePrefixes.longest), from: new Int32Array(2 * densePrefixes.longest) }
  const lastStart = new Int32Array(needles.length)
  const periods = needles.map(({ bytes }) => (bytes.length > 2 * WINDOW ? smallestPeriod(bytes) : bytes.length))
  const numbers = new Map(needles.map((needle, index) => [needle, index]))
  const anchorNeedle = anchors.map(({ needle }) => numbers.get(needle) as number)

  function verify(text: Uint8Array, length: number, window: number, anchor: number, found: Found): void {
    const { needle, offset } = anchors[anchor] as Anchor
    if (needle.dense) {
      const start = matchDenseBackward(text, window - 1, needle.bytes, offset - 1)
      const end = start < 0 ? -1 : matchDenseForward(text, length, window, needle.bytes, offset)
      if (end >= 0) found(start, end, needle)
      return
    }
    const start = window - offset
    const end = start + needle.bytes.length
    if (start < 0 || end > length) return
    const { bytes } = needle
    const number = anchorNeedle[anchor] as number
    // Overlapping occurrences of one needle repeat by its period: the common part need not be compared again.
    const distance = start - (lastStart[number] as number)
    const period = periods[number] as number
    if (distance < period) return
    for (let at = distance === period ? bytes.length - period : 0; at < bytes.length; at++) if (text[start + at] !== bytes[at]) return
    lastStart[number] = start
    found(start, end, needle)
  }

  return {
    longest: prefixes.longest,
    shortest: needles.reduce((least, { bytes }) => Math.min(least, bytes.length), Infinity),
    search(text, length, found) {
      lastStart.fill(-1 << 30)
      let at = WINDOW - 1
      while (at < length) {
        const gram = (((text[at - 2] as number) << 8) ^ ((text[at - 1] as number) << 4) ^ (text[at] as number)) & 0xffff
        const distance = jump[gram] as number
        if (distance > 0) {
          at += distance
          continue
        }
        const window = at - WINDOW + 1
        const hash = windowHash(text, window)
        for (let anchor = buckets[hash >>> (32 - bucketBits)] as number; anchor >= 0; anchor = next[anchor] as number) {
          if (hashes[anchor] === hash) verify(text, length, window, anchor, found)
        }
        at++
      }
    },
    holdFrom(text, length) {
      const plain = prefixes.earliest(text, Math.max(0, length - prefixes.longest + 1), length)
      const start = Math.max(0, length - despaced.bytes.length)
      if (densePrefixes.longest === 0 || text.indexOf(BLANK, start) < 0) return plain
      let size = 0
      for (let at = start; at < length; at++) {
        if (text[at] === BLANK) continue
        despaced.bytes[size] = text[at] as number
        despaced.from[size++] = at
      }
      const dense = densePrefixes.earliest(despaced.bytes, Math.max(0, size - densePrefixes.longest + 1), size)
      return dense < size ? Math.min(plain, despaced.from[dense] as number) : plain
    },
  }
}

interface Anchor {
  readonly needle: NamedNeedle
  readonly offset: number
}

/** Picks the window of each needle that fewest others share, so that a thousand keys with a common prefix do not meet in one bucket. */
function chooseAnchors(needles: readonly NamedNeedle[]): Anchor[] {
  const crowd = new Map<number, number>()
  const choose = (needle: NamedNeedle, first: number, last: number): Anchor => {
    let best = first
    for (let offset = first; offset <= last; offset++) {
      if ((crowd.get(windowHash(needle.bytes, offset)) ?? 0) < (crowd.get(windowHash(needle.bytes, best)) ?? 0)) best = offset
      if (!crowd.has(windowHash(needle.bytes, best))) break
    }
    const hash = windowHash(needle.bytes, best)
    crowd.set(hash, (crowd.get(hash) ?? 0) + 1)
    return { needle, offset: best }
  }
  return needles.flatMap((needle) => {
    const last = needle.bytes.length - WINDOW
    if (!needle.dense || last < WINDOW) return [choose(needle, 0, Math.min(last, 48))]
    // A line break can fall into one window of a wrapped encoding, not into both.
    const first = choose(needle, 0, Math.min(last - WINDOW, 24))
    return [first, choose(needle, first.offset + WINDOW, Math.min(last, first.offset + WINDOW + 24))]
  })
}

function gramAt(bytes: Uint8Array, end: number): number {
  return (((bytes[end - 2] as number) << 8) ^ ((bytes[end - 1] as number) << 4) ^ (bytes[end] as number)) & 0xffff
}

function windowHash(bytes: Uint8Array, at: number): number {
  const low = (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16)
  const high = (bytes[at + 3] as number) | ((bytes[at + 4] as number) << 8) | ((bytes[at + 5] as number) << 16)
  return Math.imul(Math.imul(low, 0x9e3779b1) ^ high, 0x85ebca6b) | 0
}

function matchDenseForward(text: Uint8Array, length: number, start: number, bytes: Uint8Array, from: number): number {
  let at = start
  for (let index = from; index < bytes.length; index++, at++) {
    while (at < length && text[at] === BLANK) at++
    if (at >= length || text[at] !== bytes[index]) return -1
  }
  return at
}

function matchDenseBackward(text: Uint8Array, start: number, bytes: Uint8Array, from: number): number {
  let at = start
  for (let index = from; index >= 0; index--, at--) {
    while (at >= 0 && text[at] === BLANK) at--
    if (at < 0 || text[at] !== bytes[index]) return -1
  }
  return at + 1
}

/** The shortest shift under which the bytes agree with themselves. */
function smallestPeriod(bytes: Uint8Array): number {
  const border = new Int32Array(bytes.length)
  for (let at = 1, length = 0; at < bytes.length; at++) {
    while (length > 0 && bytes[at] !== bytes[length]) length = border[length - 1] as number
    if (bytes[at] === bytes[length]) length++
    border[at] = length
  }
  return bytes.length - (border[bytes.length - 1] ?? 0)
}

interface Prefixes {
  readonly longest: number
  /** The first position in [start, end) from which the text up to `end` is a proper beginning of a needle, else `end`. */
  earliest(text: Uint8Array, start: number, end: number): number
}

function createPrefixes(needles: readonly Needle[]): Prefixes {
  const sorted = needles.map(({ bytes }) => bytes).sort(compareBytes)
  const longest = sorted.reduce((most, bytes) => Math.max(most, bytes.length), 0)
  const firstBytes = new Uint8Array(256)
  const firstPairs = new Uint8Array(65_536)
  for (const bytes of sorted) {
    firstBytes[bytes[0] as number] = 1
    firstPairs[((bytes[0] as number) << 8) | (bytes[1] as number)] = 1
  }
  const begins = (text: Uint8Array, start: number, end: number): boolean => {
    let low = 0
    let high = sorted.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareSlice(sorted[middle] as Uint8Array, text, start, end) < 0) low = middle + 1
      else high = middle
    }
    // The needles that begin with the slice come right after it, except one that equals it: that is a whole match, not a beginning.
    for (; low < sorted.length; low++) {
      const bytes = sorted[low] as Uint8Array
      if (bytes.length < end - start || compareSlice(bytes.subarray(0, end - start), text, start, end) !== 0) return false
      if (bytes.length > end - start) return true
    }
    return false
  }
  return {
    longest,
    earliest(text, start, end) {
      for (let at = start; at < end; at++) {
        const first = text[at] as number
        if (firstBytes[first] === 0) continue
        if (at + 1 < end && firstPairs[(first << 8) | (text[at + 1] as number)] === 0) continue
        if (begins(text, at, end)) return at
      }
      return end
    },
  }
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return compareSlice(a, b, 0, b.length)
}

function compareSlice(bytes: Uint8Array, text: Uint8Array, start: number, end: number): number {
  const length = Math.min(bytes.length, end - start)
  for (let at = 0; at < length; at++) {
    const difference = (bytes[at] as number) - (text[start + at] as number)
    if (difference !== 0) return difference
  }
  return bytes.length - (end - start)
}
