/**
 * Attacks over several calls of one session. The calls before the last only store text and are run; the last, which
 * would do harm, is only judged. A refusal of an earlier call counts too. They run in a room, in which nothing but the
 * test's own directory can be changed: a trap or a function that stores harm could be run by a later call.
 */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createEngine } from '../../src/index.js'
import { canConfine } from '../engine/sandbox/harness.js'

const dir = realpathSync(mkdtempSync(join(tmpdir(), 'cerith-attacks-')))
const engine = await createEngine({
  cwd: dir,
  stateDir: join(dir, 'state'),
  sandbox: { profile: 'workspace' },
  env: { PATH: process.env['PATH'], HOME: join(dir, 'home') },
})
mkdirSync(join(dir, 'home'))
afterAll(async () => {
  await engine.close()
  rmSync(dir, { recursive: true, force: true })
})

const rows = readFileSync(new URL('../corpus/session-attacks.jsonl', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line, at) => ({ name: `s${at}`, calls: JSON.parse(line) as string[] }))

async function isStopped(name: string, calls: readonly string[]): Promise<boolean> {
  const cwd = join(dir, name)
  mkdirSync(cwd)
  const session = await engine.session(name)
  try {
    // A directory of its own: a link of one row must not be in the way of another.
    expect(await session.run({ command: `cd ${cwd} && pwd` })).toMatchObject({ stdout: `${cwd}\n` })
    for (const command of calls.slice(0, -1)) if ((await session.run({ command })).status === 'refused') return true
    return (await engine.check(calls.at(-1) ?? '', { session: name })).decision === 'deny'
  } finally {
    await session.close()
  }
}

test.skipIf(!canConfine)('every one is stopped', { timeout: 600_000 }, async () => {
  const passed: string[][] = []
  const left = [...rows]
  const worker = async (): Promise<void> => {
    for (let row = left.shift(); row; row = left.shift())
      if (!(await isStopped(row.name, row.calls))) passed.push(row.calls)
  }
  await Promise.all([worker(), worker(), worker(), worker()])
  expect(passed).toEqual([])
  expect(rows.length).toBeGreaterThan(350)
})
