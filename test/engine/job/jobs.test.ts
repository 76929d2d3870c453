/** Jobs with real processes: start, look, read, wait, kill, move from the foreground. */
import { existsSync, readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createEngine, type Engine } from '../../../src/index.js'
import { makeGate } from '../../fixtures/gate.js'
import { until } from '../../fixtures/until.js'
import { temporaryFolder } from '../../fixtures/folder.js'

let stateDir: string
let engine: Engine

beforeEach(async () => {
  stateDir = temporaryFolder('jobs')
  engine = await createEngine({ stateDir, cwd: '/tmp' })
})

afterEach(async () => {
  await engine.close()
})

test('BG-01 BG-02 a job starts at once with id, pid, pgid and output file, and ends by itself', async () => {
  const job = await engine.start({ command: 'echo hello; echo oops >&2; exit 3' })
  expect(job.id).toMatch(/^shell_[0-9a-f]{8}$/)
  const { reason, info } = await job.wait()
  expect(reason).toBe('exit')
  expect(info).toMatchObject({
    status: 'failed',
    exitCode: 3,
    isRunning: false,
    cwd: '/tmp',
    owner: 'manager',
    streams: 'separate',
    bytes: { total: 11, omitted: 0 },
  })
  expect(info.pid).toBe(info.pgid)
  expect(await job.read()).toMatchObject({ text: 'hello\n', cursor: 6, start: 0, omittedBytes: 0, totalBytes: 6 })
  expect((await job.read({ stream: 'stderr' })).text).toBe('oops\n')
  // The record comes first, the line for people a moment later.
  await until(() => readFileSync(info.outputFile, 'utf8') === 'hello\n[background process failed: exit code 3]\n')
})

test('BG-02 the output file is there as soon as its name is told, every time', async () => {
  const missing: string[] = []
  for (let round = 0; round < 60; round++) {
    const job = await engine.start({ command: 'true', streams: round % 2 ? 'merged' : 'separate' })
    const { outputFile } = await job.info()
    if (!existsSync(outputFile)) missing.push(`round ${round}`)
    await job.wait()
  }
  expect(missing).toEqual([])
})

test('wait for a line, a kill, a second kill', async () => {
  const job = await engine.start({ command: 'echo up; sleep 100 & sleep 100', streams: 'merged' })
  expect(await job.wait({ until: /^up$/, timeoutMs: 5_000 })).toMatchObject({ reason: 'until', match: 'up' })
  expect((await engine.jobs()).map(({ id }) => id)).toEqual([job.id])
  expect(await job.kill()).toMatchObject({
    alreadyStopped: false,
    forced: false,
    notes: [],
    info: { status: 'killed' },
  })
  expect(await job.kill()).toMatchObject({ alreadyStopped: true })
  expect(await engine.jobs()).toEqual([])
})

test('a foreground command moves to the background without losing or doubling a byte', async () => {
  const gate = makeGate()
  const outcome = await engine.run({
    command: `for i in 1 2 3 4 5 6; do echo line $i; [ $i != 3 ] || { ${gate.wait}; }; done; exit 7`,
    yieldMs: 250,
  })
  expect(outcome).toMatchObject({ status: 'running', exitCode: null })
  expect(outcome.notes[0]?.text).toContain('NOT killed')
  gate.open()
  const job = await engine.job(outcome.id as string)
  expect((await job.wait()).info).toMatchObject({ status: 'failed', exitCode: 7 })
  expect((await job.read()).text).toBe([1, 2, 3, 4, 5, 6].map((n) => `line ${n}\n`).join(''))
})

test('a command that ends in & ends at once; what its child prints later can be read on, and a kill ends the child', async () => {
  const gate = makeGate()
  const job = await engine.start({ command: `(${gate.wait}; echo later; sleep 60) & echo now`, streams: 'merged' })
  const { info } = await job.wait()
  expect(info).toMatchObject({ status: 'completed', exitCode: 0, bytes: { total: 4 } })
  expect(info.notes).toEqual([
    { code: 'still-there', text: 'Processes that it started are still running; kill the job to end them.' },
  ])
  gate.open()
  let text = ''
  for (let cursor = 0; !text.includes('later'); await new Promise((resolve) => setTimeout(resolve, 10))) {
    const read = await job.read({ since: cursor })
    text += read.text
    cursor = read.cursor
  }
  expect(text).toBe('now\nlater\n')
  const killed = await job.kill()
  expect(killed.alreadyStopped).toBe(true)
  expect(killed.notes).toHaveLength(1)
  expect((await job.info()).notes).toEqual([
    { code: 'output-late', text: 'Output that came after its end follows the rest of its output.' },
  ])
})
