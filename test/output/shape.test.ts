import { fc } from '../fixtures/fast-check.js'
import { describe, expect, test } from 'vitest'
import type { Clip } from '../../src/contract/output.js'
import { createTextStream, plainText, shapeText } from '../../src/output/shape.js'
import { Transcript } from '../../src/output/transcript.js'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

function kept(content: string | Uint8Array, memory = 1_000_000): ReturnType<Transcript['snapshot']> {
  const transcript = new Transcript({ headBytes: memory / 2, tailBytes: memory / 2 })
  transcript.write(typeof content === 'string' ? encode(content) : content)
  return transcript.snapshot()
}

describe('the text of an Outcome', () => {
  test('is what was printed when nothing is asked', () => {
    expect(shapeText(kept('a\0b\r\n\x1b[31mé', 6))).toMatchObject({ truncated: true })
    expect(shapeText(kept('a\0b\r\n\x1b[31mé'))).toEqual({
      text: 'a\0b\r\n\x1b[31mé',
      truncated: false,
      omittedBytes: 0,
    })
  })

  test('plain output is what every shaping would make of it', () => {
    const clips: readonly Clip[] = [
      { kind: 'none' },
      { kind: 'head', maxChars: 20 },
      { kind: 'middle', maxBytes: 20, endBytes: 5 },
      { kind: 'ends', maxChars: 20 },
    ]
    const piece = fc.constantFrom(
      'a',
      ' ',
      'word',
      '\n',
      '\t',
      '~',
      '\r',
      '\b',
      '\x1b[31m',
      '\x07',
      '\x7f',
      'é',
      '\ufeff',
      '\0',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 24 }), fc.constantFrom(8, 1_000), (pieces, memory) => {
        const whole = kept(pieces.join(''), memory)
        for (const clip of clips) {
          const text = plainText(whole, clip)
          if (text === null) continue
          for (const ansi of ['keep', 'strip'] as const)
            for (const progress of ['keep', 'collapse'] as const)
              expect(shapeText(whole, { ansi, progress, clip })).toEqual({ text, truncated: false, omittedBytes: 0 })
        }
      }),
    )
    expect(plainText(kept('two words\n\tand more\n'), { kind: 'ends', maxChars: 100 })).toBe('two words\n\tand more\n')
    for (const text of ['é', 'a\rb', '\x1b[m', '\x7f', '\0']) expect(plainText(kept(text), { kind: 'none' })).toBeNull()
  })

  test('plain output of which the end went another way is not taken for the whole', () => {
    const transcript = new Transcript({ headBytes: 8, tailBytes: 8 })
    transcript.write(encode('12345678'))
    transcript.skip(1_000)
    for (const clip of [{ kind: 'none' }, { kind: 'ends', maxChars: 5_000 }] as const)
      expect(plainText(transcript.snapshot(), clip)).toBeNull()
  })

  test('a bar is collapsed before its sequences are stripped', () => {
    const text = 'Fetching packages 50%\r\x1b[K\x1b[32mDone\x1b[0m\n'
    expect(shapeText(kept(text), { ansi: 'strip', progress: 'collapse' }).text).toBe('Done\n')
    const stream = createTextStream({ ansi: 'strip', progress: 'collapse' })
    const live = [...encode(text)].map((byte) => stream.push(Uint8Array.of(byte)))
    expect(live.join('') + stream.flush()).toBe('Done\n')
  })

  test('the limit holds for the text that is shown, not for its colours', () => {
    const coloured = '\x1b[31mx\x1b[0m'.repeat(30_000)
    expect(shapeText(kept(coloured), { ansi: 'strip', clip: { kind: 'head', maxChars: 30_000 } })).toEqual({
      text: 'x'.repeat(30_000),
      truncated: false,
      omittedBytes: 0,
    })
  })

  test('of more than memory holds begins at a whole line behind the hole', () => {
    const text = Array.from({ length: 2_000 }, (_, i) => `\x1b[32mline ${i}\x1b[0m`).join('\n')
    const shaped = shapeText(kept(text, 4_000), { ansi: 'strip' })
    for (const line of shaped.text.split('\n'))
      expect(line).toMatch(/^(?:line \d+|li?n?e? ?\d*|\[\.\.\. \d+ bytes omitted \.\.\.\]|)$/)
    expect(shaped.truncated).toBe(true)
  })
})

describe('omitted bytes are exact', () => {
  const clips: Clip[] = [
    { kind: 'none' },
    { kind: 'head', maxChars: 300 },
    { kind: 'middle', maxBytes: 500, endBytes: 100 },
    { kind: 'ends', maxChars: 400 },
  ]

  test.each(clips)('$kind, also for binary output and for more than memory holds', (clip) => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 600, maxLength: 3_000 }),
        fc.constantFrom(10_000, 1_200),
        (bytes, memory) => {
          // Line breaks and letters among the garbage, so that every way to cut is taken.
          const content = bytes.map((byte) => (byte < 20 ? 10 : byte))
          const { text, truncated, omittedBytes } = shapeText(kept(content, memory), { clip })
          expect(omittedBytes).toBeGreaterThanOrEqual(0)
          expect(omittedBytes).toBeLessThanOrEqual(content.length)
          if (!truncated) expect(omittedBytes).toBe(0)
          else if (clip.kind === 'head') {
            const shown = text.slice(0, text.indexOf('\n\n[Output truncated'))
            expect(new TextDecoder('utf-8', { ignoreBOM: true }).decode(content).startsWith(shown)).toBe(true)
            const rest = new TextDecoder('utf-8', { ignoreBOM: true }).decode(
              content.subarray(content.length - omittedBytes),
            )
            expect(shown + rest).toBe(new TextDecoder('utf-8', { ignoreBOM: true }).decode(content))
          }
        },
      ),
      { numRuns: 200 },
    )
  })

  test('plain lines add up in every clip', () => {
    const content = Array.from({ length: 3_000 }, (_, i) => `row ${i}`).join('\n')
    for (const memory of [1_000_000, 10_000]) {
      const head = shapeText(kept(content, memory), { clip: { kind: 'head', maxChars: 1_000 } })
      expect(head).toMatchObject({ truncated: true, omittedBytes: content.length - 1_000 })
      const middle = shapeText(kept(content, memory), { clip: { kind: 'middle', maxBytes: 5_000, endBytes: 400 } })
      expect(middle).toMatchObject({ truncated: true, omittedBytes: content.length - 800 })
      expect(middle.text).toContain(`got ${content.length} bytes, max is 5000 bytes`)
      const ends = shapeText(kept(content, memory), { clip: { kind: 'ends', maxChars: 2_000 }, wholeAt: '/x.log' })
      const [first, last] = ends.text.split(/\[\.\.\. .*\]\n/) as [string, string]
      expect(ends.omittedBytes).toBe(content.length - first.length - last.length)
      expect(ends.text).toContain(`${ends.omittedBytes} bytes`)
      expect(ends.text).toContain('/x.log')
    }
  })
})
