/** What a command may use, and what it used: fresh runs, terminals, sessions and jobs, on both tiers. */
import { beforeEach, describe, expect, test } from 'vitest'
import type { Engine } from '../../../src/index.js'
import { findHelper } from '../../../src/os/helper/file.js'
import { testEngine } from '../harness.js'

const MIB = 1024 * 1024
/** Grows step by step, so that it is over its limit for a while before anything else fails. */
const HOG = `exec node -e 'const kept = []; setInterval(() => kept.push(Buffer.alloc(8 << 20, 1)), 5)'`
const BUSY = 'while :; do :; done'
const MANY = 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 60 & done; wait'

for (const tier of ['auto', 'plain'] as const)
  describe.skipIf(tier === 'auto' && !findHelper())(`tier ${tier}`, () => {
    let engine: Engine
    beforeEach(async () => {
      engine = await testEngine({ tier })
    })

    const ways = {
      fresh: (request: Parameters<Engine['run']>[0]) => engine.run(request),
      session: async (request: Parameters<Engine['run']>[0]) => (await engine.session('limited')).run(request),
    }
    for (const [way, run] of Object.entries(ways)) {
      test(`${way}: too much memory ends the command, and the outcome says how much it was`, async () => {
        const outcome = await run({ command: HOG.replace('exec ', ''), limits: { memoryBytes: 150 * MIB } })
        expect(outcome).toMatchObject({
          status: 'killed',
          end: { kind: 'kill', by: 'limit', over: { limit: 'memoryBytes' } },
        })
        expect(outcome.notes.map(({ text }) => text).join('\n')).toMatch(
          /Over its memory limit: \d[\d.]* MB used, 157 MB allowed \(memoryBytes\)/,
        )
      })

      test(`${way}: too many processes end the command, also for root`, async () => {
        const outcome = await run({ command: MANY, limits: { processes: 6 } })
        expect(outcome).toMatchObject({
          status: 'killed',
          end: { kind: 'kill', by: 'limit', over: { limit: 'processes' } },
        })
        expect(outcome.notes.map(({ text }) => text).join('\n')).toMatch(
          /Over its process limit: \d+ at once, 6 allowed/,
        )
      })

      test(`${way}: CPU time counts over all processes together`, async () => {
        const outcome = await run({ command: `(${BUSY}) & (${BUSY}) & wait`, limits: { cpuSeconds: 1 } })
        expect(outcome).toMatchObject({ status: 'killed', end: { over: { limit: 'cpuSeconds' } } })
        expect(outcome.notes.map(({ text }) => text).join('\n')).toContain('Over its CPU limit: ')
      })

      test(`${way}: a command within its limits is left alone`, async () => {
        const outcome = await run({
          command: 'echo fine; sleep 0.2',
          limits: { memoryBytes: 500 * MIB, processes: 50, cpuSeconds: 60 },
        })
        expect(outcome).toMatchObject({ status: 'completed', stdout: 'fine\n', notes: [] })
      })
    }

    test('a session goes on with its state after a command that was over a limit', async () => {
      const session = await engine.session('kept')
      await session.run({ command: 'kept=yes' })
      expect((await session.run({ command: MANY, limits: { processes: 6 } })).status).toBe('killed')
      expect((await session.run({ command: 'echo $kept' })).stdout).toBe('yes\n')
    })

    test('a limit goes with a command that becomes a job', async () => {
      const session = await engine.session('moving')
      const outcome = await session.run({
        command: `sleep 0.5; ${HOG.replace('exec ', '')}`,
        limits: { memoryBytes: 150 * MIB },
        yieldMs: 200,
      })
      expect(outcome.status).toBe('running')
      const { info } = await (await engine.job(outcome.id as string)).wait({ timeoutMs: 60_000 })
      expect(info).toMatchObject({ status: 'killed', end: { by: 'limit', over: { limit: 'memoryBytes' } } })
      expect(info.notes.map(({ text }) => text).join('\n')).toContain('Over its memory limit')
    })
  })

describe.skipIf(!findHelper())('usage', () => {
  let engine: Engine
  beforeEach(async () => {
    engine = await testEngine({ commandLimits: { processes: 8, memoryBytes: 4 * 1024 * MIB } })
  })
  const WORK = `node -e 'const b = Buffer.alloc(80 << 20, 1); const t = Date.now(); while (process.cpuUsage().user < 3e5) {}'`

  test('an outcome says what the command and its children used: fresh, in a session, on a terminal, as a job', async () => {
    const session = await engine.session('s')
    const job = await engine.start({ command: WORK })
    const { info } = await job.wait({ timeoutMs: 60_000 })
    const all = [
      (await engine.run({ command: WORK })).usage,
      (await session.run({ command: WORK })).usage,
      (await engine.run({ command: WORK, pty: true })).usage,
      info.usage,
    ]
    for (const usage of all) {
      expect(usage?.cpuMs).toBeGreaterThan(250)
      expect(usage?.cpuMs).toBeLessThan(20_000)
      expect(usage?.peakBytes).toBeGreaterThan(80 * MIB)
    }
    // What an earlier command of the session used is not counted again.
    const later = (await session.run({ command: 'sleep 0.3' })).usage
    expect(later?.cpuMs).toBeLessThan(200)
    expect(later?.peakBytes).toBeLessThan(60 * MIB)
  })

  test('what was ended says what it had used until then', async () => {
    for (const where of [engine, await engine.session('s')]) {
      const { status, usage } = await where.run({
        command: `${WORK}; node -e 'setInterval(() => {}, 1000)'`,
        timeoutMs: 4_000,
      })
      expect(status).toBe('timeout')
      expect(usage?.cpuMs).toBeGreaterThan(30)
    }
    const over = await engine.run({ command: `${HOG.replace('exec ', '')}; true`, limits: { memoryBytes: 150 * MIB } })
    expect(over.usage?.peakBytes).toBeGreaterThan(150 * MIB)
  })

  test('a call may ask for less than the engine allows, never for more', async () => {
    const outcome = await engine.run({ command: MANY, limits: { processes: 100 } })
    expect(outcome).toMatchObject({ status: 'killed', end: { over: { limit: 'processes' } } })
    expect(outcome.notes.map(({ text }) => text).join('\n')).toContain('8 allowed')
  })

  test('a killed job says who killed it; one that ended with its engine says that', async () => {
    const job = await engine.start({ command: 'sleep 600' })
    await job.kill({ by: 'ann at her terminal\nand\x1b more' })
    expect((await job.info()).end).toEqual({
      kind: 'kill',
      forced: false,
      by: 'caller',
      who: 'ann at her terminal and more',
    })
    const other = await testEngine({})
    const left = await other.start({ command: 'sleep 600' })
    await other.close()
    expect((await left.info()).end).toMatchObject({ kind: 'kill', by: 'close' })
  })
})
