/** Frames: whole messages however they were cut, and nothing that no engine sends. */
import fc from 'fast-check'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createReader, frame, framesOf, MAX_FRAME_BYTES, outputFrame, readOutput } from '../../src/reach/frames.js'
import { Wire } from '../../src/reach/wire.js'
import { until } from '../engine/harness.js'

const read = (chunks: readonly Buffer[]): [string, string][] => {
  const seen: [string, string][] = []
  const reader = createReader((kind, payload) => seen.push([kind, payload.toString('utf8')]))
  for (const chunk of chunks) reader(chunk)
  return seen
}

test('messages arrive whole and in order, however the bytes are cut', () => {
  const message = fc.tuple(fc.constantFrom('C', 'R', 'E', 'A'), fc.string({ unit: 'grapheme', maxLength: 200 }))
  fc.assert(
    fc.property(fc.array(message, { maxLength: 20 }), fc.array(fc.nat(500), { maxLength: 60 }), (messages, cuts) => {
      const bytes = Buffer.concat(messages.flatMap(([kind, text]) => framesOf(kind, text)))
      const chunks: Buffer[] = []
      let at = 0
      for (const cut of cuts) {
        chunks.push(bytes.subarray(at, at + cut))
        at += cut
      }
      expect(read([...chunks, bytes.subarray(Math.min(at, bytes.length))])).toEqual(messages)
    }),
  )
})

test('a long message travels in pieces, with short ones between them', () => {
  const long = 'ä'.repeat(1_000_000)
  const pieces = framesOf('R', long)
  expect(pieces.length).toBeGreaterThan(5)
  const mixed = pieces.flatMap((piece) => [piece, frame('A', '{}')])
  const seen = read(mixed)
  expect(seen.filter(([kind]) => kind === 'A')).toHaveLength(pieces.length)
  expect(seen.find(([kind]) => kind === 'R')?.[1]).toBe(long)
})

test('a long message leaves no listeners behind on a slow link', async () => {
  const ends = { input: new PassThrough(), output: new PassThrough({ highWaterMark: 1 }) }
  const wire = new Wire(ends, () => {}, () => {}) // prettier-ignore
  wire.send('R', { text: 'x'.repeat(5_000_000) })
  const before = ends.output.listenerCount('close')
  let bytes = 0
  for await (const chunk of ends.output as AsyncIterable<Buffer>) if ((bytes += chunk.length) > 5_000_000) break
  expect(ends.output.listenerCount('close')).toBeLessThanOrEqual(before + 2)
})

test('what can wait rides on the next message, in one write, and leaves alone when none comes', async () => {
  const ends = { input: new PassThrough(), output: new PassThrough() }
  const writes: [string, string][][] = []
  ends.output.on('data', (chunk: Buffer) => writes.push(read([chunk])))
  const wire = new Wire(ends, () => {}, () => {}) // prettier-ignore
  wire.sendLater('A', { n: 1 })
  wire.send('C', { n: 2 })
  wire.sendLater('A', { n: 3 })
  wire.sendLater('A', { n: 4 })
  await until(() => writes.length === 2, 'what waited leaves')
  wire.sendLater('A', { n: 5 })
  await until(() => writes.length === 3, 'what came later leaves too')
  const texts = writes.map((write) => write.map(([kind, text]) => `${kind}${(JSON.parse(text) as { n: number }).n}`))
  expect(texts).toEqual([['A1', 'C2'], ['A3', 'A4'], ['A5']])
})

test.each([
  ['an unknown kind', frame('Z', 'x')],
  ['a frame without a kind', Buffer.from([0, 0, 0, 0])],
  ['a frame that is too long', (() => { const head = Buffer.alloc(5); head.writeUInt32LE(MAX_FRAME_BYTES + 2, 0); return head })()],
  ['pieces of what is never cut', Buffer.concat(framesOf('R', 'x'.repeat(300_000)).map((piece, i, all) => { if (i === all.length - 1) piece[9] = 'X'.charCodeAt(0); return piece }))],
])('%s closes the link', (_, bytes) => {
  expect(() => read([bytes])).toThrow()
}) // prettier-ignore

test('output carries its call, stream, offset and bytes', () => {
  const bytes = outputFrame(7, 'stderr', 2 ** 40, Buffer.from([0xff, 0, 1]))
  const seen = readOutput(bytes.subarray(5))
  expect(seen).toMatchObject({ call: 7, stream: 'stderr', offset: 2 ** 40 })
  expect([...seen.bytes]).toEqual([0xff, 0, 1])
})
