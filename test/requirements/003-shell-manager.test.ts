/**
 * Document 003, the features Shell Manager and Shell Process, against real processes (002 describes the same classes).
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { ShellManager } from '../../src/engine/shell-manager.js'
import { processesWith, uniqueSleep } from './world.js'
import { until } from '../fixtures/until.js'

const stateDir = await mkdtemp(join(tmpdir(), 'cerith-manager-'))
let manager = ShellManager.get({ stateDir, cwd: tmpdir() })

beforeEach(async () => {
  await ShellManager.reset()
  manager = ShellManager.get({ stateDir, cwd: tmpdir() })
})
afterAll(async () => {
  await ShellManager.reset()
  await rm(stateDir, { recursive: true, force: true })
})

describe('Feature: Shell Manager', () => {
  test('Scenario: Create shell (MGR-01)', async () => {
    const shell = await manager.createShell('echo test', '/tmp')
    expect(shell.status).toBe('running')
    const other = await manager.createShell('sleep 60', '/tmp')
    expect(shell.id).toMatch(/^shell_[0-9a-f]{8}$/)
    expect(shell.id).not.toBe(other.id)
    expect(other.status).toBe('running')
    expect(manager.listShells()).toEqual([shell, other])
    const where = await manager.createShell('pwd', '/')
    await where.wait()
    expect(await where.getNewOutput()).toBe('/\n')
  })

  test('Scenario: Get shell by ID (MGR-01)', async () => {
    const shell = await manager.createShell('sleep 60')
    expect(manager.getShell(shell.id)).toBe(shell)
  })

  test('Scenario: Get non-existent shell (MGR-01)', () => {
    expect(manager.getShell('shell_xyz')).toBeNull()
  })

  test('Scenario: List all shells (MGR-01)', async () => {
    for (let count = 0; count < 3; count += 1) await manager.createShell('true')
    expect(manager.listShells()).toHaveLength(3)
  })

  test('Scenario: List running shells (MGR-01)', async () => {
    const [one, two, done] = [
      await manager.createShell('sleep 60'),
      await manager.createShell('sleep 60'),
      await manager.createShell('true'),
    ]
    await done.wait()
    expect(manager.listRunning()).toEqual([one, two])
    for (const shell of manager.listRunning()) expect(shell.isRunning).toBe(true)
  })

  test('Scenario: Cleanup completed shells (MGR-02)', async () => {
    const [running, done] = [await manager.createShell('sleep 60'), await manager.createShell('true')]
    await done.wait()
    expect(manager.cleanupCompleted(3_600), 'recently completed shells are kept').toBe(0)
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_700_000)
    try {
      expect(manager.cleanupCompleted(3_600)).toBe(1)
    } finally {
      vi.restoreAllMocks()
    }
    expect(manager.listShells(), 'running shells are kept').toEqual([running])
    const another = await manager.createShell('true')
    await another.wait()
    expect(manager.cleanupCompleted(), 'without an age: all that completed (002)').toBe(1)
  })

  test('Scenario: Kill all shells (MGR-01)', async () => {
    const mark = uniqueSleep()
    for (let count = 0; count < 3; count += 1) await manager.createShell(`${mark} & ${mark}`)
    await until(() => processesWith(mark).length >= 6)
    expect(await manager.killAll()).toBe(3)
    expect(processesWith(mark)).toEqual([])
    expect(manager.listRunning()).toEqual([])
  })

  test('Scenario: ShellManager is singleton (MGR-01)', async () => {
    const [a, b] = [ShellManager.get(), ShellManager.get()]
    expect(a).toBe(b)
    const shell = await a.createShell('true')
    expect(b.getShell(shell.id)).toBe(shell)
  })

  test('Scenario: Reset singleton for testing (MGR-01)', async () => {
    const mark = uniqueSleep()
    await manager.createShell(mark)
    await until(() => processesWith(mark).length > 0)
    await ShellManager.reset()
    expect(processesWith(mark)).toEqual([])
    const fresh = ShellManager.get({ stateDir, cwd: tmpdir() })
    expect(fresh).not.toBe(manager)
    expect(fresh.listShells()).toEqual([])
  })
})

describe('Feature: Shell Process', () => {
  test('Scenario: Get new output (MGR-03)', async () => {
    const shell = await manager.createShell('printf "line1\\nline2\\nline3\\n"')
    await shell.wait()
    shell.lastReadStdout = 6
    expect(await shell.getNewOutput()).toBe('line2\nline3\n')
    expect(shell.lastReadStdout).toBe(18)
    expect(await shell.getNewOutput()).toBe('')
  })

  test('Scenario: Get new output includes stderr (MGR-03)', async () => {
    const shell = await manager.createShell('echo from stdout; echo from stderr >&2')
    await shell.wait()
    expect(await shell.getNewOutput({ includeStderr: true })).toBe('from stdout\n[stderr]\nfrom stderr\n')
  })

  test('Scenario: Shell process lifecycle (MGR-03)', async () => {
    const running = await manager.createShell('sleep 60')
    expect(running.status, 'PENDING -> RUNNING: process started').toBe('running')
    const completed = await manager.createShell('exit 0')
    expect([await completed.wait(), completed.exitCode], 'RUNNING -> COMPLETED: exit_code == 0').toEqual([
      'completed',
      0,
    ])
    const failed = await manager.createShell('exit 3')
    expect([await failed.wait(), failed.exitCode], 'RUNNING -> FAILED: exit_code != 0').toEqual(['failed', 3])
    const timeout = await manager.createShell('sleep 60')
    expect(await timeout.wait(100), 'RUNNING -> TIMEOUT: wait timeout exceeded').toBe('timeout')
    expect([timeout.status, timeout.isRunning]).toEqual(['timeout', false])
    await running.kill()
    expect([running.status, running.isRunning], 'RUNNING -> KILLED: kill() called').toEqual(['killed', false])
    for (const shell of [completed, failed, timeout]) {
      const { status } = shell
      await shell.kill()
      expect(shell.status, 'what has ended stays as it ended').toBe(status)
    }
  })

  test('Scenario: Calculate duration (MGR-03)', async () => {
    const shell = await manager.createShell('sleep 0.5')
    await shell.wait()
    expect(shell.durationMs).toBeGreaterThanOrEqual(490)
    expect(shell.durationMs).toBeLessThan(5_000)
    expect(shell.durationMs, 'it stands still afterwards').toBe(shell.durationMs)
  })
})
