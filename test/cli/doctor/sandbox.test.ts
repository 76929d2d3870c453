/**
 * The doctor's look at the walls of a sandbox: what it says depends on the walls, not on the programs of this machine.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { PROBE, sandboxFindings } from '../../../src/cli/doctor/sandbox.js'
import { temporaryFolder } from '../../engine/harness.js'
import { canConfine } from '../../engine/sandbox/harness.js'

const { PATH } = process.env
afterEach(() => void (process.env['PATH'] = PATH))

test.skipIf(!canConfine)('the walls hold, also where PATH leads to no program', async () => {
  process.env['PATH'] = ''
  expect(await sandboxFindings()).toMatchObject([
    { name: 'Landlock', state: 'ok' },
    { name: 'sandbox', state: 'ok' },
  ])
})

test('without a sandbox the probe names the walls that are not there', () => {
  const home = temporaryFolder()
  mkdirSync(join(home, '.ssh'))
  writeFileSync(join(home, '.ssh', 'key'), 'secret\n')
  const env = { HOME: home, OUTSIDE: home }
  const { stdout } = spawnSync('/bin/bash', ['-c', PROBE], { cwd: home, env, encoding: 'utf8' })
  expect(stdout).toMatch(/^files outside\ncredentials\nsystem calls\n[^]*new privileges\n/)
})
