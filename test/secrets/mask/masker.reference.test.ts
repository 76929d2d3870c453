import { fc } from '../../fixtures/fast-check.js'
import { describe, expect, test } from 'vitest'
import { isSpace } from '../../../src/secrets/mask/bytes.js'
import { formsOf, isMaskable, type Needle } from '../../../src/secrets/mask/forms.js'
import { createMasker } from '../../../src/secrets/mask/masker.js'
import { createView, endOf, project, PROJECTIONS, startOf } from '../../../src/secrets/mask/projections.js'

/**
 * The slow and obvious way: decode all of the text, try every needle at every byte. Returns what has to stay, byte for
 * byte.
 */
function keepNaively(secrets: readonly Buffer[], text: Buffer): Buffer {
  const needles = secrets.flatMap((secret) => [...formsOf(secret)])
  const covered = text.map(() => 0)
  const cover = (bytes: Uint8Array, rawStart: (index: number) => number, rawEnd: (index: number) => number) => {
    for (let at = 0; at < bytes.length; at++) {
      for (const needle of needles) {
        const end = matchNaively(bytes, at, needle)
        if (end <= at) continue
        const [first, last] = goOnNaively(bytes, at, end, needle)
        covered.fill(1, rawStart(first), rawEnd(last - 1))
      }
    }
  }
  cover(
    text,
    (index) => index,
    (index) => index + 1,
  )
  const alphabet = new Uint8Array(256)
  for (const { bytes } of needles) for (const byte of bytes) alphabet[byte] = 1
  for (const projection of PROJECTIONS) {
    const view = createView()
    project(projection, text, 0, text.length, alphabet, view)
    cover(
      view.bytes.slice(0, view.length),
      (index) => startOf(view, index),
      (index) => endOf(projection, text, view, index),
    )
  }
  return Buffer.from(text.filter((_, index) => covered[index] === 0))
}

function matchNaively(text: Uint8Array, start: number, { bytes, kind }: Needle): number {
  let at = start
  for (const [index, byte] of bytes.entries()) {
    const begin = at
    while (at < text.length && isSpace(text[at] as number) && (byte === 0x20 || (kind === 'dense' && index > 0))) at++
    if (byte === 0x20 ? at === begin : text[at++] !== byte) return -1
  }
  return at
}

/** A part of a value belongs to it as far as its neighbours do. */
function goOnNaively(text: Uint8Array, start: number, end: number, { part, whole }: Needle): [number, number] {
  let [first, last] = [start, end]
  if (part === 'head') while (last - first < whole!.length && text[last] === whole![last - first]) last++
  if (part === 'tail')
    while (first > 0 && last - first < whole!.length && text[first - 1] === whole!.at(first - last - 1)) first--
  return [first, last]
}

const hex = (byte: number) => byte.toString(16).padStart(2, '0')
const coloured = (byte: number) => `\x1b[1;3${byte % 8}m${String.fromCharCode(byte)}`
const spellings: readonly (readonly ((byte: number) => string)[])[] = [
  [coloured],
  [coloured, (byte) => `%${hex(byte)}`, (byte) => `%${hex(byte).toUpperCase()}`],
  [
    coloured,
    (byte) => `\\x${hex(byte)}`,
    (byte) => `\\${byte.toString(8).padStart(3, '0')}`,
    (byte) => `\\u00${hex(byte)}`,
    (byte) => `\\u{${hex(byte)}}`,
    (byte) => `\\U000000${hex(byte)}`,
  ],
  [coloured, (byte) => `&#${byte};`, (byte) => `&#x${hex(byte)};`],
]

const secret = fc
  .oneof(
    fc.string({ minLength: 6, maxLength: 24, unit: fc.constantFrom(...'abcdXYZ0189_-') }),
    fc.string({ minLength: 16, maxLength: 40, unit: fc.constantFrom(...'abcdXYZ0189_-') }),
    fc.string({ minLength: 6, maxLength: 9, unit: fc.constantFrom(...'ab c') }),
  )
  .map((text) => Buffer.from(text))
  .filter(isMaskable)

type Piece = (secrets: readonly Buffer[]) => Buffer
const chosen = fc.nat({ max: 3 })
const pick = (secrets: readonly Buffer[], index: number) => secrets[index % secrets.length] as Buffer
const piece: fc.Arbitrary<Piece> = fc.oneof(
  fc
    .oneof(
      fc.uint8Array({ maxLength: 20 }).map((noise) => Buffer.from(noise)),
      fc
        .string({ maxLength: 12, unit: fc.constantFrom(...'\\%&+;x0u#{a5 \n\x1b[m') })
        .map((noise) => Buffer.from(noise)),
    )
    // A terminal title swallows everything up to its end, and whether `\` or ESC comes first is a matter of taste.
    .filter((noise) => !/\x1b[\]P^_X]|\\\x1b/.test(noise.toString('latin1')))
    .map(
      (noise): Piece =>
        () =>
          noise,
    ),
  chosen.map(
    (index): Piece =>
      (secrets) =>
        pick(secrets, index),
  ),
  fc.tuple(chosen, fc.nat({ max: 24 })).map(
    ([index, length]): Piece =>
      (secrets) =>
        pick(secrets, index).subarray(0, length),
  ),
  fc
    .tuple(
      chosen,
      fc.constantFrom<BufferEncoding[]>('base64', 'base64url', 'hex'),
      fc.nat({ max: 2 }),
      fc.nat({ max: 60 }),
      fc.constantFrom('', '\n', '\r\n', '\n    '),
    )
    .map(([index, encoding, shift, place, lineBreak]): Piece => (secrets) => {
      const encoded = Buffer.concat([Buffer.from('xyz'.slice(0, shift)), pick(secrets, index)]).toString(encoding)
      return Buffer.from(encoded.slice(0, place) + lineBreak + encoded.slice(place))
    }),
  fc.tuple(chosen, fc.nat({ max: 3 }), fc.array(fc.nat({ max: 8 }), { minLength: 1, maxLength: 24 })).map(
    ([index, family, choices]): Piece =>
      (secrets) =>
        Buffer.from(
          Array.from(pick(secrets, index), (byte, place) => {
            const spell = spellings[family]?.[choices[place % choices.length] as number]
            return spell ? spell(byte) : String.fromCharCode(byte)
          }).join(''),
        ),
  ),
)

function maskInPieces(secrets: readonly Buffer[], text: Buffer, cuts: readonly number[]): Buffer {
  const masker = createMasker()
  secrets.forEach((value, index) => masker.add(`n${index}`, value))
  const stream = masker.stream()
  const places = [...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length]
  const shown = places.map((place, index) => stream.push(text.subarray(places[index - 1] ?? 0, place)))
  return Buffer.concat([...shown, stream.flush()])
}

const withoutLabels = (shown: Buffer) => shown.toString('latin1').replace(/\[secret:n\d\]/g, '')

describe('the fast search agrees with a naive one', () => {
  const everything = fc.tuple(fc.array(secret, { minLength: 1, maxLength: 4 }), fc.array(piece, { maxLength: 10 }))

  test('on a whole text of noise, escapes, encodings and halves of values', () => {
    fc.assert(
      fc.property(everything, ([secrets, pieces]) => {
        const text = Buffer.concat(pieces.map((make) => make(secrets)))
        expect(withoutLabels(maskInPieces(secrets, text, []))).toBe(keepNaively(secrets, text).toString('latin1'))
      }),
      { numRuns: 400 },
    )
  })

  // What is half an escape at the end of a chunk may swallow its neighbour, or not: more could be hidden than has to
  // be. A control character between the pieces settles it.
  const apart = (pieces: readonly Piece[], secrets: readonly Buffer[]) =>
    Buffer.concat(pieces.flatMap((make) => [make(secrets), Buffer.of(1)]))

  test('on the same text cut anywhere', () => {
    fc.assert(
      fc.property(everything, fc.array(fc.nat({ max: 400 }), { maxLength: 12 }), ([secrets, pieces], cuts) => {
        const text = apart(pieces, secrets)
        expect(withoutLabels(maskInPieces(secrets, text, cuts))).toBe(keepNaively(secrets, text).toString('latin1'))
      }),
      { numRuns: 400 },
    )
  })

  test('on the same text byte by byte', () => {
    fc.assert(
      fc.property(everything, ([secrets, pieces]) => {
        const text = apart(pieces, secrets)
        const cuts = Array.from(text, (_, index) => index)
        expect(withoutLabels(maskInPieces(secrets, text, cuts))).toBe(keepNaively(secrets, text).toString('latin1'))
      }),
      { numRuns: 100 },
    )
  })

  test.each([
    ['after a terminal code', 'abcdefghijklm\x1b[1~no\\x70'],
    ['before a terminal code', '\\x61b\x1b[1~cdefghijklmnop'],
    ['between two others', '&#97;b&#99;defghijklmno&#112;'],
    ['at the very beginning', '%61bcdefghijklmnop'],
    ['at the very end', 'abcdefghijklmno%70'],
  ])('an escape with few bytes of the value beside it is seen %s', (_, spelled) => {
    const secrets = [Buffer.from('abcdefghijklmnop')]
    for (const [before, after] of [
      ['', ''],
      ['~~', '~~'],
    ]) {
      const text = Buffer.from(before + spelled + after)
      expect(maskInPieces(secrets, text, []).toString()).toBe(`${before}[secret:n0]${after}`)
    }
  })
})
