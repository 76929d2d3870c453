/** Views of a text in which a value shows itself: white space collapsed, and one kind of escape undone. Each byte of a view knows where it came from. */

/** Reused buffers: `bytes[0..length)` is the view, byte j covers the raw bytes `from[j]` up to `to[j]`. */
export interface View {
  bytes: Uint8Array
  from: Int32Array
  to: Int32Array
  length: number
  /** Where an escape begins that the end of the text cut in two, or -1. */
  cut: number
}

/** One way to look at a text; `applies` is a cheap test whether it could differ from the plain view. */
export interface Projection {
  readonly applies: (raw: Uint8Array) => boolean
  readonly project: (raw: Uint8Array, view: View) => void
}

const ESC = 0x1b
const PERCENT = 0x25
const PLUS = 0x2b
const BACKSLASH = 0x5c
const AMPERSAND = 0x26

/** 1 for white space. A table keeps the hot loop free of branches. */
const SPACE = Uint8Array.from({ length: 256 }, (_, byte) => (byte === 0x20 || (byte >= 0x09 && byte <= 0x0d) ? 1 : 0))
const FOLDED = Uint8Array.from({ length: 256 }, (_, byte) => (SPACE[byte] === 1 ? 0x20 : byte))

export function createView(): View {
  return { bytes: new Uint8Array(0), from: new Int32Array(0), to: new Int32Array(0), length: 0, cut: -1 }
}

/** The plain view must come first: it is the one that every text gets. */
export const PROJECTIONS: readonly Projection[] = [
  { applies: () => true, project: projectPlain },
  { applies: (raw) => raw.includes(ESC), project: (raw, view) => projectDecoded(raw, view, () => 0) },
  { applies: (raw) => raw.includes(PERCENT), project: (raw, view) => projectDecoded(raw, view, decodePercent) },
  { applies: (raw) => raw.includes(PLUS), project: (raw, view) => projectDecoded(raw, view, decodeForm) },
  { applies: (raw) => raw.includes(BACKSLASH), project: (raw, view) => projectDecoded(raw, view, decodeBackslash) },
  { applies: (raw) => raw.includes(AMPERSAND), project: (raw, view) => projectDecoded(raw, view, decodeEntity) },
]

function grow(view: View, length: number): void {
  if (view.bytes.length >= length) return
  const size = Math.max(length, 4096)
  view.bytes = new Uint8Array(size)
  view.from = new Int32Array(size)
  view.to = new Int32Array(size)
}

function projectPlain(raw: Uint8Array, view: View): void {
  grow(view, raw.length + 1)
  const { bytes, from, to } = view
  const length = raw.length
  let size = 0
  let wasSpace = 0
  for (let at = 0; at < length; at++) {
    const byte = raw[at] as number
    const space = SPACE[byte] as number
    // Written first, counted after: a second blank is overwritten by what follows it.
    bytes[size] = FOLDED[byte] as number
    from[size] = at
    to[size] = at + 1
    size += 1 - (space & wasSpace)
    wasSpace = space
  }
  view.length = size
  view.cut = -1
}

/** What an escape stands for: filled by a decoder, read by the loop below. */
const decoded = { width: 0, code: 0, isByte: false }
/** A decoder answers 0: no escape here; 1: see `decoded`; -1: the text ends inside an escape. */
type Decoder = (raw: Uint8Array, at: number) => -1 | 0 | 1

function projectDecoded(raw: Uint8Array, view: View, decode: Decoder): void {
  grow(view, raw.length + 1)
  const { bytes, from, to } = view
  view.cut = -1
  let size = 0
  let wasSpace = 0
  const length = raw.length
  for (let at = 0; at < length; ) {
    const byte = raw[at] as number
    if (byte === ESC) {
      at = skipAnsi(raw, at)
      continue
    }
    const escape = byte === PERCENT || byte === BACKSLASH || byte === AMPERSAND || byte === PLUS ? decode(raw, at) : 0
    if (escape === -1) {
      view.cut = at
      break
    }
    if (escape === 0 || decoded.isByte || decoded.code < 0x80) {
      const value = escape === 0 ? byte : decoded.code & 0xff
      const space = SPACE[value] as number
      const end = at + (escape === 0 ? 1 : decoded.width)
      bytes[size] = FOLDED[value] as number
      from[size] = at
      to[size] = end
      size += 1 - (space & wasSpace)
      wasSpace = space
      at = end
    } else {
      const end = at + decoded.width
      const { code } = decoded
      const count = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
      for (let index = 0; index < count; index++) {
        const bits = (code >> (6 * (count - 1 - index))) & 0x3f
        bytes[size] = index > 0 ? 0x80 | bits : count === 2 ? 0xc0 | (code >> 6) : count === 3 ? 0xe0 | (code >> 12) : 0xf0 | (code >> 18)
        from[size] = at
        to[size] = end
        size++
      }
      wasSpace = 0
      at = end
    }
  }
  view.length = size
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

function decodePercent(raw: Uint8Array, at: number): -1 | 0 | 1 {
  if (raw[at] !== PERCENT) return 0
  if (at + 1 >= raw.length) return -1
  const high = hexDigit(raw[at + 1])
  if (high < 0) return 0
  if (at + 2 >= raw.length) return -1
  const low = hexDigit(raw[at + 2])
  return low < 0 ? 0 : byteFound(3, high * 16 + low)
}

function decodeForm(raw: Uint8Array, at: number): -1 | 0 | 1 {
  return raw[at] === PLUS ? byteFound(1, 0x20) : decodePercent(raw, at)
}

const CONTROLS = new Map(Object.entries({ n: 10, t: 9, r: 13, b: 8, f: 12, v: 11, a: 7, e: 27, E: 27 }).map(([letter, code]) => [letter.charCodeAt(0), code]))

/** The backslash escapes of JSON, C, bash's `$'...'`, `%q`, Python and JavaScript, which agree wherever they overlap. */
function decodeBackslash(raw: Uint8Array, at: number): -1 | 0 | 1 {
  if (raw[at] !== BACKSLASH) return 0
  const next = raw[at + 1]
  if (next === undefined) return -1
  const control = CONTROLS.get(next)
  if (control !== undefined) return byteFound(2, control)
  if (next === 0x78) return hexEscape(raw, at, 2, true)
  if (next === 0x75) return unicodeEscape(raw, at)
  if (next === 0x55) return hexEscape(raw, at, 8, false)
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
    return byteFound(width, code & 0xff)
  }
  return byteFound(2, next)
}

function hexEscape(raw: Uint8Array, at: number, digits: number, isByte: boolean): -1 | 0 | 1 {
  let code = 0
  for (let index = 0; index < digits; index++) {
    const digit = hexDigit(raw[at + 2 + index])
    if (at + 2 + index >= raw.length) return -1
    if (digit < 0) {
      if (index === 0) return byteFound(2, raw[at + 1] as number)
      return isByte ? byteFound(2 + index, code) : codeFound(2 + index, code)
    }
    code = code * 16 + digit
  }
  return isByte ? byteFound(2 + digits, code) : codeFound(2 + digits, code)
}

/** `\uXXXX`, a surrogate pair of them, or `\u{X...}`. */
function unicodeEscape(raw: Uint8Array, at: number): -1 | 0 | 1 {
  if (raw[at + 2] === 0x7b) {
    let code = 0
    for (let index = at + 3; index < at + 10; index++) {
      if (index >= raw.length) return -1
      if (raw[index] === 0x7d) return codeFound(index + 1 - at, code)
      code = code * 16 + Math.max(0, hexDigit(raw[index]))
    }
    return 0
  }
  const first = hexEscape(raw, at, 4, false)
  if (first !== 1 || decoded.width !== 6 || decoded.code < 0xd800 || decoded.code > 0xdbff) return first
  const high = decoded.code
  if (at + 7 >= raw.length) return -1
  if (raw[at + 6] !== BACKSLASH || raw[at + 7] !== 0x75) return codeFound(6, 0xfffd)
  if (hexEscape(raw, at + 6, 4, false) === -1) return -1
  if (decoded.code < 0xdc00 || decoded.code > 0xdfff) return codeFound(6, 0xfffd)
  return codeFound(12, 0x10000 + ((high - 0xd800) << 10) + (decoded.code - 0xdc00))
}

const ENTITIES = new Map([['lt', 0x3c], ['gt', 0x3e], ['amp', 0x26], ['quot', 0x22], ['apos', 0x27], ['nbsp', 0x20], ['sol', 0x2f], ['colon', 0x3a], ['commat', 0x40]])

function decodeEntity(raw: Uint8Array, at: number): -1 | 0 | 1 {
  if (raw[at] !== AMPERSAND) return 0
  let name = ''
  for (let index = at + 1; index < at + 12; index++) {
    const byte = raw[index]
    if (byte === undefined) return -1
    if (byte === 0x3b) {
      const digits = /^#(?:x([0-9a-f]+)|([0-9]+))$/i.exec(name)
      const code = digits ? Number.parseInt(digits[1] ?? (digits[2] as string), digits[1] ? 16 : 10) : ENTITIES.get(name)
      return code === undefined || code > 0x10ffff ? 0 : codeFound(index + 1 - at, code)
    }
    if (byte !== 0x23 && hexDigit(byte) < 0 && !((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a)) return 0
    name += String.fromCharCode(byte)
  }
  return 0
}

function byteFound(width: number, code: number): 1 {
  decoded.width = width
  decoded.code = code
  decoded.isByte = true
  return 1
}

function codeFound(width: number, code: number): 1 {
  decoded.width = width
  decoded.code = code
  decoded.isByte = false
  return 1
}

function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}
