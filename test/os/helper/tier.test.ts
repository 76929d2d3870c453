/** A launcher that is killed: its successor takes nothing for its own that belonged to the one before. */
import { closeSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { findHelper } from '../../../src/os/helper/file.js'
import { startHelper } from '../../../src/os/helper/native-launcher.js'
import { NOT_BEGUN, ROOM_GONE, type Launcher, type RoomOrder } from '../../../src/os/helper/launcher.js'
import { startLauncher } from '../../../src/os/helper/tier.js'
import { temporaryFolder } from '../../fixtures/folder.js'
import { until } from '../../fixtures/until.js'

const bash = (command: string) => ({ path: '/bin/bash', argv: ['bash', '-c', command], env: {}, cwd: '/' })

async function launcherOf(tier: 'auto' | 'plain' = 'auto'): Promise<Launcher> {
  const launcher = await startLauncher(tier)
  onTestFinished(() => launcher.close())
  return launcher
}

async function killed(launcher: Launcher): Promise<void> {
  process.kill(launcher.pid, 'SIGKILL')
  await until(() => !launcher.alive)
}

function roomOrder(inner: string): RoomOrder {
  return {
    items: [],
    onlyWall: false,
    strict: false,
    allNetwork: false,
    nested: false,
    weaker: true,
    listens: false,
    inner,
  }
}

describe.skipIf(!findHelper())('a launcher that was killed', () => {
  test('its pipes are not taken for those of its successor', async () => {
    const launcher = await launcherOf()
    const pipe = await launcher.pipe()
    closeSync(pipe.readEnd())
    await killed(launcher)
    const file = join(temporaryFolder(), 'ran')
    await expect(launcher.start({ ...bash(`echo >${file}`), stdout: pipe, merge: true })).rejects.toMatchObject({
      cause: NOT_BEGUN,
    })
    const next = await launcher.pipe()
    const ward = await launcher.start({ ...bash('true'), stdout: next, merge: true })
    await ward.exited
    expect(existsSync(file)).toBe(false)
  })

  test('its rooms are not taken for those of its successor', async () => {
    const launcher = await launcherOf()
    const inner = temporaryFolder()
    mkdirSync(join(inner, 'a'))
    const before = await launcher.room(roomOrder(inner))
    await killed(launcher)
    const after = await launcher.room(roomOrder(inner))
    await expect(launcher.start({ ...bash('true'), inside: { room: before } })).rejects.toMatchObject({
      cause: ROOM_GONE,
    })
    launcher.closeRoom(before)
    const ward = await launcher.start({ ...bash('exit 3'), inside: { room: after } })
    expect((await ward.exited).code).toBe(3)
    expect(after.alive).toBe(true)
  })

  test('as it starts: that is said, and no weaker one takes its place', async () => {
    await expect(startHelper('bash', ['-c', 'kill -KILL $$'], 'native')).rejects.toMatchObject({
      code: 'SPAWN_FAILED',
      message: 'The helper that starts commands was killed as it started',
    })
  })
})

test('the lower tier answers an order for a room', async () => {
  const launcher = await launcherOf('plain')
  await expect(launcher.room(roomOrder(temporaryFolder()))).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
})
