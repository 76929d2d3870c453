/** What the index of a repository lists, in each version that git writes. */
import { execFileSync } from 'node:child_process'
import { writeFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isListed } from '../../../src/os/files/git-index.js'
import { temporaryFolder } from '../../fixtures/folder.js'

test.each(['2', '3', '4'])('names in an index of version %s', (version) => {
  const root = temporaryFolder('git-index')
  const git = (...words: readonly string[]): void =>
    void execFileSync('git', ['-C', root, ...words], { stdio: 'ignore' })
  mkdirSync(join(root, 'deep/er'), { recursive: true })
  const names = ['a', 'deep/er/one', 'deep/er/other', 'deep/x', 'z']
  git('init')
  for (const name of names) writeFileSync(join(root, name), name)
  // An entry that is only announced has further flags, which version 2 cannot hold.
  if (version === '2') git('add', '.')
  else git('add', '-N', '.')
  git('update-index', '--index-version', version, '--force-write-index')
  const index = join(root, '.git/index')
  expect([...names, 'deep/er', 'deep/er/on', 'b'].filter((name) => isListed(index, name))).toEqual(names)
})
