import { expect, test } from 'vitest'
import type { OutputChunk } from '../../../src/contract/output.js'
import { ChunkQueue } from '../../../src/engine/call/chunk-queue.js'

const MiB = 1024 * 1024

const piece = (offset: number, length = MiB): OutputChunk => ({ stream: 'stdout', text: 'x'.repeat(length), offset })

async function rest(reader: AsyncIterator<OutputChunk>): Promise<OutputChunk[]> {
  const chunks: OutputChunk[] = []
  for (;;) {
    const { value, done } = await reader.next()
    if (done) return chunks
    chunks.push(value)
  }
}

test('what a reader left behind when it went does not count against the next one', async () => {
  const queue = new ChunkQueue(false)
  const first = queue.read()
  for (let at = 0; at < 4; at++) queue.put(piece(at * MiB))
  await first.return?.()
  queue.put(piece(4 * MiB))
  const second = queue.read()
  for (let at = 5; at < 9; at++) queue.put(piece(at * MiB))
  queue.end()
  expect((await rest(second)).map(({ offset }) => offset / MiB)).toEqual([5, 6, 7, 8])
  expect(queue.dropped).toBe(0)
})

test('beyond 4 MiB the oldest pieces go, and the next piece of the stream says how much went before it', async () => {
  const queue = new ChunkQueue(false)
  const reader = queue.read()
  for (let at = 0; at < 6; at++) queue.put(piece(at * MiB))
  queue.end()
  const [first, ...others] = await rest(reader)
  expect([first?.offset, first?.droppedBytes]).toEqual([2 * MiB, 2 * MiB])
  expect(others.map(({ droppedBytes }) => droppedBytes)).toEqual([undefined, undefined, undefined])
  expect(queue.dropped).toBe(2 * MiB)
})

test('a stream that lost its last pieces says so at the end, and a call that is over ends the iterator', async () => {
  const queue = new ChunkQueue(false)
  const reader = queue.read()
  queue.put({ stream: 'stderr', text: 'x', offset: 0 })
  for (let at = 0; at < 4; at++) queue.put(piece(at * MiB))
  queue.end()
  const last = (await rest(reader)).at(-1)
  expect(last).toEqual({ stream: 'stderr', text: '', offset: 1, droppedBytes: 1 })
  expect(await rest(new ChunkQueue(true).read())).toEqual([])
})
