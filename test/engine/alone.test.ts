/**
 * Every asynchronous method settles when it is all that its host waits for, however long the engine was idle before.
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { temporaryFolder } from './harness.js'

const host = fileURLToPath(new URL('../fixtures/awaits-alone.mjs', import.meta.url))
const killing = fileURLToPath(new URL('../fixtures/launcher-killed.mjs', import.meta.url))
/** What is neither asynchronous nor for users: a method of another name has to be added to the calls of the host. */
const OTHERS = [
  'engine.onJobEvent', 'engine.setAsk', 'engine.calls', 'engine.watch', 'engine.onLink',
  'session.surroundings', 'session.snapshot', 'session.currentState', 'session.stateInTurn', 'session.adopt', 'session.noteStatus',
  'job.record',
  'manager.getShell', 'manager.listShells', 'manager.listRunning', 'manager.cleanupCompleted',
] // prettier-ignore

async function alone(method: string, tier: string, file = host): Promise<string> {
  const env = { ...process.env, CERITH_HOME: join(temporaryFolder(), 'state'), TIER: tier }
  const { stdout } = await promisify(execFile)(process.execPath, [file, method], { env }).catch(
    (error: { stdout: string; code: number }) => ({ stdout: `${error.stdout}exit ${error.code}` }),
  )
  return stdout.trim()
}

test('settles each of them, on both tiers', async () => {
  const { names, calls } = JSON.parse(await alone('list', 'auto')) as { names: string[]; calls: string[] }
  expect(names.filter((name) => !calls.includes(name) && !OTHERS.includes(name))).toEqual([])
  const rows: (readonly [string, string])[] = calls.flatMap((method) => [
    [method, 'auto'] as const,
    ...(['session.restart', 'session.close', 'engine.close', 'job.kill'].includes(method)
      ? [[method, 'plain'] as const]
      : []),
  ])
  const wrong: string[] = []
  const work = async (): Promise<void> => {
    for (let row = rows.pop(); row; row = rows.pop()) {
      const said = await alone(...row)
      if (!said.endsWith('settled')) wrong.push(`${row.join(' ')}: ${said}`)
    }
  }
  await Promise.all([work(), work(), work()])
  expect(wrong).toEqual([])
})

test('a job that is being started when the launcher is killed', async () => {
  for (let round = 0; round < 3; round++) {
    const said = await Promise.all(['a', 'b'].map(() => alone('', 'auto', killing)))
    expect(said).toEqual(['settled', 'settled'])
  }
})

test.each(['auto', 'plain'])(
  'a rush that used up the descriptors of the helper (%s) is over when it is over',
  async (tier) => {
    const file = fileURLToPath(new URL('../fixtures/after-a-rush.mjs', import.meta.url))
    const env = { ...process.env, CERITH_HOME: join(temporaryFolder(), 'state'), CERITH_AUDIT: 'off', TIER: tier }
    const line = `ulimit -n 100; exec "$0" "$1"`
    const { stdout } = await promisify(execFile)('bash', ['-c', line, process.execPath, file], { env, timeout: 60_000 })
    expect(JSON.parse(stdout)).toEqual({ refused: true, later: 'later\n' })
  },
)

test('a host without descriptors is told so, loses none, and goes on when it has some again', async () => {
  const file = fileURLToPath(new URL('../fixtures/descriptors-used-up.mjs', import.meta.url))
  const env = { ...process.env, CERITH_HOME: join(temporaryFolder(), 'state'), CERITH_AUDIT: 'off' }
  const line = `ulimit -n 100; exec "$0" "$1" 12`
  const { stdout } = await promisify(execFile)('bash', ['-c', line, process.execPath, file], { env, timeout: 60_000 })
  const lines = stdout
    .trim()
    .split('\n')
    .map((each) => JSON.parse(each) as { said?: string; later?: string; more?: number })
  expect(lines.pop()).toEqual({ more: 0 })
  expect(lines).toHaveLength(13)
  for (const { said, later } of lines) {
    expect(said).toMatch(/^(?:first\n|SPAWN_FAILED .*EMFILE.*)$/)
    expect(later).toBe('later\n')
  }
}, 90_000)
