/**
 * Tells binary output from text, and says in one line what it is instead of showing it to a
 * reader that pays by the character.
 */

import { decodeUtf8 } from './utf8.js'

/** A text this short is shown whatever is in it; its control characters are made visible. */
const MIN_CHARS = 64
/** More than one character in ten that no text has: not text. */
const MAX_ODD_SHARE = 0.1
const HEAD_CHARS = 80

/** True for decoded output that is no text: many control characters, or many bytes that are no UTF-8. */
export function looksBinary(text: string): boolean {
  if (text.length < MIN_CHARS || !ODD.test(text)) return false
  const sample = text.length <= SAMPLE_CHARS ? text : text.slice(0, SAMPLE_CHARS / 2) + text.slice(-SAMPLE_CHARS / 2)
  let odd = 0
  let single = 0
  for (let at = 0; at < sample.length; at++) {
    const unit = sample.charCodeAt(at)
    if (!isOdd(unit)) continue
    odd++
    // `find -print0` and /proc/PID/environ: text whose lines end with NUL.
    if (unit === 0 && !isOdd(sample.charCodeAt(at - 1)) && !isOdd(sample.charCodeAt(at + 1))) single++
  }
  return odd - single > sample.length * MAX_ODD_SHARE
}

/** Enough of both ends to tell binary from text. */
export function sampleText({ head, tail }: { readonly head: Uint8Array; readonly tail: Uint8Array }): string {
  const first = decodeUtf8(head.subarray(0, SAMPLE_CHARS / 2))
  const last = tail.length > 0 ? tail : head.subarray(SAMPLE_CHARS / 2)
  return first + decodeUtf8(last.subarray(Math.max(0, last.length - SAMPLE_CHARS / 2)))
}

/** `[binary output, 1.2 MB, ELF program; whole in FILE]` and the beginning with dots for what cannot be printed. */
export function describeBinary(
  text: string,
  { totalBytes, wholeAt }: { totalBytes: number; wholeAt: string | null },
): string {
  const kind = KINDS.find(([, begins]) => begins.test(text))?.[0]
  const where = wholeAt === null ? 'redirect it into a file to keep it' : `whole in ${wholeAt}`
  const head = text
    .slice(0, HEAD_CHARS)
    .replaceAll(/[^\x20-\x7e]+/g, '…')
    .trim()
  return `[binary output, ${sizeWords(totalBytes)}${kind ? `, ${kind}` : ''}; ${where}]\nbegins: ${head}\n`
}

/** True for what `describeBinary` made: none of the output itself is in it. */
export function isDescription(text: string): boolean {
  return text.startsWith('[binary output, ')
}

/** Control characters as a reader can see them (`\x07`, `\0`); tabs and line ends stay. */
export function showControls(text: string): string {
  return CONTROLS.test(text)
    ? text.replaceAll(ALL_CONTROLS, (char) =>
        char === '\0' ? String.raw`\0` : String.raw`\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`,
      )
    : text
}

/** 812 B, 3.4 kB, 23 MB. */
export function sizeWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  const units = ['kB', 'MB', 'GB', 'TB']
  let size = bytes
  let unit = -1
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1_000
    unit++
  }
  return `${size < 9.95 ? size.toFixed(1).replace(/\.0$/, '') : Math.round(size)} ${units[unit]}`
}

const SAMPLE_CHARS = 32_768

function isOdd(unit: number): boolean {
  return (unit < 0x20 && !(unit >= 0x08 && unit <= 0x0d) && unit !== 0x1b) || unit === 0x7f || unit === 0xfffd
}

// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const ODD = /[\0-\x07\x0e-\x1a\x1c-\x1f\x7f\ufffd]/
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const CONTROLS = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/
const ALL_CONTROLS = new RegExp(CONTROLS, 'g')

/** How well-known files begin after decoding: a byte that is no UTF-8 reads U+FFFD. */
// oxlint-disable no-control-regex -- files begin with control characters
const KINDS: readonly (readonly [string, RegExp])[] = [
  ['ELF program', /^\x7fELF/],
  ['PNG image', /^\ufffdPNG/],
  ['JPEG image', /^\ufffd{2,4}[\s\S]{0,12}(?:JFIF|Exif)/],
  ['GIF image', /^GIF8/],
  ['WebP image', /^RIFF[\s\S]{4,8}WEBP/],
  ['PDF document', /^%PDF-/],
  ['gzip data', /^\x1f\ufffd\x08/],
  ['zip archive', /^PK\x03\x04/],
  ['xz data', /^\ufffd7zXZ/],
  ['bzip2 data', /^BZh\d/],
  ['zstd data', /^\(\ufffd\/\ufffd/],
  ['SQLite database', /^SQLite format 3/],
  ['WebAssembly', /^\0asm/],
  ['tar archive', /^[\s\S]{200,257}ustar/],
  ['UTF-16 text', /^\ufffd{2}(?:[\s\S]\0|\0[\s\S])/],
]
// oxlint-enable no-control-regex
