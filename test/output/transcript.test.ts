import { fc } from '../fixtures/fast-check.js'
import { describe, expect, test } from 'vitest'
import { Transcript } from '../../src/output/transcript.js'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (content: Uint8Array): string => new TextDecoder().decode(content)

function filled(content: string, options: { headBytes: number; tailBytes: number }): Transcript {
  const transcript = new Transcript(options)
  transcript.write(bytes(content))
  return transcript
}

describe('what is kept', () => {
  test('everything, while head and tail have room', () => {
    const kept = filled('hello world', { headBytes: 5, tailBytes: 10 }).snapshot()
    expect({ ...kept, head: text(kept.head), tail: text(kept.tail) }).toEqual({
      head: 'hello',
      tail: ' world',
      omittedBytes: 0,
      totalBytes: 11,
    })
  })

  test('the first and the last bytes beyond that, with the exact count of the rest', () => {
    const kept = filled('0123456789abcdef', { headBytes: 4, tailBytes: 3 }).snapshot()
    expect({ ...kept, head: text(kept.head), tail: text(kept.tail) }).toEqual({
      head: '0123',
      tail: 'def',
      omittedBytes: 9,
      totalBytes: 16,
    })
  })

  test('for any chunks, equals the ends of the whole', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 40 }),
        fc.nat(30),
        fc.nat(30),
        (chunks, headBytes, tailBytes) => {
          const transcript = new Transcript({ headBytes, tailBytes })
          for (const chunk of chunks) {
            const borrowed = chunk.slice()
            transcript.write(borrowed)
            borrowed.fill(0xff)
          }
          const whole = Uint8Array.from(chunks.flatMap((chunk) => [...chunk]))
          const head = whole.slice(0, headBytes)
          const rest = whole.slice(headBytes)
          const tail = tailBytes === 0 ? new Uint8Array(0) : rest.slice(-tailBytes)
          expect(transcript.snapshot()).toEqual({
            head,
            tail,
            omittedBytes: rest.length - tail.length,
            totalBytes: whole.length,
          })
        },
      ),
    )
  })

  test('F23: memory stays flat however much is written', () => {
    const transcript = new Transcript({ headBytes: 64 * 1024, tailBytes: 64 * 1024 })
    const chunk = new Uint8Array(65_536).fill(97)
    for (let i = 0; i < 100; i++) transcript.write(chunk)
    const before = process.memoryUsage()
    for (let i = 0; i < 16_384; i++) transcript.write(chunk)
    const after = process.memoryUsage()
    expect(transcript.totalBytes).toBe(65_536 * 16_484)
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(1_000_000)
  })
})

describe('reading', () => {
  test('F35: concatenated reads with the returned end as cursor equal what was written, each byte once', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.uint8Array({ maxLength: 20 }), fc.integer({ min: 1, max: 15 })), { maxLength: 30 }),
        (steps) => {
          const transcript = new Transcript({ headBytes: 100, tailBytes: 600 })
          const seen: number[] = []
          let cursor = 0
          for (const [chunk, maxBytes] of steps) {
            transcript.write(chunk)
            const slice = transcript.read({ since: cursor, maxBytes })
            expect(slice).toMatchObject({ start: cursor, lostBefore: 0 })
            seen.push(...slice.bytes)
            cursor = slice.end
          }
          seen.push(...transcript.read({ since: cursor }).bytes)
          expect(seen).toEqual(steps.flatMap(([chunk]) => [...chunk]))
        },
      ),
    )
  })

  test('stops at the hole, and counts it as lost in the read behind it', () => {
    const transcript = filled('0123456789abcdef', { headBytes: 4, tailBytes: 3 })
    const first = transcript.read({ since: 2 })
    expect({ ...first, bytes: text(first.bytes) }).toEqual({ bytes: '23', start: 2, end: 4, lostBefore: 0 })
    const second = transcript.read({ since: first.end })
    expect({ ...second, bytes: text(second.bytes) }).toEqual({ bytes: 'def', start: 13, end: 16, lostBefore: 9 })
  })

  test('from inside the hole says how much of what was asked for is lost', () => {
    expect(filled('0123456789abcdef', { headBytes: 4, tailBytes: 3 }).read({ since: 10 })).toMatchObject({
      start: 13,
      end: 16,
      lostBefore: 3,
    })
  })

  test('at, beyond and before the ends is never an error', () => {
    const transcript = filled('abc', { headBytes: 8, tailBytes: 8 })
    expect(transcript.read({ since: 3 })).toMatchObject({ start: 3, end: 3, lostBefore: 0 })
    expect(transcript.read({ since: 99 })).toMatchObject({ start: 3, end: 3, lostBefore: 0 })
    expect(transcript.read({ since: -5 })).toMatchObject({ start: 0, end: 3 })
    expect(transcript.read({ since: Number.NaN, maxBytes: -1 })).toMatchObject({ start: 0, end: 0 })
  })

  test('the last bytes come without a hole in them', () => {
    const transcript = filled('0123456789abcdef', { headBytes: 4, tailBytes: 3 })
    expect(text(transcript.readLast(2).bytes)).toBe('ef')
    expect(text(transcript.readLast(100).bytes)).toBe('def')
    expect(text(filled('abcdef', { headBytes: 4, tailBytes: 3 }).readLast(5).bytes)).toBe('bcdef')
  })

  test('what a reader does with its bytes changes nothing for the next', () => {
    const transcript = filled('abc', { headBytes: 2, tailBytes: 8 })
    transcript.read().bytes.fill(0)
    expect(text(transcript.read().bytes)).toBe('abc')
  })
})

test('after the end nothing can be written, and everything can be read', () => {
  const transcript = filled('abc', { headBytes: 2, tailBytes: 8 })
  transcript.end()
  expect(transcript.ended).toBe(true)
  expect(() => transcript.write(bytes('x'))).toThrow(TypeError)
  expect(text(transcript.read().bytes)).toBe('abc')
})

test('sizes that are no sizes are refused', () => {
  expect(() => new Transcript({ headBytes: -1 })).toThrow(/headBytes/)
  expect(() => new Transcript({ tailBytes: 1.5 })).toThrow(/tailBytes/)
})
