/** Says from where the end of a text may be the beginning of a value: only that much has to be held back. */
import { isSpace } from './bytes.js'
import type { Needle } from './forms.js'
import { endingsOf } from './partial.js'

export interface Prefixes {
  readonly longest: number
  /** The earliest position from which the rest of the text may be the beginning of a needle, or `length`. */
  holdFrom(text: Uint8Array, length: number): number
}

const BLANK = 0x20
/** Runs of white space are followed back this far. */
const FURTHEST_BACK = 16_384

export function createPrefixes(needles: readonly Needle[]): Prefixes {
  const all = createBeginnings(needles)
  // Folded values are found with their line breaks left out, as encodings are.
  const dense = createBeginnings(needles.filter(({ kind, part }) => kind !== 'dump' && !part))
  const endings = createBeginnings(endingsOf(needles))
  let bytes = new Uint8Array(0)
  let from = new Int32Array(0)

  /** The end of the text with its white space collapsed or left out, at least as long as the longest needle. */
  function readTail(text: Uint8Array, length: number, longest: number, keepBlanks: boolean): number {
    for (let reach = longest + 64; ; reach *= 4) {
      const start = Math.max(0, length - Math.min(reach, FURTHEST_BACK + longest))
      if (bytes.length < length - start) {
        bytes = new Uint8Array(length - start)
        from = new Int32Array(length - start)
      }
      let size = 0
      for (let at = start; at < length; at++) {
        const byte = text[at] as number
        if (isSpace(byte)) {
          if (!keepBlanks || (size > 0 && bytes[size - 1] === BLANK)) continue
          bytes[size] = BLANK
        } else bytes[size] = byte
        from[size++] = at
      }
      if (size >= longest || start === 0 || reach >= FURTHEST_BACK) return size
    }
  }

  function earliest(beginnings: Beginnings, text: Uint8Array, length: number, keepBlanks: boolean): number {
    if (beginnings.longest === 0) return length
    const size = readTail(text, length, beginnings.longest, keepBlanks)
    const at = beginnings.earliest(bytes, Math.max(0, size - beginnings.longest + 1), size)
    return at < size ? (from[at] as number) : length
  }

  return {
    longest: all.longest,
    holdFrom(text, length) {
      return Math.min(
        earliest(all, text, length, true),
        earliest(dense, text, length, false),
        earliest(endings, text, length, true),
      )
    },
  }
}

interface Beginnings {
  readonly longest: number
  /**
   * The first position in [start, end) from which the text up to `end` is a proper beginning of a needle, else `end`.
   */
  earliest(text: Uint8Array, start: number, end: number): number
}

function createBeginnings(needles: readonly Needle[]): Beginnings {
  const sorted = needles.map(({ bytes }) => bytes).sort((a, b) => compareSlice(a, b, 0, b.length))
  const firstBytes = new Uint8Array(256)
  const firstPairs = new Uint32Array(2048) // a bit for each pair of bytes
  for (const bytes of sorted) {
    firstBytes[bytes[0] as number] = 1
    const pair = ((bytes[0] as number) << 8) | (bytes[1] as number)
    firstPairs[pair >> 5] = (firstPairs[pair >> 5] as number) | (1 << (pair & 31))
  }

  function isBeginning(text: Uint8Array, start: number, end: number): boolean {
    let low = 0
    let high = sorted.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareSlice(sorted[middle] as Uint8Array, text, start, end) < 0) low = middle + 1
      else high = middle
    }
    // What begins with the slice comes right after it in the order; first the needle that
    // equals it, which is a match and not a beginning.
    const length = end - start
    while (
      low < sorted.length &&
      (sorted[low] as Uint8Array).length === length &&
      compareSlice(sorted[low] as Uint8Array, text, start, end) === 0
    )
      low++
    const candidate = sorted[low]
    return (
      candidate !== undefined &&
      candidate.length > length &&
      compareSlice(candidate.subarray(0, length), text, start, end) === 0
    )
  }

  return {
    longest: sorted.reduce((most, { length }) => Math.max(most, length), 0),
    earliest(text, start, end) {
      for (let at = start; at < end; at++) {
        const first = text[at] as number
        if (firstBytes[first] === 0) continue
        const pair = (first << 8) | (text[at + 1] as number)
        if (at + 1 < end && ((firstPairs[pair >> 5] as number) & (1 << (pair & 31))) === 0) continue
        if (isBeginning(text, at, end)) return at
      }
      return end
    },
  }
}

function compareSlice(bytes: Uint8Array, text: Uint8Array, start: number, end: number): number {
  const length = Math.min(bytes.length, end - start)
  for (let at = 0; at < length; at++) {
    const difference = (bytes[at] as number) - (text[start + at] as number)
    if (difference !== 0) return difference
  }
  return bytes.length - (end - start)
}
