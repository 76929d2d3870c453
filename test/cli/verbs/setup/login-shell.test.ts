/**
 * The user's own set-up through the command line: shown by `cerith config` by name, never by value; trust stays the
 * person's.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeWorld } from '../../harness.js'

const world = makeWorld()
const home = join(world.dir, 'home')
mkdirSync(home)
const env = { HOME: home, SHELL: '/bin/bash', CERITH_LOGIN_SHELL: 'true' }
const cli = world.with({ env })

test('config shows the names of what the login shell sets up, what was left out, and takes it anew when asked', async () => {
  writeFileSync(
    join(home, '.profile'),
    'export STAGE=hidden-value NPM_TOKEN=npm_0123456789\ngreet() { echo hi; }\nalias ll="ls -l"\n',
  )
  const { code, out } = await cli('config')
  expect(code).toBe(0)
  expect(out).toMatch(/^login shell  \/bin\/bash, taken \S+ in \d+ ms$/m)
  expect(out).toMatch(/^variables +\d+: .*\bSTAGE\b/m)
  expect(out).toMatch(/^functions +\d+: .*\bgreet\b/m)
  expect(out).toMatch(/^aliases +\d+: .*\bll\b/m)
  expect(out).toMatch(/^left out +1: NPM_TOKEN$/m)
  expect(out).not.toMatch(/hidden-value|npm_0123/)
  const told = JSON.parse((await cli('config', '--json')).out) as { login_shell: Record<string, unknown> }
  expect(told.login_shell).toMatchObject({ left_out: ['NPM_TOKEN'], notes: [] })
  const again = JSON.parse((await cli('config', '--json', '--refresh')).out) as typeof told
  expect(Date.parse(again.login_shell['taken_at'] as string)).toBeGreaterThan(
    Date.parse(told.login_shell['taken_at'] as string),
  )
  expect((await world.cli('config')).out, 'not where it is off').not.toContain('login shell')
})

test('run uses it', async () => {
  expect((await cli('run', 'echo $STAGE')).out).toBe('hidden-value\n')
  expect((await cli('run', '--session', 's', 'greet')).out).toBe('hi\n')
})

test('a command that would make direnv or mise trust a directory needs the person', async () => {
  const { out } = await world.with({ env: { ...env, CERITH_DIRENV: 'true', CERITH_MISE: 'true' } })(
    'run',
    '--dry-run',
    'direnv allow . && mise trust',
  )
  expect(out).toMatch(/guard +ask \(policy:trust\)/)
})

test('limits of a command are read with units, and the one that ended it is said', async () => {
  const { code, err } = await world.cli('run', '--processes', '3', 'for i in 1 2 3 4 5; do sleep 60 & done; wait')
  expect(code).not.toBe(0)
  expect(err).toMatch(/Over its process limit: \d at once, 3 allowed/)
  expect((await world.cli('run', '--memory', 'much', 'true')).err).toContain('is not a size')
  const { out } = await world.cli('run', '--json', '--memory', '1G', '--cpu', '10s', 'true')
  expect(JSON.parse(out)).toMatchObject({
    status: 'completed',
    usage: { cpu_ms: expect.any(Number), max_rss_bytes: expect.any(Number) },
  })
})
