/** What the hook knows of the disk and of cerith's own files: the same as an engine. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HOOK_HOSTS } from '../../src/hooks/hosts/index.js'
import { createHookJudge, type HookJudge } from '../../src/hooks/judge.js'

let home: string
let judge: HookJudge

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'cerith-hook-judge-'))
  const cwd = join(home, 'proj')
  mkdirSync(join(home, 'state'))
  mkdirSync(join(cwd, 'sub'), { recursive: true })
  writeFileSync(join(cwd, 'cerith.config.json'), '{}\n')
  writeFileSync(join(home, 'state', 'vault.key'), 'x\n')
  const git = (...words: string[]): Buffer => execFileSync('git', words, { cwd, stdio: 'pipe' })
  git('init', '-q')
  git('add', 'cerith.config.json')
  const env = { HOME: home, CERITH_HOME: join(home, 'state'), PATH: process.env['PATH'] }
  judge = await createHookJudge({ cwd, env, host: HOOK_HOSTS['claude-code'] })
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

test('git clean leaves a configuration alone that git tracks', () => {
  for (const command of ['git clean -fdx', 'git clean -fd && git status', 'git stash -u'])
    expect([command, judge.verdict(command).decision]).toEqual([command, 'allow'])
  for (const command of ['rm -f *', 'git rm --cached cerith.config.json; git clean -fdx'])
    expect([command, judge.verdict(command).rule]).toEqual([command, 'protected-path'])
})

test("the vault's key is not read, by whatever name", () => {
  const key = join(home, 'state', 'vault.key')
  for (const command of [`cat ${key}`, 'cat "$CERITH_HOME/vault.key"', 'cat ~/state/vault*', 'tar cf - ~/state'])
    expect([command, judge.verdict(command).rule]).toEqual([command, 'protected-path'])
  expect(judge.verdict('cat cerith.config.json').decision).toBe('allow')
})
