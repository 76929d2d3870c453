/** The doctor asks every installed hook, and says when one no longer answers. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { hookFindings } from '../../../src/cli/doctor/hooks.js'
import type { Io } from '../../../src/cli/io/io.js'
import { HOOK_HOSTS } from '../../../src/hooks/hosts/index.js'
import { apply, install } from '../../../src/hooks/settings.js'
import { temporaryFolder } from '../../engine/harness.js'

const program = fileURLToPath(new URL('../../../dist/cli.cjs', import.meta.url))

test('a hook that answers is ok, one whose program is gone or whose file is broken is not, no hook is no line', () => {
  const home = temporaryFolder()
  const io = { env: { ...process.env, HOME: home, CERITH_HOME: join(home, 'state') }, cwd: home } as unknown as Io
  expect(hookFindings(io)).toEqual([])
  const put = (name: 'claude-code' | 'cursor', file: string, cli: string): void =>
    apply(install({ host: HOOK_HOSTS[name], name, file }, `${process.execPath} '${cli}' hook ${name}`))
  put('claude-code', join(home, '.claude/settings.json'), program)
  put('cursor', join(home, '.cursor/hooks.json'), join(home, 'gone', 'cli.cjs'))
  mkdirSync(join(home, '.gemini'))
  writeFileSync(join(home, '.gemini/settings.json'), '{ broken')
  expect(hookFindings(io).map(({ name, state }) => [name, state])).toEqual([
    ['hook of Claude Code', 'ok'],
    ['hook of Gemini CLI', 'broken'],
    ['hook of Cursor', 'broken'],
  ])
})
