/**
 * Texts with white space folded away, for values that a search of the text itself would miss.
 * Every byte knows where it came from.
 */
import { isSpace } from './bytes.js'

export interface Fold {
  readonly bytes: Uint8Array
  /** Where each byte stands in the text. */
  readonly from: Int32Array
  readonly size: number
}

const BLANK = 0x20
const NEWLINE = 0x0a

/** Every run of white space as one blank. */
export function collapseSpace(text: Uint8Array, length: number): Fold {
  const bytes = new Uint8Array(length)
  const from = new Int32Array(length)
  let size = 0
  for (let at = 0; at < length; at++) {
    const space = isSpace(text[at] as number)
    if (space && size > 0 && bytes[size - 1] === BLANK) continue
    bytes[size] = space ? BLANK : (text[at] as number)
    from[size++] = at
  }
  return { bytes, from, size }
}

/**
 * The ends of lines joined with the beginnings of the next ones, as if no line had been broken; a NUL after each pair.
 * Only bytes of `members` are taken, `reach` of them on each side, and a pair only when it has `least` of them.
 */
export function joinLineEnds(
  text: Uint8Array,
  length: number,
  members: Uint8Array,
  least: number,
  reach: number,
): Fold {
  const bytes: number[] = []
  const from: number[] = []
  for (let at = 0; at < length; at++) {
    if (text[at] !== NEWLINE) continue
    let left = at
    let right = at + 1
    while (left > 0 && isSpace(text[left - 1] as number)) left--
    while (right < length && isSpace(text[right] as number)) right++
    let start = left
    let end = right
    while (start > 0 && left - start < reach && members[text[start - 1] as number] === 1) start--
    if (start < left) while (end < length && end - right < reach && members[text[end] as number] === 1) end++
    if (end > right && left - start + end - right >= least) {
      for (let index = start; index < end; index++) {
        if (index === left) index = right
        bytes.push(text[index] as number)
        from.push(index)
      }
      bytes.push(0)
      from.push(right)
    }
    at = right - 1
  }
  return { bytes: Uint8Array.from(bytes), from: Int32Array.from(from), size: bytes.length }
}
