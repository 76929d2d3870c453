/**
 * What single escapes stand for: of URLs, of strings in JSON, C and bash, of XML; and how far a terminal code reaches.
 */

import { hexDigit } from './bytes.js'

/** What an escape stands for: filled by a decoder, read by the loop. */
export interface Escape {
  width: number
  /** -1: it stands for nothing. */
  code: number
  isByte: boolean
}

/** Answers 0: no escape here; 1: described in `into`; -1: the text ends inside an escape. */
export type Decoder = (raw: Uint8Array, at: number, into: Escape) => -1 | 0 | 1

export const ESC = 0x1b
export const PERCENT = 0x25
export const PLUS = 0x2b
export const BACKSLASH = 0x5c
export const AMPERSAND = 0x26
export const BACKSPACE = 0x08
/** The first bytes of characters that take no room, in UTF-8. */
export const INVISIBLE = [0xe2, 0xef] as const

/** Past the control sequence that begins here. Strings (titles, links) longer than 4 kB are not believed. */
export function skipAnsi(raw: Uint8Array, start: number): number {
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

export function decodePercent(raw: Uint8Array, at: number, into: Escape): -1 | 0 | 1 {
  if (raw[at] !== PERCENT) return 0
  if (at + 1 >= raw.length) return -1
  const high = hexDigit(raw[at + 1])
  if (high < 0) return 0
  if (at + 2 >= raw.length) return -1
  const low = hexDigit(raw[at + 2])
  return low < 0 ? 0 : byteFound(into, 3, high * 16 + low)
}

export function decodeForm(raw: Uint8Array, at: number, into: Escape): -1 | 0 | 1 {
  return raw[at] === PLUS ? byteFound(into, 1, 0x20) : decodePercent(raw, at, into)
}

const CONTROLS = new Map(
  Object.entries({ n: 10, t: 9, r: 13, b: 8, f: 12, v: 11, a: 7, e: 27, E: 27 }).map(([letter, code]) => [
    letter.charCodeAt(0),
    code,
  ]),
)

/**
 * The backslash escapes of JSON, C, bash's `$'...'`, `%q`, Python and JavaScript, which agree wherever they overlap.
 */
export function decodeBackslash(raw: Uint8Array, at: number, into: Escape): -1 | 0 | 1 {
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

export function decodeEntity(raw: Uint8Array, at: number, into: Escape): -1 | 0 | 1 {
  if (raw[at] !== AMPERSAND) return 0
  let name = ''
  for (let index = at + 1; index < at + 12; index++) {
    const byte = raw[index]
    if (byte === undefined) return -1
    if (byte === 0x3b) {
      const digits = /^#(?:x([0-9a-f]+)|([0-9]+))$/i.exec(name)
      const code = digits
        ? Number.parseInt(digits[1] ?? (digits[2] as string), digits[1] ? 16 : 10)
        : ENTITIES.get(name)
      return code === undefined || code > 0x10ffff ? 0 : codeFound(into, index + 1 - at, code)
    }
    if (byte !== 0x23 && hexDigit(byte) < 0 && !((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a)) return 0
    name += String.fromCharCode(byte)
  }
  return 0
}

/**
 * What stands between two characters and is not seen: a backspace (with the character once
 * more, as pagers print bold), the spaces and marks of no width.
 */
export function decodeFiller(raw: Uint8Array, at: number, into: Escape): -1 | 0 | 1 {
  const first = raw[at]
  const second = raw[at + 1]
  if (first === BACKSPACE) return second === undefined ? -1 : codeFound(into, second === raw[at - 1] ? 2 : 1, -1)
  if (first !== 0xe2 && first !== 0xef) return 0
  if (second === undefined) return -1
  if (first === 0xef ? second !== 0xbb : second !== 0x80 && second !== 0x81) return 0
  const third = raw[at + 2]
  if (third === undefined) return -1
  const isFiller = first === 0xef ? third === 0xbf : second === 0x80 ? third >= 0x8b && third <= 0x8f : third === 0xa0
  return isFiller ? codeFound(into, 3, -1) : 0
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
