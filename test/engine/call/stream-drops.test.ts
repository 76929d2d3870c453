/** A reader of `stream()` that is too slow loses text, never the count of it. */
import { expect, test } from 'vitest'
import type { RunRequest } from '../../../src/contract/request.js'
import { processFacts } from '../../../src/os/process/proc.js'
import { processesNamed, testEngine, until } from '../harness.js'

const BYTES = 40_000_000

test.each(['fresh', 'session'])('it is told how much, in the iterator and in the outcome (%s)', async (kind) => {
  const engine = await testEngine()
  const where = kind === 'fresh' ? engine : await engine.session()
  const request: RunRequest = { command: `head -c ${BYTES} /dev/zero | tr '\\0' x; echo; echo done >&2` }
  const handle = where.stream(request)
  const iterator = handle[Symbol.asyncIterator]()
  let seen = 0
  let dropped = 0
  const take = async (): Promise<boolean> => {
    const { value, done } = await iterator.next()
    if (done) return false
    if (value.stream === 'stdout') {
      if (value.text !== '') expect(value.offset).toBe(seen + dropped + (value.droppedBytes ?? 0))
      seen += value.text.length
    }
    dropped += value.droppedBytes ?? 0
    return true
  }
  await take()
  const outcome = await handle.outcome // Nothing is taken meanwhile.
  while (await take());
  expect(outcome.droppedBytes).toBeGreaterThan(0)
  expect(seen + dropped).toBe(BYTES + 1)
  expect(outcome.droppedBytes).toBe(dropped)
  expect(outcome.notes.map(({ text }) => text).join(' ')).toContain(`${dropped} bytes were dropped`)
})

test('a reader that keeps up loses nothing', async () => {
  const engine = await testEngine()
  let seen = 0
  const handle = engine.stream({ command: 'seq 1 20000' })
  for await (const chunk of handle) {
    expect(chunk.droppedBytes).toBe(undefined)
    seen += chunk.text.length
  }
  const outcome = await handle.outcome
  expect({ seen, dropped: outcome.droppedBytes }).toEqual({ seen: 108_894, dropped: 0 })
})

test('bytes with a promise hold the command back, and none is lost', async () => {
  const engine = await testEngine()
  let seen = 0
  let open!: () => void
  const gate = new Promise<void>((resolve) => (open = resolve))
  const outcome = engine.run({
    command: `head -c ${BYTES} /dev/zero`,
    onBytes: ({ bytes }) => {
      seen += bytes.length
      return gate
    },
  })
  await until(() => seen > 0)
  // The program sleeps only when the pipe takes no more; three looks tell that from a reader that is slow.
  let asleep = 0
  await until(() => {
    const [head] = processesNamed(`head -c ${BYTES} `)
    asleep = head && processFacts(head)?.state === 'S' ? asleep + 1 : 0
    return asleep === 3 || seen === BYTES
  }, 'the program waits')
  expect(seen).toBeLessThan(3_000_000) // What the pipe holds.
  open()
  expect((await outcome).status).toBe('completed')
  expect(seen).toBe(BYTES)
})
