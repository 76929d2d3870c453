/**
 * All the shapes a value takes in output without being decoded first: itself, its lines,
 * base64, hex, quoted for a shell.
 */
import { bytesOf, concat, isSpace, latin1 } from './bytes.js'
import { encodedForms, hexPairs } from './encodings.js'
import { collapseSpace } from './folds.js'
import { partsOf } from './partial.js'
import { stripAnsi } from './projections.js'

/**
 * A byte string to look for. A blank in it stands for any run of white space. In a `dense` one
 * (base64, hex) white space between the bytes does not count, because such text gets wrapped; a
 * `dump` has a separator after every byte and gets wrapped there; several blanks in it are any run as well.
 */
export interface Needle {
  readonly bytes: Uint8Array
  readonly kind: NeedleKind
  /** The first or the last bytes of `whole` only: what follows, or comes before, belongs to it as far as it agrees. */
  readonly part?: 'head' | 'tail'
  readonly whole?: Uint8Array
}

export type NeedleKind = 'plain' | 'dense' | 'dump'

/** Shorter values are not masked: they would blank out ordinary words. */
export const SHORTEST_MASKED = 6
/** A single line of a longer value must be at least this long to be looked for alone. */
const SHORTEST_LINE = 8
/** Long values are looked for in overlapping pieces, so that a stream never has to hold back more than a piece. */
const PIECE = 512
const OVERLAP = 32
/** Of a value with more lines, the rest is only found in pieces. */
const MOST_LINES = 2048
/** Longer values are not looked for byte by byte. */
const LONGEST_DUMPED = 16_384

/** Whether output can be searched for this value at all; `secret set` warns when not. */
export function isMaskable(value: Uint8Array): boolean {
  return collapse(trim(value).subarray(0, 4096)).length >= SHORTEST_MASKED
}

/**
 * Everything to look for on behalf of one value, without duplicates. Percent, backslash and
 * entity escapes and ANSI codes are undone in the text instead (see projections).
 */
export function formsOf(value: Uint8Array): readonly Needle[] {
  const whole = trim(value)
  if (!isMaskable(whole)) return []
  const needles = new Map<string, Needle>()
  const add = (bytes: Uint8Array, kind: NeedleKind) => {
    const key = latin1(bytes)
    if (bytes.length >= SHORTEST_MASKED && needles.get(key)?.kind !== 'dense') needles.set(key, { bytes, kind })
  }
  for (const unit of unitsOf(whole)) {
    for (const plain of plainForms(unit)) add(collapse(plain), 'plain')
    for (const part of partsOf(unit)) needles.set(`${part.part} ${latin1(part.whole ?? part.bytes)}`, part)
    for (const encoded of encodedForms(unit)) add(encoded, 'dense')
    if (whole.length <= LONGEST_DUMPED) for (const dump of dumpForms(unit)) add(dump, 'dump')
  }
  return [...needles.values()]
}

/**
 * A value with its white space as it is, and as a terminal writes it, and `od` of it in lines: for a search that
 * knows of no runs of white space.
 */
export function spacedForms(value: Uint8Array): Uint8Array[] {
  if (!isMaskable(value)) return []
  return piecesOf(trim(value)).flatMap((piece) => {
    const text = latin1(piece)
    const spaced = /[\t-\r]| {2}/.test(text) ? [piece, bytesOf(text.replace(/\r?\n/g, '\r\n'))] : []
    if (piece.length <= OD_LINE || piece.length > PIECE) return spaced
    return [...spaced, ...[hexPairs(piece), columnsOf(piece)].map((cells) => bytesOf(inLines(cells)))]
  })
}

/** `od` shows so many bytes in a line. */
const OD_LINE = 16

function inLines(cells: readonly string[]): string {
  return cells
    .map((cell, at) => (at === 0 ? cell.trimStart() : at % OD_LINE === 0 ? `\n ${cell}` : ` ${cell}`))
    .join('')
}

/**
 * The parts of a value that are secret on their own: the whole in pieces, its lines, the lines
 * joined, other spellings of its characters.
 */
function unitsOf(whole: Uint8Array): Uint8Array[] {
  const units = piecesOf(whole)
  const lines = linesOf(whole)
  if (lines.length > 1) {
    for (const line of lines.slice(0, MOST_LINES))
      if (line.length >= SHORTEST_LINE && isTelling(line)) units.push(...piecesOf(line))
    for (const piece of piecesOf(concat(lines))) units.push(piece)
  }
  if (whole.some((byte) => byte > 0x7f)) {
    const text = new TextDecoder().decode(whole)
    // A program that takes the value for text prints replacement characters; the rest must
    // still say enough to be the value.
    if (text.includes('\ufffd')) {
      const printed = new TextEncoder().encode(text)
      if (new TextEncoder().encode(text.replaceAll('\ufffd', '')).length >= SHORTEST_LINE)
        units.push(...piecesOf(printed))
    } else for (const form of ['NFC', 'NFD']) units.push(...piecesOf(new TextEncoder().encode(text.normalize(form))))
  }
  return units
}

function piecesOf(bytes: Uint8Array): Uint8Array[] {
  if (bytes.length <= 2 * PIECE) return [bytes]
  const pieces: Uint8Array[] = []
  for (let at = 0; at < bytes.length - OVERLAP; at += PIECE - OVERLAP) pieces.push(bytes.subarray(at, at + PIECE))
  return pieces
}

/**
 * The frame of a PEM block and rulers of one or two characters are not secret; looked for alone
 * they would blank out harmless text.
 */
function isTelling(line: Uint8Array): boolean {
  return new Set(line).size > 2 && !/^-----(?:BEGIN|END) [A-Z0-9 ]+-----$/.test(latin1(line))
}

const ENTITY: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function plainForms(unit: Uint8Array): Uint8Array[] {
  const forms = [unit]
  const text = latin1(unit)
  // SQL, CSV and YAML double a quote.
  for (const quote of [`'`, '"']) if (text.includes(quote)) forms.push(bytesOf(text.replaceAll(quote, quote + quote)))
  // 'it'\''s' is what bash and most quoters write, 'it'"'"'s' is Python's; the third is the
  // first with its backslash undone.
  if (text.includes("'"))
    for (const quote of [`'\\''`, `'"'"'`, `'''`]) forms.push(bytesOf(text.replaceAll("'", () => quote)))
  if (text.includes('\x1b')) forms.push(stripAnsi(unit))
  // Escapes that were escaped once more: one layer is undone in the text, the other is looked for.
  for (const escaped of [
    JSON.stringify(text).slice(1, -1),
    text.replace(/[^A-Za-z0-9_.~-]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`),
    text.replace(/[&<>"']/g, (char) => ENTITY[char] as string),
  ])
    if (escaped !== text && unit.length <= PIECE) forms.push(bytesOf(escaped))
  return forms
}

/** Dumps byte by byte, as od, xxd and openssl print them, and lists of numbers. */
function dumpForms(unit: Uint8Array): Uint8Array[] {
  const pairs = hexPairs(unit)
  const hex = [' ', ':'].flatMap((separator) => {
    const dump = pairs.join(separator)
    return [bytesOf(dump), bytesOf(dump.toUpperCase())]
  })
  return unit.length <= PIECE ? [...hex, ...decimalForms(unit)] : hex
}

/**
 * Lists of numbers: as JSON, Python and Node print an array of bytes, and as `od -tu1` does. Node and od write
 * the numbers in columns, three characters wide.
 */
function decimalForms(unit: Uint8Array): Uint8Array[] {
  const numbers = Array.from(unit, String)
  const columns = columnsOf(unit)
  return [numbers.join(','), numbers.join(', '), numbers.join(' '), columns.join(' '), columns.join(', ')].map((list) =>
    bytesOf(list.trimStart()),
  )
}

function columnsOf(unit: Uint8Array): string[] {
  return Array.from(unit, (byte) => String(byte).padStart(3))
}

function trim(bytes: Uint8Array): Uint8Array {
  let start = 0
  let end = bytes.length
  while (start < end && isSpace(bytes[start] as number)) start++
  while (end > start && isSpace(bytes[end - 1] as number)) end--
  return bytes.subarray(start, end)
}

/**
 * Every run of white space becomes one blank, as in the text that is searched; a needle neither
 * begins nor ends with one.
 */
function collapse(bytes: Uint8Array): Uint8Array {
  const fold = collapseSpace(bytes, bytes.length)
  return trim(fold.bytes.subarray(0, fold.size))
}

function linesOf(bytes: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = []
  let start = 0
  for (let at = 0; at <= bytes.length; at++) {
    if (at < bytes.length && bytes[at] !== 0x0a && bytes[at] !== 0x0d) continue
    const line = trim(bytes.subarray(start, at))
    if (line.length > 0) lines.push(line)
    start = at + 1
  }
  return lines
}
