/** Waiting in one call: what came true first is named, and nothing is ever killed by it. */
import { rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeGate } from '../../fixtures/gate.js'
import { until } from '../harness.js'
import { sleep, withEngine } from './setup.js'

const place = withEngine()

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

test('waits for a line of either stream, also for one without its end, and says which', async () => {
  const job = await place.engine.start({
    command: 'echo begin; sleep 0.1; echo "Listening on 80" >&2; sleep 0.1; printf "Password: "; sleep 60',
  })
  expect(await job.wait({ until: 'listening on \\d+', timeoutMs: 300 })).toMatchObject({ reason: 'timeout' })
  expect(await job.wait({ until: /listening ON \d+/i, timeoutMs: 20_000 })).toMatchObject({
    reason: 'until',
    match: 'Listening on 80',
    info: { status: 'running' },
  })
  expect(await job.wait({ until: 'Password: $', timeoutMs: 20_000 })).toMatchObject({
    reason: 'until',
    match: 'Password: ',
  })
})

test('a pattern that is none is told as the one that was given', async () => {
  const job = await place.engine.start({ command: 'sleep 60' })
  await expect(job.wait({ until: '[' })).rejects.toThrow('Invalid until regex "[": ')
})

test('a line that was there before counts, unless `since` says otherwise', async () => {
  const job = await place.engine.start({ command: 'echo go; sleep 0.2; echo go again; sleep 60' })
  expect(await job.wait({ until: 'go' })).toMatchObject({ match: 'go' })
  expect(await job.wait({ until: 'go', since: 3, timeoutMs: 20_000 })).toMatchObject({ match: 'go again' })
})

test('a line that comes with the end is found before the end', async () => {
  const job = await place.engine.start({ command: 'sleep 0.1; printf "the end"' })
  expect(await job.wait({ until: 'the end' })).toMatchObject({ reason: 'until', match: 'the end' })
  expect(await job.wait({ until: 'never' })).toMatchObject({ reason: 'exit', match: null })
})

test('waits for a port, a file, silence, the end, a time, an abort; the first wins', async () => {
  const port = await freePort()
  const file = join(tmpdir(), `cerith-made-${process.pid}`)
  rmSync(file, { force: true })
  const gate = makeGate()
  const job = await place.engine.start({
    command: `sleep 0.1; touch ${file}; echo x; ${gate.wait}; exec ${process.execPath} -e 'require("net").createServer().listen(${port}, "127.0.0.1")'`,
  })
  expect(await job.wait({ file, port, timeoutMs: 20_000 })).toMatchObject({ reason: 'file' })
  gate.open()
  expect(await job.wait({ port, timeoutMs: 20_000 })).toMatchObject({ reason: 'port' })
  expect(await job.wait({ idleMs: 60 })).toMatchObject({ reason: 'idle', info: { status: 'running' } })
  expect(await job.wait({ exit: true, timeoutMs: 30 })).toMatchObject({
    reason: 'timeout',
    info: { status: 'running' },
  })
  const abort = new AbortController()
  setTimeout(() => abort.abort(), 20)
  expect(await job.wait({ signal: abort.signal })).toMatchObject({ reason: 'aborted', info: { status: 'running' } })
  expect(await job.wait({ timeoutMs: 0 })).toMatchObject({ reason: 'timeout' })
  rmSync(file)
})

test('silence is counted from the last output, not from the first', async () => {
  const job = await place.engine.start({
    command: 'for i in 1 2 3 4 5 6; do echo $i; sleep 0.05; done; sleep 60',
    streams: 'merged',
  })
  expect(await job.wait({ idleMs: 2_000, timeoutMs: 20_000 })).toMatchObject({ reason: 'idle' })
  expect((await job.read()).text).toBe('1\n2\n3\n4\n5\n6\n')
})

test('waiting works from an engine that did not start the job', async () => {
  const other = await place.another()
  const started = await place.engine.start({ command: 'sleep 0.1; echo ready; sleep 0.1; exit 9' })
  const job = await other.job(started.id)
  expect(await job.wait({ until: 'ready', timeoutMs: 20_000 })).toMatchObject({ reason: 'until' })
  expect(await job.wait()).toMatchObject({ reason: 'exit', info: { exitCode: 9 } })
})

test('a bad pattern, port or time is an error at once', async () => {
  const job = await place.engine.start({ command: 'sleep 60' })
  await expect(job.wait({ until: '(' })).rejects.toMatchObject({ code: 'BAD_FILTER' })
  await expect(job.wait({ port: 70_000 })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  await expect(job.wait({ timeoutMs: -1 })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
})

test('a job that was cleaned up while somebody waits for it is an error, not a wait for ever', async () => {
  const other = await place.another()
  const job = await other.job((await place.engine.start({ command: 'sleep 60' })).id)
  const waited = job.wait()
  waited.catch(() => {})
  await sleep(50)
  rmSync(place.dir(job.id), { recursive: true })
  await expect(waited).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' })
})

test('events: started, output, ended; the end once, after the last byte can be read', async () => {
  const { engine } = place
  const seen: string[] = []
  let atEnd = ''
  const reads: Promise<void>[] = []
  const stop = engine.onJobEvent((event) => {
    seen.push(event.kind === 'output' ? `${event.kind} ${event.stream}` : `${event.kind} ${event.info.status}`)
    if (event.kind === 'ended')
      reads.push(engine.job(event.info.id).then(async (job) => void (atEnd = (await job.read()).text)))
  })
  const job = await engine.start({ command: 'echo a; sleep 0.1; echo b >&2; sleep 0.1; echo c; exit 1' })
  const own: string[] = []
  for await (const event of job.events()) own.push(event.kind)
  // The engine's listeners hear of it in their own time.
  await until(() => seen.some((line) => line.startsWith('ended')))
  await Promise.all(reads)
  stop()
  expect(seen[0]).toBe('started running')
  expect(seen.filter((line) => line.startsWith('ended'))).toEqual(['ended failed'])
  expect(seen.at(-1)).toBe('ended failed')
  expect(new Set(seen)).toEqual(new Set(['started running', 'output stdout', 'output stderr', 'ended failed']))
  expect(atEnd).toBe('a\nc\n')
  expect(own.at(-1)).toBe('ended')
  expect(own.filter((kind) => kind === 'ended')).toHaveLength(1)
})
