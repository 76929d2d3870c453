import { fc } from '../fixtures/fast-check.js'
import { describe, expect, test } from 'vitest'
import {
  bytesOfUnits,
  characterEnd,
  characterStart,
  createUtf8Decoder,
  takeFirst,
  takeLast,
  utf8Length,
} from '../../src/output/utf8.js'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
/** The web's decoder is the oracle. */
const oracle = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)

/** Bytes that come near every border of the encoding: overlong forms, surrogates, beyond U+10FFFF, cut sequences. */
const nastyBytes = fc
  .array(
    fc.oneof(
      fc
        .constantFrom(
          0x00,
          0x41,
          0x7f,
          0x80,
          0x8f,
          0x90,
          0x9f,
          0xa0,
          0xbf,
          0xc0,
          0xc1,
          0xc2,
          0xdf,
          0xe0,
          0xe2,
          0xed,
          0xef,
          0xf0,
          0xf4,
          0xf5,
          0xff,
        )
        .map((byte) => [byte]),
      fc.constantFrom('é', '═', '🔑', '\uFEFF', '\0').map((char) => [...encode(char)]),
    ),
    { maxLength: 24 },
  )
  .map((parts) => Uint8Array.from(parts.flat()))

function decodeInPieces(bytes: Uint8Array, cuts: readonly number[]): string {
  const decoder = createUtf8Decoder()
  let text = ''
  let from = 0
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    text += decoder.push(bytes.subarray(from, Math.max(from, cut)))
    from = Math.max(from, cut)
  }
  return text + decoder.push(bytes.subarray(from)) + decoder.flush()
}

describe('decoding', () => {
  test('F27: a character split across reads comes out whole, at every offset', () => {
    const bytes = encode('a🔑é═b')
    for (let cut = 0; cut <= bytes.length; cut++) expect(decodeInPieces(bytes, [cut])).toBe('a🔑é═b')
    expect(decodeInPieces(bytes, [...bytes.keys()])).toBe('a🔑é═b')
  })

  test('F26: any bytes in any pieces give what the whole gives', () => {
    fc.assert(
      fc.property(nastyBytes, fc.array(fc.nat(60), { maxLength: 12 }), (bytes, cuts) => {
        expect(
          decodeInPieces(
            bytes,
            cuts.map((cut) => Math.min(cut, bytes.length)),
          ),
        ).toBe(oracle(bytes))
      }),
      { numRuns: 3000 },
    )
  })

  test('F29: NUL and a byte order mark stay', () => {
    expect(decodeInPieces(encode('\uFEFFa\0b'), [1, 2, 3])).toBe('\uFEFFa\0b')
  })

  test('a character that never ends is one replacement character', () => {
    const decoder = createUtf8Decoder()
    expect(decoder.push(Uint8Array.of(0x41, 0xf0, 0x9f))).toBe('A')
    expect(decoder.flush()).toBe('\uFFFD')
    expect(decoder.flush()).toBe('')
  })

  test('the chunk may be used again after it was pushed', () => {
    const decoder = createUtf8Decoder()
    const chunk = encode('🔑').slice(0, 2)
    decoder.push(chunk)
    chunk.fill(0)
    expect(decoder.push(encode('🔑').slice(2))).toBe('🔑')
  })
})

describe('cutting', () => {
  test('F28: a cut never leaves half a character on either side', () => {
    const bytes = encode('═🔑é')
    for (let cut = 0; cut <= bytes.length; cut++) {
      const first = bytes.subarray(0, cut)
      const last = bytes.subarray(cut)
      expect(oracle(first.subarray(0, characterEnd(first)))).not.toContain('\uFFFD')
      expect(oracle(last.subarray(characterStart(last)))).not.toContain('\uFFFD')
    }
  })

  test('surrogate pairs stay together', () => {
    expect(takeFirst('a🔑b', 2)).toBe('a')
    expect(takeFirst('a🔑b', 3)).toBe('a🔑')
    expect(takeLast('a🔑b', 2)).toBe('b')
    expect(takeLast('a🔑b', 3)).toBe('🔑b')
    expect(takeFirst('abc', 0)).toBe('')
    expect(takeLast('abc', 0)).toBe('')
  })

  test('lengths in bytes are right for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(utf8Length(text)).toBe(encode(text).length)
      }),
    )
  })

  test('the bytes behind a number of characters are counted as the decoder counts them', () => {
    fc.assert(
      fc.property(nastyBytes, fc.nat(30), (bytes, units) => {
        const used = bytesOfUnits(bytes, units)
        const text = oracle(bytes)
        const cut = takeFirst(text, units)
        const first = oracle(bytes.subarray(0, used))
        expect(first === cut || first === takeFirst(text, units + 1)).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })
})
