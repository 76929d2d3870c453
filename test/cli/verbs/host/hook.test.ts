/** A hook whose answer does not arrive blocks: hosts run the command after every exit code but 2. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { HOOK_HOSTS } from '../../../../src/hooks/hosts/index.js'
import { temporaryFolder } from '../../../fixtures/folder.js'

const cli = fileURLToPath(new URL('../../../../dist/cli.cjs', import.meta.url))
const base = temporaryFolder('hook')

/** A line of a shell in which `hook` is the program; its exit code is that of the line. */
function ask(line: string, input: object): { code: number | null; err: string } {
  const env = { ...process.env, CERITH_HOME: join(base, 'state'), HOME: base, NODE: process.execPath, CLI: cli }
  const { status, stderr } = spawnSync('bash', ['-c', `hook() { "$NODE" "$CLI" hook "$@"; }; ${line}`], {
    env,
    input: JSON.stringify(input),
    encoding: 'utf8',
  })
  return { code: status, err: stderr }
}

describe.each(Object.entries(HOOK_HOSTS))('%s', (name, host) => {
  test.each([
    ['a full disk', '>/dev/full'],
    ['a closed stdout', '>&-'],
    ['a reader that has left', '>&3', 'exec 3> >(exec true); wait $!;'],
  ])('a denial that cannot be written blocks, with the reason on stderr: %s', (_, where, before = '') => {
    const { code, err } = ask(`${before} hook ${name} ${where}`, host.example('rm -rf /', base))
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('wipe-root') as string })
  })
})

test.each([
  ['a flag that this version does not know', '--newer'],
  ['a value that this version does not know', '--auto-allow everything'],
  ['a sandbox without --wrap', '--sandbox strict'],
])('an entry that cannot be understood blocks: %s', (_, flags) => {
  const message = HOOK_HOSTS['claude-code'].example('ls', base)
  expect(ask(`hook claude-code ${flags}`, message).code).toBe(2)
  expect(ask(`hook claude-code --fail open ${flags}`, message).code).toBe(125)
})

test('an answer that nobody needs is not missed, and a mistake of install stays one of the command line', () => {
  expect(ask('hook claude-code >/dev/full', HOOK_HOSTS['claude-code'].example('ls', base))).toEqual({
    code: 0,
    err: '',
  })
  expect(ask('hook install claude-code --newer', {}).code).toBe(125)
})
