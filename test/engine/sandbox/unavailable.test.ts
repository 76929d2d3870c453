/** Where no room can be built nothing runs, and the error names what to change on this machine. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../harness.js'
import { canConfine } from './harness.js'

const cli = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url))
/** A user namespace has a count of its own: the switch is turned in there and nowhere else. */
const NO_MORE = 'echo 0 >/proc/sys/user/max_user_namespaces'
const APPARMOR = `mount -t tmpfs none /proc/sys/kernel && echo 1 >/proc/sys/kernel/apparmor_restrict_unprivileged_userns`
const DEBIAN = `mount -t tmpfs none /proc/sys/kernel && echo 0 >/proc/sys/kernel/unprivileged_userns_clone`

/** As container engines do it: a part of /proc has something else in its place, so no other /proc may be mounted. */
const COVERED = 'mount -t tmpfs none /proc/bus'

function within(switches: string, ...words: string[]) {
  const folder = temporaryFolder()
  const work = join(folder, 'work')
  mkdirSync(work)
  const env = { ...process.env, CERITH_HOME: join(folder, 'state'), HOME: folder }
  const command = [
    '-Urpf',
    '--mount-proc',
    'bash',
    '-c',
    `${switches} && exec "$@"`,
    'x',
    process.execPath,
    cli,
    ...words,
  ]
  return { work, ...spawnSync('unshare', command, { cwd: work, encoding: 'utf8', env }) }
}

describe.skipIf(!canConfine)('without user namespaces', () => {
  test.each([
    [NO_MORE, 'sudo sysctl user.max_user_namespaces=15000'],
    [`${NO_MORE} && ${APPARMOR}`, 'install the profile from docs/sandbox.md (sudo apparmor_parser -r)'],
    [`${NO_MORE} && ${DEBIAN}`, 'sudo sysctl kernel.unprivileged_userns_clone=1'],
  ])('%s: nothing runs, and the switch is named', (switches, hint) => {
    const run = within(switches, 'run', '--sandbox', '--', 'touch', 'started')
    expect([run.status, run.stdout]).toEqual([125, ''])
    expect(run.stderr).toContain('nothing was started (user namespace: ENOSPC)')
    expect(run.stderr).toContain(hint)
    expect(existsSync(join(run.work, 'started'))).toBe(false)
  })

  test('where a part of /proc is covered, nothing runs, it is said, and the weaker sandbox can be had', () => {
    const run = within(COVERED, 'run', '--sandbox', '--', 'touch', 'started')
    expect([run.status, run.stdout, existsSync(join(run.work, 'started'))]).toEqual([125, '', false])
    expect(run.stderr).toContain('nothing was started (init: EPERM)')
    expect(run.stderr).toContain('systempaths=unconfined')
    const weaker = within(COVERED, 'run', '--sandbox', '--set', 'sandbox.unavailable=weaker', '--', 'echo', 'in')
    expect([weaker.status, weaker.stdout]).toEqual([0, 'in\n'])
  })

  test('what is hidden is hidden as well where its file system is mounted a second time', () => {
    const twice =
      'mkdir -p ../home/.ssh && echo secret >../home/.ssh/id && echo home >../home/file && echo open >../file && mount --bind .. /mnt && export HOME=$PWD/../home'
    const look = 'cat /mnt/file; cat /mnt/home/.ssh/id /mnt/home/file; ls /mnt/state'
    const said = ['rooms', 'landlock'].map((tier) => {
      const run = within(twice, 'run', '--sandbox', '--set', `sandbox.tier=${tier}`, '--', 'bash', '-c', look)
      return [tier, run.stdout]
    })
    // Landlock knows files, not their places: what may be read at one may be read at all.
    expect(said).toEqual([
      ['rooms', 'open\n'],
      ['landlock', 'open\nhome\n'],
    ])
  })

  test('the weaker sandbox is taken where it was asked for, and holds', () => {
    const weaker = ['--set', 'sandbox.unavailable=weaker']
    const run = within(
      NO_MORE,
      'run',
      '--sandbox',
      ...weaker,
      '--',
      'bash',
      '-c',
      'echo in >in; echo out >../out; cat in',
    )
    expect([run.status, run.stdout]).toEqual([0, 'in\n'])
    expect(run.stderr).toContain('../out: Permission denied')
    expect(existsSync(join(run.work, '../out'))).toBe(false)
  })
})
