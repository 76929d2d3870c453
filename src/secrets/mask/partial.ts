/** Beginnings and ends of values: what is left of one in a column that was cut off. */
import { isSpace } from './bytes.js'
import type { Needle } from './forms.js'

/** A shorter part says too little to be the value's. */
export const SHORTEST_PART = 12
/** The beginning of a longer value is not looked for in columns. */
const LONGEST_WHOLE = 256

/** The first and the last bytes of a value, where they look like nothing else than that value. */
export function partsOf(unit: Uint8Array): Needle[] {
  if (unit.length <= SHORTEST_PART || unit.length > LONGEST_WHOLE || unit.some(isSpace)) return []
  const parts: Needle[] = [
    { bytes: unit.subarray(0, SHORTEST_PART), kind: 'plain', part: 'head', whole: unit },
    { bytes: unit.subarray(unit.length - SHORTEST_PART), kind: 'plain', part: 'tail', whole: unit },
  ]
  return parts.filter(({ bytes }) => isRandom(bytes))
}

/**
 * Letters and digits that change places often, as in a key. The names of kinds (`github_pat_1`, `sk-ant-api03`),
 * addresses (`https://hook`), words and plain numbers stand in much text that has nothing to do with the value.
 */
function isRandom(part: Uint8Array): boolean {
  let changes = 0
  let before = 0
  for (const byte of part) {
    const kind = classOf(byte)
    if (kind === 0) continue
    if (before !== 0 && kind !== before) changes++
    before = kind
  }
  return changes >= 3
}

/** 1 for a digit, 2 for a small letter, 3 for a capital, 0 for the rest. */
function classOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return 1
  if (byte >= 0x61 && byte <= 0x7a) return 2
  return byte >= 0x41 && byte <= 0x5a ? 3 : 0
}

/** How far a found part goes on as its value does: to the right from a head, to the left from a tail. */
export function extend(text: Uint8Array, length: number, start: number, end: number, needle: Needle): [number, number] {
  const { part, whole } = needle
  if (!whole) return [start, end]
  if (part === 'head') {
    let at = end
    while (at < length && at - start < whole.length && text[at] === whole[at - start]) at++
    return [start, at]
  }
  let at = start
  while (at > 0 && end - at < whole.length && text[at - 1] === whole[whole.length - (end - at) - 1]) at--
  return [at, end]
}

/** Every end of the values whose tails are looked for: output that stops in the middle of one waits for the rest. */
export function endingsOf(needles: readonly Needle[]): Needle[] {
  return needles.flatMap(({ part, whole, kind }) =>
    part === 'tail' && whole
      ? Array.from({ length: whole.length - SHORTEST_PART }, (_, at) => ({ bytes: whole.subarray(at + 1), kind }))
      : [],
  )
}
