import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { unifiedDiff } from '../../src/output/unified-diff.js'
import { temporaryFolder } from '../fixtures/folder.js'

const names = { from: 'a', to: 'b' }

test('is what diff -u writes', () => {
  expect(unifiedDiff('1\n2\n3\n', '1\n2\nx\n', names)).toBe('--- a\n+++ b\n@@ -1,3 +1,3 @@\n 1\n 2\n-3\n+x\n')
  expect(unifiedDiff('', 'x\n', names)).toBe('--- a\n+++ b\n@@ -0,0 +1 @@\n+x\n')
  expect(unifiedDiff('x\n', '', names)).toBe('--- a\n+++ b\n@@ -1 +0,0 @@\n-x\n')
  expect(unifiedDiff('x', 'x\n', names)).toBe('--- a\n+++ b\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n')
  expect(unifiedDiff('same\n', 'same\n', names)).toBeNull()
})

const hasPatch = spawnSync('patch', ['--version']).status === 0

test.skipIf(!hasPatch)('patch makes the one text out of the other, for random ones', () => {
  const folder = temporaryFolder('diff')
  try {
    let seed = 7
    const random = (below: number): number => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) % below
    for (let round = 0; round < 60; round++) {
      const text = (): string =>
        Array.from({ length: random(30) }, () => `${random(6)}\n`).join('') + (random(3) === 0 ? 'end' : '')
      const [before, after] = [text(), text()]
      const diff = unifiedDiff(before, after, names)
      if (diff === null) continue
      writeFileSync(join(folder, 'a'), before)
      const made = spawnSync('patch', ['-s', '-o', '-', 'a'], { cwd: folder, input: diff, encoding: 'utf8' })
      expect([made.status, made.stdout]).toEqual([0, after])
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a change of more lines than a call takes arguments is written whole', () => {
  const lines = (from: number): string => Array.from({ length: 150_000 }, (_, at) => `${from + at}\n`).join('')
  const text = unifiedDiff(lines(0), lines(200_000), { from: 'a', to: 'b' })
  expect(text?.split('\n')).toHaveLength(2 + 1 + 300_000 + 1)
})
