/**
 * Odd places to start from: a deleted directory, a user without a home, a umask that takes one's own rights away. Each
 * is said, and what can work does.
 */
import { spawnSync, type SpawnSyncReturns } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { makeWorld } from '../harness.js'
import { temporaryFolder } from '../../fixtures/folder.js'

const program = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url))
const base = temporaryFolder('places')
chmodSync(base, 0o777)
const PATH = process.env['PATH'] ?? ''

/** A script of sh in which `cerith` is the built program. */
function sh(script: string, env: Record<string, string> = {}, as: readonly string[] = []): SpawnSyncReturns<string> {
  const [command, ...args] = [...as, 'sh', '-c', `cerith() { "${process.execPath}" "${program}" "$@"; }; ${script}`]
  return spawnSync(command as string, args, { cwd: base, encoding: 'utf8', env: { PATH, ...env } })
}

describe('a deleted directory', () => {
  const own = { HOME: base, CERITH_HOME: join(base, 'own') }
  const inDeleted = (script: string): SpawnSyncReturns<string> =>
    sh(`mkdir gone && cd gone && rmdir ../gone; ${script}`, own)

  test('is no place to run a command, also when PWD does not say where we are', () => {
    for (const script of [
      'cerith run pwd',
      'unset PWD; cerith run pwd',
      'PWD=/; export PWD; cerith run pwd',
      'cerith run --session s pwd',
      'cerith check ls',
      'cerith mcp',
    ]) {
      const { status, stdout, stderr } = inDeleted(script)
      expect({ status, stdout, stderr }, script).toEqual({
        status: 125,
        stdout: '',
        stderr: `cerith: The directory you are in no longer exists: ${base}/gone\n        Change to another one, or say where with --cwd DIR.\n`,
      })
    }
  })

  test('does not matter when --cwd names another one, nor to verbs that run nothing', () => {
    for (const [script, said] of [
      [`cerith run --cwd ${base} pwd`, `${base}\n`],
      [`cerith run --session elsewhere --cwd ${base} pwd`, `${base}\n`],
      ['cerith ps --json', '"jobs":[]'],
      ['cerith config limits.graceMs', '2000\n'],
      ['cerith clean', ''],
    ] as const) {
      const { status, stdout, stderr } = inDeleted(script)
      expect({ status, stderr }, script).toEqual({ status: 0, stderr: '' })
      expect(stdout).toContain(said)
    }
  })
})

test('--cwd takes the configuration of that directory, as `cerith config --cwd` shows it', async () => {
  const world = makeWorld()
  const strict = join(world.dir, 'strict')
  mkdirSync(strict)
  writeFileSync(
    join(strict, 'cerith.config.json'),
    '{"policy": {"rules": [{"decision": "deny", "commands": ["uname"]}]}}',
  )
  for (const argv of [
    ['run', '--cwd', strict, 'uname'],
    ['run', '--cwd', 'strict', 'uname'],
    ['check', '--exit-code', '--cwd', 'strict', 'uname'],
  ])
    expect((await world.cli(...argv)).code, argv.join(' ')).toBe(126)
  expect((await world.cli('run', 'uname')).code).toBe(0)
  expect((await world.cli('run', '--cwd', 'strict', 'pwd')).out).toBe(`${strict}\n`)
})

const asStranger = (uid: number): string[] => ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups']
/** Also where the checkout, or Node itself, is in a folder that only its owner may enter. */
const cannotBecome = process.getuid?.() !== 0 || sh('cerith --version', {}, asStranger(65_534)).status !== 0

describe.skipIf(cannotBecome)(
  'as another user (skipped when not root, without setpriv, or where others cannot read this checkout)',
  () => {
    // In no password file.
    const stranger = asStranger(54_321)

    test('without a home and without an entry in the password file it works, and says where its state is', () => {
      for (const [verb, said] of [
        ["run 'echo hi'", 'hi\n'],
        ['ps', 'No running jobs'],
        ['mcp </dev/null', ''],
      ] as const) {
        const { status, stdout, stderr } = sh(`cerith ${verb}`, {}, stranger)
        expect({ status, stdout }, verb).toEqual({ status: 0, stdout: expect.stringContaining(said) as string })
        expect(stderr).toMatch(
          /^cerith: There is no home directory: HOME is not set, and user 54321 is not in the password file; state is kept in \S+54321, which does not outlive the machine\. Set CERITH_HOME /,
        )
      }
    })

    test('with CERITH_HOME alone everything works', () => {
      const env = { CERITH_HOME: join(base, 'stranger') }
      expect(
        sh("cerith run 'echo hi'; cerith run --session s 'echo there'; cerith config limits.graceMs", env, stranger),
      ).toMatchObject({ status: 0, stdout: 'hi\nthere\n2000\n', stderr: '' })
    })

    test('a umask that takes the rights of the owner away is an error before anything is made', () => {
      const env = { HOME: base, CERITH_HOME: join(base, 'masked') }
      for (const verb of ["run 'echo hi'", 'run --session s true', 'run --background true', 'mcp']) {
        const { status, stdout, stderr } = sh(`umask 777; cerith ${verb}`, env, asStranger(65_534))
        expect({ status, stdout, stderr }, verb).toEqual({
          status: 125,
          stdout: '',
          stderr:
            'cerith: The umask 0777 takes your own rights away from every file that you make\n        Set a usual one first: umask 022\n',
        })
      }
      expect(sh('umask 777; cerith doctor --no-mcp', env, asStranger(65_534)).stdout).toMatch(/broken +umask +0777/)
      expect(
        sh("umask 077; cerith run --session s 'echo hi'; cerith run umask", env, asStranger(65_534)),
      ).toMatchObject({ status: 0, stdout: 'hi\n0077\n' })
    })
  },
)
