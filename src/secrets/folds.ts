/** Texts with white space folded away, for values that a search of the text itself would miss. Every byte knows where it came from. */
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

/** The ends of lines joined with the beginnings of the next ones, `reach` bytes of each, as if no line had been broken; a NUL after each pair. */
export function joinLineEnds(text: Uint8Array, length: number, reach: number): Fold {
  let room = 256
  let bytes = new Uint8Array(room)
  let from = new Int32Array(room)
  let size = 0
  const copy = (start: number, end: number) => {
    for (let at = start; at < end; at++) {
      bytes[size] = text[at] as number
      from[size++] = at
    }
  }
  for (let newline = text.indexOf(NEWLINE); newline >= 0 && newline < length;) {
    let left = newline
    let right = newline + 1
    while (left > 0 && isSpace(text[left - 1] as number)) left--
    while (right < length && isSpace(text[right] as number)) right++
    if (size + 2 * reach + 1 > room) {
      room *= 4
      bytes = enlarge(bytes, new Uint8Array(room))
      from = enlarge(from, new Int32Array(room))
    }
    copy(Math.max(0, left - reach), left)
    copy(right, Math.min(length, right + reach))
    from[size] = right
    bytes[size++] = 0
    newline = text.indexOf(NEWLINE, right)
  }
  return { bytes, from, size }
}

function enlarge<Numbers extends Uint8Array | Int32Array>(small: Numbers, large: Numbers): Numbers {
  large.set(small)
  return large
}
