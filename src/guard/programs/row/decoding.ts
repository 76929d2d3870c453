/**
 * Encodings that are undone to see what text they hide, and done to know it again: base64, base32, hex; and the mark
 * of text that stays hidden.
 */

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

const HEX = '0123456789abcdef'

export function decodeBase64(text: string): string | undefined {
  return fromBits(text.replace(/[\s=]/g, '').replaceAll('-', '+').replaceAll('_', '/'), BASE64, 6)
}

export function decodeBase32(text: string): string | undefined {
  return fromBits(text.replace(/[\s=]/g, '').toUpperCase(), BASE32, 5)
}

export function decodeHex(text: string): string | undefined {
  const digits = text.replace(/^[0-9a-f]+:\s/gim, '').replace(/\\x|0x|[\s,:]/g, '')
  return fromBits(digits.toLowerCase(), HEX, 4)
}

export const encodeBase64 = (text: string): string => toBits(text, BASE64, 6, 4)
export const encodeBase32 = (text: string): string => toBits(text, BASE32, 5, 8)
export const encodeHex = (text: string): string => toBits(text, HEX, 4, 2)

/** Filled up with `=` to a multiple of `group` signs. */
function toBits(text: string, alphabet: string, bits: number, group: number): string {
  let out = ''
  let buffer = 0
  let held = 0
  for (const byte of new TextEncoder().encode(text)) {
    buffer = (buffer << 8) | byte
    held += 8
    for (; held >= bits; buffer &= (1 << held) - 1) {
      held -= bits
      out += alphabet[buffer >> held]
    }
  }
  if (held > 0) out += alphabet[buffer << (bits - held)]
  return out.padEnd(Math.ceil(out.length / group) * group, '=')
}

function fromBits(text: string, alphabet: string, bits: number): string | undefined {
  const bytes: number[] = []
  let buffer = 0
  let held = 0
  for (const char of text) {
    const value = alphabet.indexOf(char)
    if (value < 0) return undefined
    buffer = (buffer << bits) | value
    held += bits
    if (held >= 8) {
      held -= 8
      bytes.push((buffer >> held) & 0xff)
      buffer &= (1 << held) - 1
    }
  }
  return new TextDecoder().decode(new Uint8Array(bytes))
}

/** Marks text that was decoded by something the guard cannot follow. */
export const UNREADABLE = '\uFFFC'

export function isReadable(text: string): boolean {
  return !text.includes(UNREADABLE)
}

/** Stands in front of text that a compressor of the same command has read. */
export const PACKED = '\u001f\u008b'
