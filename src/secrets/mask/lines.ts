/**
 * Values that lines take apart: folded ones, and dumps of bytes with offsets and columns
 * (`xxd`, `hexdump -C`, `od -tx1`, `od -tu1`).
 */
import { hexDigit, isSpace } from './bytes.js'
import type { Needle } from './forms.js'

/**
 * A text made of others' bytes: where each of them begins and ends in the raw one. Its buffers
 * are reused: it is valid until the next one.
 */
export interface LineView {
  readonly bytes: Uint8Array
  readonly from: Int32Array
  readonly to: Int32Array
  readonly size: number
}

const NEWLINE = 0x0a
const GRAM_BITS = 21
/** A dump shows so many bytes in a line, unless it is told otherwise. */
const BYTES_PER_LINE = 16
const LEAST_OFFSET = 6
const MOST_OFFSET = 16
/** Of a dump, so many bytes are read at once. */
const MOST_LINES = 4_096

/** Says whether four bytes at the end of a line, and four at the beginning of the next, can be those of one value. */
export interface FoldTable {
  readonly longest: number
  readonly members: Uint8Array
  isFold(raw: Uint8Array, newline: number): boolean
}

export function createFoldTable(needles: readonly Needle[]): FoldTable {
  const folded = needles.filter(({ kind, part, bytes }) => kind === 'plain' && !part && bytes.length >= 8)
  const members = new Uint8Array(256)
  for (const { bytes } of folded) for (const byte of bytes) members[byte] = members[0x0d] = 1
  const grams = new Uint32Array(1 << (GRAM_BITS - 5))
  const slot = (bytes: Uint8Array, at: number): number =>
    Math.imul(
      (bytes[at] as number) |
        ((bytes[at + 1] as number) << 8) |
        ((bytes[at + 2] as number) << 16) |
        ((bytes[at + 3] as number) << 24),
      0x9e3779b1,
    ) >>>
    (32 - GRAM_BITS)
  for (const { bytes } of folded)
    for (let at = 0; at + 4 <= bytes.length; at++) {
      const bit = slot(bytes, at)
      grams[bit >> 5] = (grams[bit >> 5] as number) | (1 << (bit & 31))
    }
  const has = (raw: Uint8Array, at: number): boolean => {
    const bit = slot(raw, at)
    return ((grams[bit >> 5] as number) & (1 << (bit & 31))) !== 0
  }
  return {
    members,
    longest: folded.reduce((most, { bytes }) => Math.max(most, bytes.length), 0),
    isFold(raw, newline) {
      const before = raw[newline - 1] === 0x0d ? newline - 1 : newline
      if (before < 4 || !has(raw, before - 4)) return false
      let after = newline + 1
      while (after < raw.length && isSpace(raw[after] as number)) after++
      return after + 4 <= raw.length && has(raw, after)
    },
  }
}

/** The text around a line break, with the breaks and what indents the next lines left out. */
export function joinLines(raw: Uint8Array, newline: number, reach: number): LineView {
  const start = Math.max(0, newline - reach)
  const end = Math.min(raw.length, newline + reach)
  const view = viewFor(end - start)
  let size = 0
  for (let at = start; at < end; at++) {
    if (isSpace(raw[at] as number)) continue
    view.bytes[size] = raw[at] as number
    view.from[size] = at
    view.to[size++] = at + 1
  }
  return { ...view, size }
}

/** Whether a line of a dump may begin here. Looks at few bytes: it is asked at every line. */
export function mayBeDump(raw: Uint8Array, at: number): boolean {
  for (let index = at; index < at + LEAST_OFFSET; index++) {
    if (index >= raw.length) return true
    if (hexDigit(raw[index] as number) < 0) return false
  }
  return true
}

interface DumpLine {
  /** Behind the line and its break; -1 when the text ends within it. */
  readonly end: number
  readonly count: number
}

/** The bytes that the dump from `start` on shows, line by line; `hold` is where an unfinished line begins, or -1. */
export function readDump(raw: Uint8Array, start: number): { view: LineView; end: number; hold: number } {
  const lines = Math.min(MOST_LINES, Math.ceil((raw.length - start) / 10) + 1)
  const view = viewFor(lines * BYTES_PER_LINE)
  let size = 0
  let at = start
  for (let line = 0; line < lines && at < raw.length; line++) {
    const read = readLine(raw, at, view, size)
    if (!read) break
    size += read.count
    if (read.end < 0) return { view: { ...view, size }, end: raw.length, hold: at }
    // What is masked of a line is masked to its end: the column of characters shows the same bytes.
    at = read.end
  }
  return { view: { ...view, size }, end: at, hold: -1 }
}

function readLine(raw: Uint8Array, start: number, view: Omit<LineView, 'size'>, size: number): DumpLine | null {
  let at = start
  while (at < raw.length && at - start <= MOST_OFFSET && hexDigit(raw[at] as number) >= 0) at++
  if (at >= raw.length) return at - start <= MOST_OFFSET ? { end: -1, count: 0 } : null
  if (at - start < LEAST_OFFSET || at - start > MOST_OFFSET) return null
  if (raw[at] === 0x3a) at++
  if (at < raw.length && raw[at] !== 0x20 && raw[at] !== 0x09 && raw[at] !== NEWLINE) return null
  let count = 0
  for (; count < BYTES_PER_LINE && isDecimalCell(raw, at); at += 4) {
    view.bytes[size + count] = Number(String.fromCharCode(...raw.subarray(at + 1, at + 4)))
    view.from[size + count++] = at + 1
  }
  // What the end of the text cut off may be either kind of number.
  if (count < BYTES_PER_LINE && at + 7 >= raw.length && raw.indexOf(NEWLINE, at) < 0) {
    view.to.fill(raw.length, size, size + count)
    return { end: -1, count }
  }
  while (count < BYTES_PER_LINE) {
    const begin = at
    while (at < raw.length && at - begin < 3 && (raw[at] === 0x20 || raw[at] === 0x09)) at++
    if (at + 1 >= raw.length) break
    const high = hexDigit(raw[at] as number)
    const low = hexDigit(raw[at + 1] as number)
    if (high < 0 || low < 0) break
    view.bytes[size + count] = high * 16 + low
    view.from[size + count] = at
    at += 2
    count++
  }
  let end = at
  while (end < raw.length && raw[end] !== NEWLINE && end - start < 512) end++
  const isWhole = raw[end] === NEWLINE
  for (let index = 0; index < count; index++) view.to[size + index] = end
  if (!isWhole) return end >= raw.length ? { end: -1, count } : null
  return count > 0 ? { end: end + 1, count } : null
}

/** A number in a column of four, as `od -tu1` writes it, and another one or the end of the line behind it. */
function isDecimalCell(raw: Uint8Array, at: number): boolean {
  if (raw[at] !== 0x20 || !isDigit(raw[at + 3])) return false
  if (raw[at + 1] !== 0x20 && !(isDigit(raw[at + 1]) && isDigit(raw[at + 2]))) return false
  if (raw[at + 2] !== 0x20 && !isDigit(raw[at + 2])) return false
  return raw[at + 4] === NEWLINE || (raw[at + 4] === 0x20 && isDigit(raw[at + 7]))
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39
}

let reused: Omit<LineView, 'size'> = { bytes: new Uint8Array(0), from: new Int32Array(0), to: new Int32Array(0) }

/** The same buffers each time: every line that begins with a number is tried as a dump. */
function viewFor(room: number): Omit<LineView, 'size'> {
  if (reused.bytes.length < room)
    reused = { bytes: new Uint8Array(room), from: new Int32Array(room), to: new Int32Array(room) }
  return reused
}
