/**
 * Reading jobs for a model: what was shown is not shown again, what is too much is cut in the middle, nothing is lost.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { positionAfter, readJob } from '../../../src/tools/reading/read.js'
import { liveEngine } from '../live-engine.js'

const { engine, cwd } = await liveEngine()
const RAW = { ansi: 'keep', progress: 'keep', binary: 'keep' } as const

test.each(['strip', 'keep'] as const)(
  'after a yield reading goes on exactly where the answer ended, whatever masking and %s did to the length',
  async (ansi) => {
    engine.secrets.set('short', 'wxyz')
    const outcome = await engine.run({
      command: `printf '\\033[31mred\\033[0m {{secret:short}} é😀\\n'; echo err >&2; while [ ! -e go-${ansi} ]; do sleep 0.02; done; echo two; echo more >&2`,
      yieldMs: 1_000,
      ansi,
    })
    expect(outcome.status).toBe('running')
    const job = await engine.job(outcome.id!)
    const position = await positionAfter(job, outcome, { ...RAW, ansi })
    writeFileSync(join(cwd, `go-${ansi}`), '')
    await job.wait({ exit: true })
    const { parts } = await readJob(job, position, { ...RAW, ansi })
    expect(parts).toEqual([
      { stream: 'stdout', text: 'two\n' },
      { stream: 'stderr', text: 'more\n' },
    ])
  },
)

test('after a yield of a clipped output nothing after it is lost', async () => {
  const outcome = await engine.run({
    command: 'seq 1 30000; while [ ! -e go-long ]; do sleep 0.02; done; echo the end',
    yieldMs: 1_500,
    clip: { kind: 'ends', maxChars: 30_000 },
  })
  const job = await engine.job(outcome.id!)
  const position = await positionAfter(job, outcome, RAW)
  writeFileSync(join(cwd, 'go-long'), '')
  await job.wait({ exit: true })
  const [part] = (await readJob(job, position, RAW)).parts
  expect(part!.text).toMatch(/30000\nthe end\n$/)
  expect(part!.text.length).toBeLessThan(5_000)
})

test('a long range shows both ends and its failures, counts what it leaves out, and the cursor stands at the end', async () => {
  const job = await engine.start({
    command: 'seq 1 60000; echo "error: in the middle"; seq 1 200000',
    streams: 'merged',
  })
  await job.wait({ exit: true })
  const { bytes } = await job.info()
  const reading = await readJob(job, {}, { ...RAW, maxChars: 10_000 })
  const [part] = reading.parts
  expect(part!.text.length).toBeLessThanOrEqual(10_100)
  expect(part!.text).toMatch(/^1\n2\n/)
  expect(part!.text).toMatch(/199999\n200000\n$/)
  expect(reading.cursor).toBe(bytes.total)
  expect(reading.omittedBytes).toBeGreaterThan(bytes.total - 10_200)
  expect((await readJob(job, reading.position, RAW)).parts[0]!.text).toBe('')
})

test('a filter over a long range is clipped too', async () => {
  const job = await engine.start({ command: 'seq 1 100000', streams: 'merged' })
  await job.wait({ exit: true })
  const reading = await readJob(job, {}, { ...RAW, filter: '7', maxChars: 2_000 })
  expect(reading.parts[0]!.text.length).toBeLessThanOrEqual(2_100)
  expect(reading.omittedBytes).toBeGreaterThan(0)
})

test('a filter waits for the rest of a line instead of judging half of it', async () => {
  const job = await engine.start({
    command: `printf 'fine\\nerr'; while [ ! -e finish-line ]; do sleep 0.02; done; echo 'or: late'; printf 'error: no newline'`,
    streams: 'merged',
  })
  await job.wait({ until: 'fine' })
  await expect.poll(async () => (await job.info()).bytes.total).toBe(8)
  const early = await readJob(job, {}, { ...RAW, filter: 'error' })
  expect(early).toMatchObject({ parts: [{ text: '' }], cursor: 5 })
  writeFileSync(join(cwd, 'finish-line'), '')
  await job.wait({ exit: true })
  expect((await readJob(job, early.position, { ...RAW, filter: 'error' })).parts[0]!.text).toBe(
    'error: late\nerror: no newline',
  )
  await expect(readJob(job, {}, { ...RAW, filter: '(' })).rejects.toThrow(/^Invalid filter regex/)
})
