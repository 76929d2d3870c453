import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { NestedRepositories } from '../../../src/os/confine/repositories.js'
import { temporaryFolder } from '../../engine/harness.js'

const git = (cwd: string, ...words: string[]): void =>
  void execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { cwd, stdio: 'ignore' })

test.each([['2'], ['3'], ['4']])(
  'repositories in an index of version %s are found, long names and many files too',
  (version) => {
    const root = join(temporaryFolder(), 'root')
    mkdirSync(join(root, 'inner', 'deep'), { recursive: true })
    git(root, 'init', '-q')
    git(root, 'config', 'index.version', version)
    for (const name of ['a', 'inner/file', `${'long'.repeat(40)}`, 'z']) writeFileSync(join(root, name), '')
    git(join(root, 'inner', 'deep'), 'init', '-q')
    git(join(root, 'inner', 'deep'), 'commit', '-q', '--allow-empty', '-m', 'x')
    const nested = new NestedRepositories([root])
    expect(nested.look(0)).toEqual([])
    git(root, 'add', '.')
    if (version === '3') git(root, 'update-index', '--skip-worktree', 'a')
    expect(nested.look(2_000).map(({ path }) => path)).toEqual([join(root, 'inner', 'deep')])
    expect(nested.look(4_000)).toEqual([])
  },
)

test('a torn index is no reason to fail', () => {
  const root = join(temporaryFolder(), 'root')
  mkdirSync(join(root, '.git'), { recursive: true })
  const nested = new NestedRepositories([root])
  writeFileSync(join(root, '.git', 'index'), Buffer.from('DIRC\0\0\0\x02\0\0\0\x09short'))
  expect(nested.look(2_000)).toEqual([])
})

test('worktrees and submodules are found in the repository that keeps them, wherever their files are', () => {
  const root = join(temporaryFolder(), 'root')
  mkdirSync(root)
  git(root, 'init', '-q')
  git(root, 'commit', '-q', '--allow-empty', '-m', 'x')
  const nested = new NestedRepositories([root])
  git(root, 'worktree', 'add', '-q', 'a/b/c/d/deep')
  git(root, 'worktree', 'add', '-q', 'near')
  // Not whole yet: git takes it when the submodule is checked out.
  mkdirSync(join(root, '.git/modules/x/y/hooks'), { recursive: true })
  const at = (name: string): string => join(root, name)
  expect(nested.look(2_000).map(({ path }) => path)).toEqual(
    ['near/.git', '.git/worktrees/deep', '.git/modules/x/y'].map(at),
  )
  expect(nested.look(4_000)).toEqual([])
})

test('one is found in a directory that was looked at before', () => {
  const root = join(temporaryFolder(), 'root')
  for (let at = 0; at < 100; at++) mkdirSync(join(root, 'many', String(at)), { recursive: true })
  const nested = new NestedRepositories([root])
  expect(nested.look(2_000)).toEqual([])
  git(join(root, 'many', '99'), 'init', '-q')
  expect(nested.look(4_000).map(({ path }) => path)).toEqual([join(root, 'many/99/.git')])
  mkdirSync(join(root, 'many', '17', 'objects'), { recursive: true })
  expect(nested.look(6_000)).toEqual([])
  for (const name of ['refs', 'HEAD']) mkdirSync(join(root, 'many', '17', name))
  expect(nested.look(8_000).map(({ path }) => path)).toEqual([join(root, 'many/17')])
})
