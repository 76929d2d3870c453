/** Views of a text in which an encoded value shows itself: one kind of escape undone, terminal codes left out. Each byte of a view knows where it came from. */

/** A view of raw bytes. Its buffers are reused: it is valid until the next `project`. */
export interface View {
  bytes: Uint8Array
  length: number
  /** The view is made of stretches of raw text: stretch k begins at `viewAt[k]` and at `rawAt[k]`. */
  viewAt: Int32Array
  rawAt: Int32Array
  stretches: number
  /** Where an escape begins that the end of the text cut in two, or -1. */
  cut: number
}

/** A way to look at a text. Only the surroundings of its trigger byte can look different from the text itself. */
export interface Projection {
  readonly trigger: number
  readonly decode: Decoder
  /** 1 for the bytes that the decoder wants to see. */
  readonly special: Uint8Array
}

/** What an escape stands for: filled by a decoder, read by the loop. */
interface Escape {
  width: number
  code: number
  isByte: boolean
}

/** Answers 0: no escape here; 1: described in `into`; -1: the text ends inside an escape. */
type Decoder = (raw: Uint8Array, at: number, into: Escape) => -1 | 0 | 1

const ESC = 0x1b
const PERCENT = 0x25
const PLUS = 0x2b
const BACKSLASH = 0x5c
const AMPERSAND = 0x26

export const PROJECTIONS: readonly Projection[] = [
  { trigger: ESC, decode: () => 0, special: tableOf(ESC) },
  { trigger: PERCENT, decode: decodePercent, special: tableOf(ESC, PERCENT) },
  { trigger: PLUS, decode: decodeForm, special: tableOf(ESC, PERCENT, PLUS) },
  { trigger: BACKSLASH, decode: decodeBackslash, special: tableOf(ESC, BACKSLASH) },
  { trigger: AMPERSAND, decode: decodeEntity, special: tableOf(ESC, AMPERSAND) },
]

/** The number of the projection that a byte triggers, counted from 1. */
const TRIGGERS = new Uint8Array(256)
PROJECTIONS.forEach(({ trigger }, index) => {
  TRIGGERS[trigger] = index + 1
})

/** A plus sign stands for a blank only, which most values do not have. */
const TRIGGERS_WITHOUT_PLUS = TRIGGERS.with(PLUS, 0)

function tableOf(...bytes: readonly number[]): Uint8Array {
  const table = new Uint8Array(256)
  for (const byte of bytes) table[byte] = 1
  return table
}

/** What the values are made of, as far as it says which escapes matter. */
export interface Material {
  /** 1 for every byte that an escape could stand for; white space counts when a value has some. */
  readonly alphabet: Uint8Array
  /** 1 for every byte that can stand between the ends of a match. */
  readonly body: Uint8Array
  /** No match has fewer bytes. */
  readonly shortest: number
}

/**
 * Where each projection could uncover something: the escapes that stand for a byte of the alphabet, and the terminal codes between two such bytes,
 * with enough bytes of values around them. Quotes escaped in JSON, blanks in URLs, colours at word boundaries and the backslashes of binary data
 * are the mass of all escapes, and they fall through here.
 */
export function findEscapes(raw: Uint8Array, material: Material): readonly (readonly number[])[] {
  const places: number[][] = PROJECTIONS.map(() => [])
  const escape: Escape = { width: 0, code: 0, isByte: true }
  const { alphabet } = material
  const { length } = raw
  const triggers = alphabet[0x20] === 1 ? TRIGGERS : TRIGGERS_WITHOUT_PLUS
  let consumed = 0
  for (let at = 0; ; at++) {
    // Four at a time: this loop sees every byte of the output.
    while (
      at + 4 <= length &&
      ((triggers[raw[at] as number] as number) | (triggers[raw[at + 1] as number] as number) | (triggers[raw[at + 2] as number] as number) | (triggers[raw[at + 3] as number] as number)) === 0
    )
      at += 4
    while (at < length && triggers[raw[at] as number] === 0) at++
    if (at >= length) return places
    const kind = triggers[raw[at] as number] as number
    if (kind === 1) {
      const end = skipAnsi(raw, at)
      const next = raw[end]
      const isBetween = at > 0 && alphabet[raw[at - 1] as number] === 1 && (next === undefined || next === ESC || alphabet[next] === 1)
      if (isBetween && isAmongValues(raw, at, end, consumed, material)) places[0]?.push(at)
      consumed = Math.max(consumed, end)
      continue
    }
    const answer = (PROJECTIONS[kind - 1] as Projection).decode(raw, at, escape)
    if (answer === 0) continue
    const end = at + escape.width
    const isWanted = alphabet[escape.code & 0xff] === 1 || (!escape.isByte && escape.code >= 0x80)
    if (answer === -1 || (isWanted && isAmongValues(raw, at, end, consumed, material))) places[kind - 1]?.push(at)
    if (answer === 1) consumed = Math.max(consumed, end)
    if (raw[at] === BACKSLASH && raw[at + 1] === BACKSLASH) at++ // the second one escapes nothing
  }
}

/**
 * Whether the escape from `start` to `end` could be part of a match: it and its neighbours that occur in values must be as many as the shortest one has.
 * Another escape in the neighbourhood may stand for anything, and so may what follows the end of the text.
 */
function isAmongValues(raw: Uint8Array, start: number, end: number, consumed: number, { body, shortest }: Material): boolean {
  const missing = shortest - 4 // an escape is four bytes of UTF-8 at most
  let left = start
  while (left > consumed && start - left < missing && body[raw[left - 1] as number] === 1) left--
  if (left <= consumed && left > 0) return true
  let right = end
  while (right < raw.length && start - left + right - end < missing && body[raw[right] as number] === 1) right++
  return right >= raw.length || start - left + right - end >= missing || TRIGGERS[raw[right] as number] !== 0
}

export function createView(): View {
  return { bytes: new Uint8Array(0), length: 0, viewAt: new Int32Array(0), rawAt: new Int32Array(0), stretches: 0, cut: -1 }
}

/** Fills the view with the raw bytes from `start` to `end`, decoded. Terminal codes are left out as well, unless a value holds an escape character itself. */
export function project({ trigger, decode, special }: Projection, raw: Uint8Array, start: number, end: number, alphabet: Uint8Array, view: View): void {
  const keepsCodes = trigger !== ESC && alphabet[ESC] === 1
  if (view.bytes.length < end - start) {
    view.bytes = new Uint8Array(end - start)
    view.viewAt = new Int32Array(end - start + 1)
    view.rawAt = new Int32Array(end - start + 1)
  }
  const { bytes, viewAt, rawAt } = view
  const escape: Escape = { width: 0, code: 0, isByte: true }
  let size = 0
  let stretches = 0
  let at = start
  view.cut = -1
  while (at < end) {
    // A stretch begins with whatever stands here, special or not, and goes on to the next special byte.
    viewAt[stretches] = size
    rawAt[stretches++] = at
    while (at < end && special[raw[at] as number] === 0) bytes[size++] = raw[at++] as number
    if (at >= end) break
    if (raw[at] === ESC && !keepsCodes) {
      at = skipAnsi(raw, at)
      continue
    }
    const answer = decode(raw, at, escape)
    if (answer === -1) {
      view.cut = at
      break
    }
    if (answer === 0) bytes[size++] = raw[at++] as number
    else {
      if (escape.isByte || escape.code < 0x80) bytes[size++] = escape.code
      else {
        for (const part of utf8(escape.code)) {
          viewAt[stretches] = size
          rawAt[stretches++] = at
          bytes[size++] = part
        }
      }
      at += escape.width
    }
  }
  view.length = size
  view.stretches = stretches
}

/** Where byte `index` of the view begins in the raw text. */
export function startOf(view: View, index: number): number {
  let low = 0
  let high = view.stretches
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if ((view.viewAt[middle] as number) <= index) low = middle
    else high = middle
  }
  return (view.rawAt[low] as number) + index - (view.viewAt[low] as number)
}

/** Where byte `index` of the view ends in the raw text. */
export function endOf({ decode }: Projection, raw: Uint8Array, view: View, index: number): number {
  const at = startOf(view, index)
  const escape: Escape = { width: 0, code: 0, isByte: true }
  return decode(raw, at, escape) === 1 ? at + escape.width : at + 1
}

function utf8(code: number): number[] {
  if (code < 0x800) return [0xc0 | (code >> 6), 0x80 | (code & 0x3f)]
  if (code < 0x10000) return [0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)]
  return [0xf0 | (code >> 18), 0x80 | ((code >> 12) & 0x3f), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)]
}

/** The bytes without terminal codes. */
export function stripAnsi(raw: Uint8Array): Uint8Array {
  const view = createView()
  project(PROJECTIONS[0] as Projection, raw, 0, raw.length, new Uint8Array(256), view)
  return view.bytes.slice(0, view.length)
}

/** Past the control sequence that begins here. Strings (titles, links) longer than 4 kB are not believed. */
function skipAnsi(raw: Uint8Array, start: number): number {
  const kind = raw[start + 1]
  let at = start + 2
  if (kind === 0x5b) {
    while (at < raw.length && (raw[at] as number) >= 0x20 && (raw[at] as number) <= 0x3f) at++
    return Math.min(at + 1, raw.length)
  }
  if (kind === 0x5d || kind === 0x50 || kind === 0x5e || kind === 0x5f || kind === 0x58) {
    const limit = Math.min(raw.length, start + 4096)
    for (; at < limit; at++) {
      if (raw[at] === 0x07) return at + 1
      if (raw[at] === ESC) return raw[at + 1] === 0x5c ? at + 2 : at
    }
    return limit < raw.length ? start + 2 : raw.length
  }
  if (kind !== undefined && kind >= 0x20 && kind <= 0x2f) {
    while (at < raw.length && (raw[at] as number) >= 0x20 && (raw[at] as number) <= 0x2f) at++
    return Math.min(at + 1, raw.length)
  }
  return Math.min(start + 2, raw.length)
}

function decodePercent(raw: Uint8Array, at: number, into: Escape): -1 | 0 | 1 {
  if (raw[at] !== PERCENT) return 0
  if (at + 1 >= raw.length) return -1
  const high = hexDigit(raw[at + 1])
  if (high < 0) return 0
  if (at + 2 >= raw.length) return -1
  const low = hexDigit(raw[at + 2])
  return low < 0 ? 0 : byteFound(into, 3, high * 16 + low)
}

function decodeForm(raw: Uint8Array, at: number, into: Escape): -1 | 0 | 1 {
  return raw[at] === PLUS ? byteFound(into, 1, 0x20) : decodePercent(raw, at, into)
}

const CONTROLS = new Map(Object.entries({ n: 10, t: 9, r: 13, b: 8, f: 12, v: 11, a: 7, e: 27, E: 27 }).map(([letter, code]) => [letter.charCodeAt(0), code]))

/** The backslash escapes of JSON, C, bash's `$'...'`, `%q`, Python and JavaScript, which agree wherever they overlap. */
function decodeBackslash(raw: Uint8Array, at: number, into: Escape): -1 | 0 | 1 {
  if (raw[at] !== BACKSLASH) return 0
  const next = raw[at + 1]
  if (next === undefined) return -1
  const control = CONTROLS.get(next)
  if (control !== undefined) return byteFound(into, 2, control)
  if (next === 0x78) return hexEscape(raw, at, 2, true, into)
  if (next === 0x75) return unicodeEscape(raw, at, into)
  if (next === 0x55) return hexEscape(raw, at, 8, false, into)
  if (next >= 0x30 && next <= 0x37) {
    let code = 0
    let width = 1
    while (width < 4) {
      const digit = raw[at + width]
      if (digit === undefined) return -1
      if (digit < 0x30 || digit > 0x37) break
      code = code * 8 + digit - 0x30
      width++
    }
    return byteFound(into, width, code & 0xff)
  }
  return byteFound(into, 2, next)
}

function hexEscape(raw: Uint8Array, at: number, digits: number, isByte: boolean, into: Escape): -1 | 0 | 1 {
  let code = 0
  for (let index = 0; index < digits; index++) {
    const digit = hexDigit(raw[at + 2 + index])
    if (at + 2 + index >= raw.length) return -1
    if (digit < 0) {
      if (index === 0) return byteFound(into, 2, raw[at + 1] as number)
      return isByte ? byteFound(into, 2 + index, code) : codeFound(into, 2 + index, code)
    }
    code = code * 16 + digit
  }
  return isByte ? byteFound(into, 2 + digits, code) : codeFound(into, 2 + digits, code)
}

/** `\uXXXX`, a surrogate pair of them, or `\u{X...}`. */
function unicodeEscape(raw: Uint8Array, at: number, into: Escape): -1 | 0 | 1 {
  if (raw[at + 2] === 0x7b) {
    let code = 0
    for (let index = at + 3; index < at + 10; index++) {
      if (index >= raw.length) return -1
      if (raw[index] === 0x7d) return codeFound(into, index + 1 - at, code)
      code = code * 16 + Math.max(0, hexDigit(raw[index]))
    }
    return 0
  }
  const first = hexEscape(raw, at, 4, false, into)
  if (first !== 1 || into.width !== 6 || into.code < 0xd800 || into.code > 0xdbff) return first
  const high = into.code
  if (at + 7 >= raw.length) return -1
  if (raw[at + 6] !== BACKSLASH || raw[at + 7] !== 0x75) return codeFound(into, 6, 0xfffd)
  if (hexEscape(raw, at + 6, 4, false, into) === -1) return -1
  if (into.code < 0xdc00 || into.code > 0xdfff) return codeFound(into, 6, 0xfffd)
  return codeFound(into, 12, 0x10000 + ((high - 0xd800) << 10) + (into.code - 0xdc00))
}

const ENTITIES = new Map([
  ['lt', 0x3c],
  ['gt', 0x3e],
  ['amp', 0x26],
  ['quot', 0x22],
  ['apos', 0x27],
  ['nbsp', 0x20],
  ['sol', 0x2f],
  ['colon', 0x3a],
  ['commat', 0x40],
])

function decodeEntity(raw: Uint8Array, at: number, into: Escape): -1 | 0 | 1 {
  if (raw[at] !== AMPERSAND) return 0
  let name = ''
  for (let index = at + 1; index < at + 12; index++) {
    const byte = raw[index]
    if (byte === undefined) return -1
    if (byte === 0x3b) {
      const digits = /^#(?:x([0-9a-f]+)|([0-9]+))$/i.exec(name)
      const code = digits ? Number.parseInt(digits[1] ?? (digits[2] as string), digits[1] ? 16 : 10) : ENTITIES.get(name)
      return code === undefined || code > 0x10ffff ? 0 : codeFound(into, index + 1 - at, code)
    }
    if (byte !== 0x23 && hexDigit(byte) < 0 && !((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a)) return 0
    name += String.fromCharCode(byte)
  }
  return 0
}

function byteFound(into: Escape, width: number, code: number): 1 {
  into.width = width
  into.code = code
  into.isByte = true
  return 1
}

function codeFound(into: Escape, width: number, code: number): 1 {
  into.width = width
  into.code = code
  into.isByte = false
  return 1
}

function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}
