/**
 * Limits: how many jobs, how long, how large; each with its reason in the record, none of them a danger to the engine.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isAlive } from '../../../src/os/process/proc.js'
import { until } from '../../fixtures/until.js'
import { sleep, withEngine } from './setup.js'

const place = withEngine({ limits: { maxRunningJobs: 4 } })

test('one more than the cap is an error that lists the running ones; a place becomes free with an end', async () => {
  const { engine } = place
  const jobs = await Promise.all([1, 2, 3, 4].map((n) => engine.start({ command: `sleep 30${n}` })))
  const refusal = await engine.start({ command: 'echo no' }).catch((error: unknown) => error)
  expect(refusal).toMatchObject({ code: 'TOO_MANY_RUNS' })
  for (const { id } of jobs) expect((refusal as Error).message).toContain(id)
  await jobs[0]?.kill()
  await (await engine.start({ command: 'true' })).wait()
  const many = await Promise.allSettled(Array.from({ length: 6 }, () => engine.start({ command: 'sleep 30' })))
  expect(many.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test('BG-14 five shells at once have their own ids and outputs; a timeout in one does not touch the others', async () => {
  const engine = await place.another({ limits: {} })
  const jobs = await Promise.all(
    Array.from({ length: 5 }, (_, n) =>
      engine.start({
        command: `echo "I am ${n}"; sleep ${n === 2 ? 30 : 0.4}; echo done`,
        ...(n === 2 ? { timeoutMs: 1_000 } : {}),
      }),
    ),
  )
  expect(new Set(jobs.map(({ id }) => id)).size).toBe(5)
  const ends = await Promise.all(jobs.map((job) => job.wait()))
  expect(ends.map(({ info }) => info.status)).toEqual(['completed', 'completed', 'timeout', 'completed', 'completed'])
  expect(await Promise.all(jobs.map(async (job) => (await job.read()).text))).toEqual(
    [0, 1, 2, 3, 4].map((n) => (n === 2 ? 'I am 2\n' : `I am ${n}\ndone\n`)),
  )
})

test('a hard limit of wall-clock time is kept by the keeper: polite first, and also without an engine', async () => {
  const job = await place.engine.start({
    command: 'trap "echo last words; exit 0" TERM; while :; do sleep 0.02; done',
    timeoutMs: 1_000,
    owner: 'detached',
  })
  const { outputFile } = await job.info()
  await place.engine.close()
  const later = await (await place.another()).job(job.id)
  const { info } = await later.wait({ timeoutMs: 20_000 })
  expect(info).toMatchObject({ status: 'timeout', end: { kind: 'timeout', afterMs: 1_000, forced: false } })
  expect(readFileSync(outputFile, 'utf8')).toContain('last words\n')
})

test('a limit of CPU time ends a busy loop, and the notes say why', async () => {
  const job = await place.engine.start({ command: 'while :; do :; done', limits: { cpuSeconds: 1 } })
  const { info } = await job.wait({ timeoutMs: 25_000 })
  expect(info).toMatchObject({ status: 'killed', end: { by: 'limit', over: { limit: 'cpuSeconds' } } })
  expect(info.notes).toEqual([
    { code: 'limits', text: 'Runs with limits: cpuSeconds 1.' },
    { code: 'over-limit', text: expect.stringMatching(/^Over its CPU limit: 1\.\d s used, 1 s allowed/) as string },
  ])
})

test('a limit of memory stops a hog; a limit of file size stops a writer', async () => {
  const hog = await place.engine.start({ command: 'tail /dev/zero', limits: { memoryBytes: 64 * 1024 * 1024 } })
  expect((await hog.wait({ timeoutMs: 20_000 })).info).toMatchObject({
    notes: [
      { code: 'limits', text: 'Runs with limits: memoryBytes 67108864.' },
      { code: 'over-limit', text: expect.stringContaining('Over its memory limit: ') as string },
    ],
  })
  const writer = await place.engine.start({
    command: 'exec head -c 100000 /dev/zero > "$OUT"',
    env: { OUT: `/tmp/cerith-limit-${process.pid}` },
    limits: { fileBytes: 1_000 },
  })
  expect((await writer.wait({ timeoutMs: 20_000 })).info).toMatchObject({ status: 'failed', signal: 'SIGXFSZ' })
  await (await place.engine.start({ command: 'rm -f "$OUT"', env: { OUT: `/tmp/cerith-limit-${process.pid}` } })).wait()
})

test('F57 a job is more killable than the engine when memory runs out', async () => {
  const job = await place.engine.start({ command: 'cat /proc/self/oom_score_adj' })
  await job.wait()
  expect(Number((await job.read()).text)).toBeGreaterThan(Number(readFileSync('/proc/self/oom_score_adj', 'latin1')))
})

test('stored output is bounded: head and tail on disk, the hole counted, the job undisturbed', async () => {
  const job = await place.engine.start({
    command: 'yes 0123456789abcdef | head -c 30000000; exit 4',
    maxStoredBytes: 1_000_000,
  })
  const { info } = await job.wait()
  expect(info).toMatchObject({ status: 'failed', exitCode: 4, outputComplete: true })
  expect(info.bytes.total).toBe(30_000_000)
  const dir = place.dir(job.id)
  // Head and tail become one file a moment after the record.
  await until(() => readFileSync(info.outputFile, 'utf8').includes('exit code 4'))
  const onDisk = readdirSync(dir).reduce(
    (sum, name) => sum + (statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
  expect(onDisk).toBeLessThan(1_050_000)
  expect(readFileSync(info.outputFile, 'utf8')).toContain(`\n[... ${info.bytes.omitted} bytes omitted ...]\n`)
  expect(info.bytes.omitted).toBeGreaterThan(29_000_000)
})

test('finished jobs go when they are old, and the oldest go when all together are too large; running ones stay', async () => {
  const maker = await place.another({ limits: {} })
  const running = await maker.start({ command: 'echo x; sleep 300' })
  const old: string[] = []
  for (let n = 0; n < 4; n++) {
    const job = await maker.start({ command: 'head -c 100000 /dev/zero' })
    await job.wait()
    old.push(job.id)
  }
  const sized = await place.another({ limits: { totalStoredBytes: 250_000 } })
  await until(async () => (await sized.jobs({ all: true })).length === 3)
  expect((await sized.jobs({ all: true })).map(({ id }) => id)).toEqual([running.id, ...old.slice(2)])
  await sleep(20)
  const aged = await place.another({ limits: { keepFinishedMs: 10 } })
  await until(async () => (await aged.jobs({ all: true })).length === 1)
  expect((await aged.jobs()).map(({ id }) => id)).toEqual([running.id])
})

test('clean removes finished jobs of an age, and never a running one or one that left something running', async () => {
  const { engine } = place
  const [done, running, leaving] = await Promise.all(
    ['true', 'sleep 300', 'sleep 300 & echo $!'].map((command) => engine.start({ command })),
  )
  await Promise.all([done?.wait(), leaving?.wait()])
  await until(async () => (await engine.jobs({ all: true })).filter(({ isRunning }) => !isRunning).length === 2)
  expect(await engine.clean({ olderThanMs: 3_600_000 })).toEqual({ removed: [] })
  await until(async () => (await engine.clean()).removed.includes(done?.id as string))
  expect((await engine.jobs({ all: true })).map(({ id }) => id).sort()).toEqual([running?.id, leaving?.id].sort())
  const child = Number((await leaving?.read())?.text)
  await leaving?.kill()
  expect(isAlive(child)).toBe(false)
  expect(await engine.clean()).toEqual({ removed: [leaving?.id] })
})

test('many starts at once are told how many run and how many are being started', async () => {
  const engine = await place.another({ limits: { maxRunningJobs: 4 } })
  const many = await Promise.allSettled(Array.from({ length: 20 }, () => engine.start({ command: 'sleep 30' })))
  expect(many.filter(({ status }) => status === 'fulfilled')).toHaveLength(4)
  for (const one of many) {
    if (one.status === 'fulfilled') continue
    const said = /already (\d+) running jobs(?: and (\d+) that are being started)? \(the limit is 4\)/.exec(
      (one.reason as Error).message,
    )
    expect(Number(said?.[1]) + Number(said?.[2] ?? 0)).toBe(4)
  }
})

test('a foreground command that becomes a job is not held back by the limit, and counts', async () => {
  const engine = await place.another({ limits: { maxRunningJobs: 1 } })
  await engine.start({ command: 'sleep 30' })
  expect((await engine.run({ command: 'sleep 30', yieldMs: 50 })).status).toBe('running')
  await expect(engine.start({ command: 'true' })).rejects.toThrow('There are already 2 running jobs (the limit is 1)')
})
