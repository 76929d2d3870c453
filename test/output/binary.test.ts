/** Binary output is named, not shown; text stays text, whatever odd characters it has. */
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { describeBinary, looksBinary, showControls, sizeWords } from '../../src/output/binary.js'

const decoded = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
const PNG = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'), Buffer.alloc(400, 0xab)])

test.each([
  ['a program', decoded(readFileSync(process.execPath).subarray(0, 60_000)), 'ELF program'],
  ['a picture', decoded(PNG), 'PNG image'],
  [
    'compressed data',
    decoded(gzipSync(Buffer.from(Array.from({ length: 3_000 }, (_, at) => (at * at) % 251)))),
    'gzip data',
  ],
])('%s is binary, and its kind is named', (_, text, kind) => {
  expect(looksBinary(text)).toBe(true)
  const said = describeBinary(text, { totalBytes: 1_234_567, wholeAt: '/state/file' })
  expect(said).toMatch(new RegExp(`^\\[binary output, 1\\.2 MB, ${kind}; whole in /state/file\\]\\nbegins: `))
  // oxlint-disable-next-line no-control-regex -- that is what must not be there
  expect(said).not.toMatch(/[\0-\x09\x0b-\x1f\x7f\ufffd]/)
  expect(said.length).toBeLessThan(200)
})

test.each([
  ['plain text', 'hello world\n'.repeat(50)],
  ['a short text with a control character', 'ding\x07'],
  ['colours and redraws', '\x1b[31mred\x1b[0m 10%\r20%\r\n'.repeat(50)],
  ['lines that end with NUL', './src/a.ts\0./src/b.ts\0'.repeat(30)],
  [
    'Latin-1 letters here and there',
    decoded(Buffer.from('Die Straße führt nach Süden und weiter. '.repeat(20), 'latin1')),
  ],
  ['emoji', '😀🎉'.repeat(100)],
])('%s is text', (_, text) => expect(looksBinary(text)).toBe(false))

test('control characters are shown as they are written; tabs, line ends and letters stay', () => {
  expect(showControls('a\0b\x07c\td\r\né')).toBe(String.raw`a\0b\x07c` + '\td\r\né')
})

test('sizes are said as people say them', () => {
  expect([812, 1_000, 3_400, 999_999, 23_000_000, 1_250_000_000].map(sizeWords)).toEqual([
    '812 B', '1 kB', '3.4 kB', '1 MB', '23 MB', '1.3 GB',
  ]) // prettier-ignore
})
