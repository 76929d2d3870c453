/**
 * The wall clock may be set, by hours and in either direction: what waits, counts and is allowed does not follow it.
 */
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { Questions } from '../../../src/audit/questions.js'
import { ApprovalStates } from '../../../src/mcp/call/approvals.js'
import { Retries } from '../../../src/mcp/call/retries.js'
import { takeLockFile } from '../../../src/os/files/lock.js'
import { startHelper } from '../../../src/os/helper/native-launcher.js'
import { distFile } from '../../../src/os/package/file.js'
import { testEngine, temporaryFolder, until } from '../../engine/harness.js'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const HOUR_MS = 3_600_000
const real = Date.now
let offset = 0
beforeEach(() => {
  offset = 0
  Date.now = () => real() + offset
})
afterEach(() => void (Date.now = real))

describe.each([
  ['ahead', 5 * HOUR_MS],
  ['back', -5 * HOUR_MS],
])('a clock that jumps %s', (_, jump) => {
  test('leaves the times of calls, sessions and jobs as they were', async () => {
    const engine = await testEngine()
    const session = await engine.session()
    await session.run({ command: 'x=1' })
    const limited = [engine, session].map((door) => door.run({ command: 'sleep 60', timeoutMs: 500, graceMs: 200 }))
    const job = await engine.start({ command: 'read -rt 300 x <> <(:); echo over' })
    const waiting = job.wait({ timeoutMs: 700 })
    offset = jump
    for (const outcome of await Promise.all(limited)) {
      expect(outcome.status).toBe('timeout')
      expect(outcome.durationMs).toBeGreaterThanOrEqual(500)
      expect(outcome.durationMs).toBeLessThan(HOUR_MS)
    }
    expect(await waiting).toMatchObject({ reason: 'timeout' })
    expect(await session.run({ command: 'echo $x' })).toMatchObject({ stdout: '1\n', notes: [] })
    expect((await engine.jobs()).map(({ id, isRunning }) => [id, isRunning])).toEqual([[job.id, true]])
  })

  test.each(['auto', 'plain'] as const)('leaves the duration of a job as it was, tier %s', async (tier) => {
    const engine = await testEngine({ tier })
    const job = await engine.start({ command: 'read -rt 300 x <> <(:)' })
    await until(async () => (await job.info()).pid !== null)
    offset = jump
    const short = (ms: number): void => {
      expect(ms).toBeGreaterThanOrEqual(0)
      expect(ms).toBeLessThan(HOUR_MS)
    }
    short((await job.info()).durationMs)
    offset = 0
    await job.kill({ graceMs: 100 })
    // The clock of the keeper is the machine's: its record is written as a jump would have left it.
    const file = join((await job.info()).outputFile, '..', 'status')
    const shift = (_: string, at: string): string => `ended=${Number(at) + jump}`
    writeFileSync(file, readFileSync(file, 'latin1').replace(/^ended=(\d+)/m, shift), 'latin1')
    short((await job.info()).durationMs)
  })

  test('neither makes an approval valid twice nor ends it early', () => {
    const states = new ApprovalStates('client', 60_000)
    const question = { id: 'q', command: 'c', cwd: '/', session: null } as never
    const state = states.open(states.seal(question, 1))
    offset = jump
    expect(state.use(question, 1)).toBe(true)
    states.open(states.seal(question, 2)).use(question, 2)
    offset = 0
    expect(state.use(question, 1)).toBe(false)
  })

  test('has no command run twice for a request that comes again', async () => {
    const retries = new Retries<number>()
    let runs = 0
    const once = (): Promise<number> =>
      retries.once('k', 'a', async () => ++runs, { signal: AbortSignal.any([]), returnMs: 0, isFinal: () => true })
    await once()
    offset = jump
    expect(await once()).toBe(1)
  })

  test('takes no lock from a process that lives', async () => {
    const path = join(temporaryFolder(), 'lock')
    const first = await takeLockFile(path)
    offset = jump
    expect(await takeLockFile(path, { waitMs: 20, heldAtMostMs: 60_000 })).toMatchObject({ held: false })
    first.release()
    expect(await takeLockFile(path, { waitMs: 20, heldAtMostMs: 60_000 })).toMatchObject({ held: true })
  })

  test('forgets no question, and says how long a person took', async () => {
    const questions = new Questions('engine')
    const told: number[] = []
    questions.watch({ asked: () => {}, answered: (_asked, _answer, waitedMs) => void told.push(waitedMs) })
    const { id } = questions.ask({ command: 'c', cwd: '/' } as never, 'key', null)
    offset = jump
    expect(questions.open().map(({ waiting }) => waiting.id)).toEqual([id])
    questions.answerHere(id, { as: 'deny' } as never)
    await until(() => told.length > 0)
    expect(told[0]).toBeGreaterThanOrEqual(0)
    expect(told[0]).toBeLessThan(HOUR_MS)
  })
})

describe('on the lower tier', () => {
  /** A launcher whose clock runs a thousand times too fast, or backwards. */
  async function launcherWith(pace: number): Promise<Awaited<ReturnType<typeof startHelper>>> {
    const preload = `const real = Date.now, began = real(); Date.now = () => began + (real() - began) * ${pace}`
    const args = ['--import', `data:text/javascript,${encodeURIComponent(preload)}`]
    const launcher = await startHelper(process.execPath, [...args, distFile('native', 'plain-helper.mjs')], 'plain')
    onTestFinished(() => launcher.close())
    return launcher
  }
  const bash = (command: string, cwd: string): Parameters<Awaited<ReturnType<typeof launcherWith>>['start']>[0] => ({
    path: '/bin/bash', argv: ['bash', '-c', command], env: { PATH: process.env['PATH'] ?? '' }, cwd,
  }) // prettier-ignore

  test('a command that does not listen is ended after its grace by a clock that runs backwards', async () => {
    const launcher = await launcherWith(-1_000)
    const cwd = temporaryFolder()
    const ward = await launcher.start(bash(`trap '' TERM; : >ready; while :; do sleep 0.1; done`, cwd))
    await until(() => existsSync(join(cwd, 'ready')))
    ward.kill({ graceMs: 300, why: 'caller' })
    expect(await ward.exited).toMatchObject({ signal: 9, forced: true })
    await ward.gone
  })

  test('a command that tidies up has its grace by a clock that runs too fast', async () => {
    const launcher = await launcherWith(1_000)
    const cwd = temporaryFolder()
    const ward = await launcher.start(bash(`trap 'sleep 0.5; exit 7' TERM; : >ready; while :; do sleep 0.1; done`, cwd))
    await until(() => existsSync(join(cwd, 'ready')))
    ward.kill({ graceMs: 20_000, why: 'caller' })
    expect(await ward.exited).toMatchObject({ code: 7, forced: false })
    await ward.gone
  })
})
