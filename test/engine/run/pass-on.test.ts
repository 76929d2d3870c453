/** The rest of a flood goes straight into a pipe that its reader names, unless it has to be shown or masked. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { Engine, RunRequest } from '../../../src/index.js'
import { findHelper } from '../../../src/os/helper/file.js'
import { temporaryFolder, testEngine } from '../harness.js'

const LINES = 'seq 1 3000000' // 22,888,896 bytes
const SIZE = 22_888_896

let counter: ChildProcess | null = null
afterEach(() => void counter?.kill('SIGKILL'))

/** A pipe with a program behind it that counts, and what a request needs to offer it after the first bytes. */
function offeredPipe(): { readonly offer: Partial<RunRequest>; seenHere(): number; counted(): Promise<number> } {
  const path = join(temporaryFolder(), 'pipe')
  execFileSync('mkfifo', [path])
  counter = spawn('bash', ['-c', `exec wc -c < ${path}`], { stdio: ['ignore', 'pipe', 'inherit'] })
  // Held until the end is asked for: the counter then sees the end of its input.
  const held = openSync(path, 'r+')
  let here = 0
  return {
    offer: {
      onBytes: ({ bytes }) => {
        here += bytes.length
        return here > 2_000_000 ? { into: path } : undefined
      },
    },
    seenHere: () => here,
    async counted() {
      const said = once(counter?.stdout as NodeJS.EventEmitter, 'data')
      closeSync(held)
      return Number(String((await said)[0]))
    },
  }
}

describe.skipIf(!findHelper())('on the native tier', () => {
  test('every byte comes here or goes there, and all are counted', async () => {
    const engine = await testEngine()
    const { offer, seenHere, counted } = offeredPipe()
    const outcome = await engine.run({ command: `${LINES}; exit 3`, clip: { kind: 'ends', maxChars: 1_000 }, ...offer })
    expect(outcome).toMatchObject({ exitCode: 3, truncated: true })
    const there = await counted()
    expect(there).toBeGreaterThan(5_000_000)
    expect(seenHere() + there).toBe(SIZE)
    expect(outcome.stdout.startsWith('1\n2\n')).toBe(true)
  })

  test('an outcome without a clip says what went there', async () => {
    const engine = await testEngine()
    const { offer, counted } = offeredPipe()
    const outcome = await engine.run({ command: LINES, clip: { kind: 'none' }, ...offer })
    expect(outcome.truncated).toBe(true)
    expect(outcome.omittedBytes).toBeGreaterThanOrEqual(await counted())
    expect(outcome.stdout).toContain(`[... ${outcome.omittedBytes} bytes omitted`)
  })

  test('from the moment that somebody follows it, it comes through here', async () => {
    const engine = await testEngine()
    const { offer, seenHere, counted } = offeredPipe()
    const handle = engine.stream({ command: `${LINES}; read -rt 0.5 < <(sleep 1); echo the end`, ...offer })
    while (seenHere() < 2_000_000) await new Promise((resolve) => setImmediate(resolve))
    let last = ''
    for await (const { text } of handle) last = `${last}${text}`.slice(-100)
    await handle.outcome
    expect(last).toMatch(/the end\n$/)
    expect(seenHere() + (await counted())).toBe(SIZE + 'the end\n'.length)
  })

  test('what becomes a job takes the rest of its output along', async () => {
    const engine = await testEngine()
    const { offer, seenHere, counted } = offeredPipe()
    const handle = engine.stream({ command: `${LINES}; sleep 0.5; echo the end`, ...offer })
    while (seenHere() < 2_000_000) await new Promise((resolve) => setImmediate(resolve))
    const { id, status } = await handle.toBackground()
    expect(status).toBe('running')
    const job = await engine.job(id as string)
    const { info } = await job.wait({ exit: true })
    expect(info.exitCode).toBe(0)
    expect((await job.read({ tail: 1 })).text).toBe('the end\n')
    expect(await counted()).toBeLessThanOrEqual(SIZE)
  })

  test('a value that has to be masked keeps everything here', async () => {
    const engine: Engine = await testEngine()
    engine.secrets.set('token', 'a-very-secret-value')
    const { offer, seenHere, counted } = offeredPipe()
    await engine.run({ command: 'head -c 3388895 /dev/zero', ...offer })
    expect([seenHere(), await counted()]).toEqual([3_388_895, 0])
  })
})

test('the lower tier passes nothing on, and loses nothing', async () => {
  const engine = await testEngine({ tier: 'plain' })
  const { offer, seenHere, counted } = offeredPipe()
  await engine.run({ command: LINES, ...offer })
  expect([seenHere(), await counted()]).toEqual([SIZE, 0])
})
