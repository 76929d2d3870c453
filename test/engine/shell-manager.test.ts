/** The ShellManager face, scenario by scenario. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ShellManager, type ShellProcess } from '../../src/index.js'
import { temporaryFolder } from '../fixtures/folder.js'

let stateDir: string
let manager: ShellManager

beforeEach(() => {
  stateDir = temporaryFolder('manager')
  manager = ShellManager.get({ stateDir })
})

afterEach(async () => {
  await ShellManager.reset()
})

const settled = async (shell: ShellProcess): Promise<ShellProcess> => {
  while (shell.isRunning) await new Promise((resolve) => setTimeout(resolve, 5))
  return shell
}

test('MGR-01 a shell is created with a unique id, running, and tracked', async () => {
  const shell = await manager.createShell('echo test', '/tmp')
  expect(shell.status).toBe('running')
  expect(shell.id).toMatch(/^shell_[0-9a-f]{8}$/)
  expect(manager.getShell(shell.id)).toBe(shell)
  expect(manager.getShell('shell_xyz')).toBeNull()
})

test('MGR-01 list and list_running tell three shells from the two that run', async () => {
  const [a, b, c] = await Promise.all([
    manager.createShell('sleep 60'),
    manager.createShell('sleep 60'),
    manager.createShell('true'),
  ])
  await settled(c as ShellProcess)
  expect(manager.listShells()).toHaveLength(3)
  expect(
    manager
      .listRunning()
      .map(({ id }) => id)
      .sort(),
  ).toEqual([a?.id, b?.id].sort())
  expect(manager.listRunning().every(({ isRunning }) => isRunning)).toBe(true)
})

test('MGR-01 kill_all kills three running shells and says three; a second time none', async () => {
  const shells = await Promise.all([1, 2, 3].map(() => manager.createShell('sleep 60 & sleep 60')))
  expect(await manager.killAll()).toBe(3)
  expect(shells.map(({ status }) => status)).toEqual(['killed', 'killed', 'killed'])
  expect(await manager.killAll()).toBe(0)
})

test('MGR-01 two looks at the singleton see the same shells; reset kills them and starts afresh', async () => {
  const other = ShellManager.get()
  expect(other).toBe(manager)
  const shell = await manager.createShell('sleep 60')
  expect(other.listShells()).toEqual([shell])
  await ShellManager.reset()
  expect(shell.status).toBe('killed')
  const fresh = ShellManager.get({ stateDir })
  expect(fresh).not.toBe(manager)
  expect(fresh.listShells()).toEqual([])
})

test('MGR-02 cleanup forgets finished shells; with an age it keeps the recent and the running', async () => {
  const done = await manager.createShell('true')
  const running = await manager.createShell('sleep 60')
  await settled(done)
  expect(manager.cleanupCompleted(3600)).toBe(0)
  expect(manager.listShells()).toHaveLength(2)
  let forgotten = 0
  while (forgotten === 0) {
    await new Promise((resolve) => setTimeout(resolve, 1))
    forgotten = manager.cleanupCompleted(0.01)
  }
  expect(forgotten).toBe(1)
  expect(manager.listShells()).toEqual([running])
})

test('MGR-02 cleanup without an age forgets all that finished, and their directories', async () => {
  const done = await manager.createShell('true')
  const running = await manager.createShell('sleep 60')
  await settled(done)
  expect(manager.cleanupCompleted()).toBe(1)
  expect(manager.listShells()).toEqual([running])
  expect(readdirSync(join(stateDir, 'jobs'))).toEqual([running.id])
})

test('MGR-03 get_new_output moves its cursor from 6 to 18 on the 18-character sample', async () => {
  const shell = await manager.createShell("printf 'line1\\nline2\\nline3\\n'")
  await settled(shell)
  shell.lastReadStdout = 6
  expect(await shell.getNewOutput()).toBe('line2\nline3\n')
  expect(shell.lastReadStdout).toBe(18)
  expect(await shell.getNewOutput()).toBe('')
})

test('MGR-03 get_new_output with stderr marks it, and two calls at once never give the same bytes', async () => {
  const shell = await manager.createShell('echo out; echo err >&2')
  await settled(shell)
  const both = await Promise.all([
    shell.getNewOutput({ includeStderr: true }),
    shell.getNewOutput({ includeStderr: true }),
  ])
  expect(both).toEqual(['out\n[stderr]\nerr\n', ''])
})

test('MGR-03 the lifecycle ends in completed, failed, timeout or killed without being polled', async () => {
  const [good, bad, slow, killed] = await Promise.all(
    ['true', 'exit 4', 'sleep 60', 'sleep 60'].map((command) => manager.createShell(command)),
  )
  await killed?.kill()
  expect(await slow?.wait(50)).toBe('timeout')
  await Promise.all([settled(good as ShellProcess), settled(bad as ShellProcess)])
  expect([good, bad, slow, killed].map((shell) => [shell?.status, shell?.exitCode])).toEqual([
    ['completed', 0],
    ['failed', 4],
    ['timeout', null],
    ['killed', null],
  ])
})

test('MGR-03 the duration is that of the command, also long after its end', async () => {
  const began = performance.now()
  const shell = await manager.createShell('sleep 0.3')
  await settled(shell)
  const { durationMs } = shell
  expect(durationMs).toBeGreaterThan(250)
  expect(durationMs).toBeLessThan(performance.now() - began + 1_000)
  await new Promise((resolve) => setTimeout(resolve, 30))
  expect(shell.durationMs).toBe(durationMs)
})
