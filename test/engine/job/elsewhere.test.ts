/** A state directory that two machines share, as a home on a file server: each leaves alone what runs on the other. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { takeLockFile } from '../../../src/os/files/lock.js'
import { findDeadEngines } from '../../../src/os/helper/sweep.js'
import { temporaryFolder, testEngine } from '../harness.js'

const cli = fileURLToPath(new URL('../../../dist/cli.cjs', import.meta.url))

/** Another name, another boot, other pids: a machine, as far as a program can see. */
function onAnotherMachine(stateDir: string, script: string): { status: number | null; stdout: string } {
  const boot = join(temporaryFolder(), 'boot')
  writeFileSync(boot, '01234567-89ab-cdef-0123-456789abcdef\n')
  const become = `mount --bind ${boot} /proc/sys/kernel/random/boot_id && hostname elsewhere`
  const cerith = `cerith() { ${process.execPath} ${cli} "$@"; }`
  return spawnSync('unshare', ['-mpfu', '--mount-proc', 'bash', '-c', `${become}; ${cerith}; ${script}`], {
    env: { ...process.env, CERITH_HOME: stateDir },
    cwd: '/tmp',
    encoding: 'utf8',
    timeout: 60_000,
  })
}
const canBeAnother = onAnotherMachine('/tmp', 'hostname').stdout === 'elsewhere\n'

test.skipIf(!canBeAnother)('an engine and a job of one machine are left alone by the other', async () => {
  const stateDir = join(temporaryFolder(), 'state')
  const engine = await testEngine({ stateDir })
  const session = await engine.session()
  await session.run({ command: 'kept=1' })
  const job = await engine.start({ command: 'read -r line; echo "got $line"', openStdin: true, owner: 'detached' })
  const terminal = await engine.start({ command: 'read -r line', pty: true })
  const folders = readdirSync(join(stateDir, 'run'))

  const there = onAnotherMachine(
    stateDir,
    `cerith run --session work 'echo there'; cerith clean; cerith ps --json; cerith send ${job.id} no 2>&1; cerith kill ${job.id}; echo "kill $?"`,
  )
  expect(there.stdout).toMatch(/^there\nRemoved 0 finished jobs\.\n/)
  expect(there.stdout).toContain('"status":"running"')
  expect(there.stdout).toContain(`It runs on ${hostname()}, which shares this state directory`)
  expect(there.stdout).toMatch(/^cerith: It runs on /m)
  expect(there.stdout).toMatch(/still running\n[^]*kill 1\n$/)
  expect(readdirSync(join(stateDir, 'run'))).toEqual(folders)

  // Said once, and not that it has ended.
  const killed = onAnotherMachine(stateDir, `cerith kill --json ${job.id}`).stdout
  expect((JSON.parse(killed) as { notes: string[] }).notes).toEqual([expect.stringContaining('It runs on ')])
  const attached = onAnotherMachine(
    stateDir,
    `cerith run --pty '${process.execPath} ${cli} attach ${terminal.id}'; echo "attach $?"`,
  )
  expect(attached.stdout).toMatch(/^cerith: It runs on [^]*attach 125\n$/)
  await terminal.kill()

  await job.send({ text: 'a line', enter: true })
  const { info } = await job.wait({ timeoutMs: 20_000 })
  expect(info).toMatchObject({ status: 'completed', exitCode: 0 })
  expect(await session.run({ command: 'echo $kept' })).toMatchObject({ stdout: '1\n', notes: [] })
  // What it wrote down about its end is known everywhere.
  expect(onAnotherMachine(stateDir, `cerith read ${job.id}`).stdout).toContain('got a line')
})

test('a folder of another machine is kept for a week, one from before a restart is not', () => {
  const state = temporaryFolder()
  const record = (host: string): string => JSON.stringify({ pid: 1, start: '1', boot: 'another', host })
  for (const [name, host] of Object.entries({ theirs: 'elsewhere', old: 'elsewhere', ours: hostname() })) {
    const folder = join(state, name)
    spawnSync('mkdir', [folder])
    writeFileSync(join(folder, 'engine.json'), record(host))
    if (name === 'old') utimesSync(folder, 0, 0)
  }
  findDeadEngines(state, [state]).sweep()
  expect(readdirSync(state)).toEqual(['theirs'])
})

test('a lock of another machine holds until it is old', async () => {
  const path = join(temporaryFolder(), 'lock')
  const words = [process.pid + 1_000_000, '1', '1', 'elsewhere', 'another'].join(' ')
  writeFileSync(path, words)
  expect(await takeLockFile(path, { waitMs: 50 })).toMatchObject({ held: false })
  expect(readFileSync(path, 'utf8')).toBe(words)
  utimesSync(path, 0, 0)
  const lock = await takeLockFile(path, { waitMs: 2_000 })
  expect(lock.held).toBe(true)
  lock.release()
  expect(existsSync(path)).toBe(false)
})
