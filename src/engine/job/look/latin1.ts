/**
 * Bytes as text with one character for each, so that no byte is lost on the way to a reader
 * that wants them as they are.
 */
import { isUtf8 } from 'node:buffer'
import { stripAnsi } from '../../../output/terminal/ansi.js'

export function toLatin1({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('latin1')
}

/** Of a character for each byte. A line that is not UTF-8 holds no text, so it stays as it is. */
export function stripBytes(text: string): string {
  const strip = (line: string): string => {
    const bytes = Buffer.from(line, 'latin1')
    if (!isUtf8(bytes)) return line
    const whole = bytes.toString()
    const plain = stripAnsi(whole)
    return plain === whole ? line : Buffer.from(plain).toString('latin1')
  }
  return isUtf8(Buffer.from(text, 'latin1'))
    ? strip(text)
    : text
        .split(/(?<=\n)/)
        .map(strip)
        .join('')
}
