/** The guard knows which files git tracks: `git clean` leaves them alone. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { realPath, stillHolds } from '../../../src/engine/services/judge/disk-looks.js'
import { inspect } from '../../../src/guard/inspect.js'
import { temporaryFolder } from '../../fixtures/folder.js'

let repo = ''
const git = (...words: string[]): void => void execFileSync('git', words, { cwd: repo, stdio: 'ignore' })
const ask = (command: string, cwd = repo): ReturnType<typeof inspect> =>
  inspect(command, {
    cwd,
    home: '/home/u',
    tmp: '/tmp',
    resolveSymlink: realPath,
    protectedPaths: [join(repo, 'cerith.config.json')],
  })

beforeEach(() => {
  repo = temporaryFolder('tracked')
  git('init', '-q')
  writeFileSync(join(repo, 'cerith.config.json'), '{}')
  for (let i = 0; i < 20; i++) writeFileSync(join(repo, `${'f'.repeat(i + 1)}.txt`), '')
})

const CLEANS = [
  'git clean -fd',
  'git stash -u',
  'git reset --hard && git clean -fdx',
  'git fetch; git clean -fdx . && npm ci',
  'git stash -u && git pull && git stash pop',
]

test.each(CLEANS)('a tracked configuration stays: %s', (command) => {
  git('add', '-A')
  expect(ask(command).decision).toBe('allow')
})

test.each(CLEANS)('one that is not tracked would go: %s', (command) => {
  git('add', '*.txt')
  expect(ask(command).rule).toBe('protected-path')
})

test.each([
  'git rm --cached cerith.config.json && git clean -fd',
  'rm .git/index; git clean -fd',
  'git reset HEAD~1 && git clean -fd',
  'GIT_INDEX_FILE=/tmp/x git clean -fd',
  'git --git-dir=/tmp/x clean -fd',
  'for i in 1 2; do git clean -fd; git rm --cached cerith.config.json; done',
  'sleep 1; git clean -fd & git rm --cached cerith.config.json',
])('what can take the name out of the index before is refused: %s', (command) => {
  git('add', '-A')
  expect(ask(command).rule).toBe('protected-path')
})

test('a repository inside another one goes with the clean of the outer one', () => {
  const inner = join(repo, 'inner')
  mkdirSync(inner)
  git('add', '-A')
  execFileSync('git', ['init', '-q'], { cwd: inner })
  writeFileSync(join(inner, 'cerith.config.json'), '{}')
  execFileSync('git', ['add', '-A'], { cwd: inner })
  const verdict = inspect('git clean -ffdx', {
    cwd: repo,
    home: '/home/u',
    resolveSymlink: realPath,
    protectedPaths: [join(inner, 'cerith.config.json')],
  })
  expect(verdict.rule).toBe('protected-path')
})

test('a kept verdict does not outlive the index', () => {
  git('add', '-A')
  const verdict = ask('git clean -fd')
  expect(stillHolds(verdict)).toBe(true)
  git('rm', '--cached', '-q', 'cerith.config.json')
  expect(stillHolds(verdict)).toBe(false)
})

test.each([2, 3, 4])('an index of version %i is read', (version) => {
  git('add', '-A')
  git('update-index', '--index-version', String(version))
  expect(ask('git clean -fd').decision).toBe('allow')
  git('rm', '--cached', '-q', 'cerith.config.json')
  expect(ask('git clean -fd').decision).toBe('deny')
})
