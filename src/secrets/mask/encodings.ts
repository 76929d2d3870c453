/**
 * Base64 of a value at every place that it can have in a longer text, without the characters
 * that its neighbours decide; hex, and what is rarer.
 */
import { bytesOf } from './bytes.js'

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
/** Longer values are not looked for in base32 or encoded twice: that is rare, and each form costs time. */
const LONGEST_TWICE = 512

export function encodedForms(unit: Uint8Array): Uint8Array[] {
  const forms: Uint8Array[] = []
  for (let shift = 0; shift < 3; shift++) {
    const core = coreOf(unit, shift, 6, BASE64)
    forms.push(bytesOf(core))
    if (/[+/]/.test(core)) forms.push(bytesOf(core.replaceAll('+', '-').replaceAll('/', '_')))
  }
  // As `base64 | base64` and `base32` print the value alone: every further form makes every search slower.
  if (unit.length <= LONGEST_TWICE) {
    forms.push(bytesOf(coreOf(bytesOf(coreOf(unit, 0, 6, BASE64)), 0, 6, BASE64)))
    forms.push(bytesOf(coreOf(unit, 0, 5, BASE32)))
  }
  const hex = hexPairs(unit).join('')
  forms.push(bytesOf(hex), bytesOf(hex.toUpperCase()))
  return forms
}

/**
 * `shift` unknown bytes come first; the characters that contain any of their bits are dropped,
 * and so is a last one that is not full.
 */
function coreOf(bytes: Uint8Array, shift: number, width: number, alphabet: string): string {
  const over = (shift * 8) % width
  const mask = (1 << width) - 1
  let core = ''
  let bits = 0
  let count = over === 0 ? 0 : -(width - over)
  for (let at = 0; at < bytes.length; at++) {
    bits = ((bits << 8) | (bytes[at] as number)) & 0xffff
    count += 8
    while (count >= width) {
      count -= width
      core += alphabet[(bits >> count) & mask]
    }
  }
  return core
}

const PAIRS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

export function hexPairs(bytes: Uint8Array): string[] {
  return Array.from(bytes, (byte) => PAIRS[byte] as string)
}
