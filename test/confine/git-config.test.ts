import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { harmlessPart, namedBySettings, readGitConfig } from '../../src/confine/git-config.js'
import { temporaryFolder } from '../engine/harness.js'

/** What git itself reads from a text; null where it refuses it. */
function byGit(text: string): string[] | null {
  const file = join(temporaryFolder(), 'config')
  writeFileSync(file, text)
  try {
    const said = execFileSync('git', ['config', '-f', file, '--list', '-z'], { stdio: ['ignore', 'pipe', 'ignore'] })
    return said.toString('utf8').split('\0').slice(0, -1)
  } catch {
    return null
  }
}

function byUs(text: string): string[] | null {
  return (
    readGitConfig(text)?.map(({ section, subsection, key, value }) => {
      const name = subsection === null ? `${section}.${key}` : `${section}.${subsection}.${key}`
      return value === null ? name : `${name}\n${value}`
    }) ?? null
  )
}

describe('a git configuration', () => {
  test.each([
    '[core]\n\tbare = false\n',
    '[core] fsmonitor=x\n',
    '[core]fsmonitor = "a b" c ; rest\n',
    '[a "b\\"c\\\\d"]\nkey = value # comment\n',
    '[A.B.c]\nKey\n',
    '\uFEFF[core]\r\n\tx = 1\r\n',
    '[core]\nx = one\\\n  two\n',
    '[core]\nx = "one ; two" y\n',
    '[core]\nx = \\"q\\" \\t \\n\n',
    '; all\n# comment\n',
    '',
    '[core]\nx = a\\\n',
  ])('is read as git reads it: %j', (text) => {
    expect(byUs(text)).toEqual(byGit(text))
  })

  test.each(['[core\n', '[core]\n1x = 2\n', '[core]\nx = "open\n', '[core]\nx = \\q\n'])(
    'is refused as git refuses it: %j',
    (text) => {
      expect([byUs(text), byGit(text)]).toEqual([null, null])
    },
  )

  test('random texts: what git reads, we read the same, or refuse', () => {
    const piece = fc.constantFrom(
      '[core]', '[a "b"]', '[a.b]', 'key', '=', ' ', '\n', '"', '\\', '\\\n', '\\n', '#', ';', 'x', '[', ']', '-', 'fsmonitor = y\n', '\r\n',
    ) // prettier-ignore
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        const text = pieces.join('')
        const ours = byUs(text)
        if (ours !== null) expect(ours).toEqual(byGit(text))
      }),
      { numRuns: 150 },
    )
  })

  test('the harmless part starts nothing, and is the rest word by word', () => {
    const text =
      '[core]\n\tbare = false\n\tfsmonitor = ./x\n\thooksPath=h\n[remote "a\\"b"]\n\turl = https://x/"#y"\n\tvcs = z\n\turl = ext::sh -c x\n' +
      '[include]\n\tpath = y\n[alias]\n\tx = !sh\n[diff "d"]\n\ttextconv = x\n[branch "main"]\n\tmerge = refs/heads/main\n[user]\n\tname = A \\"B\\"\n'
    const rest = harmlessPart(text) ?? ''
    expect(byGit(rest)).toEqual([
      'core.bare\nfalse',
      'remote.a"b.url\nhttps://x/#y',
      'branch.main.merge\nrefs/heads/main',
      'user.name\nA "B"',
    ])
    expect(harmlessPart(rest)).toBeNull()
    expect(harmlessPart('not a configuration')).toBe('')
  })

  test('what a clone and an init leave is harmless, also with large files', () => {
    const folder = temporaryFolder()
    execFileSync('git', ['init', '-q', join(folder, 'a')])
    execFileSync('git', ['clone', '-q', join(folder, 'a'), join(folder, 'b')], { stdio: 'ignore' })
    for (const one of ['a', 'b'])
      expect(harmlessPart(execFileSync('cat', [join(folder, one, '.git/config')]).toString())).toBeNull()
    const lfs =
      '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\tsmudge = git-lfs smudge -- %f\n\tprocess = git-lfs filter-process\n\trequired = true\n'
    expect(harmlessPart(lfs)).toBeNull()
    expect(harmlessPart(lfs.replace('clean --', 'clean; evil --'))).not.toBeNull()
  })

  test('files that it names, and programs that git starts because of it', () => {
    const text =
      '[core]\n\thooksPath = .husky/_\n\tfsmonitor = ./watch.sh --quiet\n\teditor = code --wait\n\tpager = less\n[include]\n\tpath = ../x\n' +
      '[filter "f"]\n\tclean = python3 tools/clean.py %f\n[diff "d"]\n\ttextconv = sh conv.sh\n' +
      '[merge "m"]\n\tdriver = "\\"$PWD\\"/merge.sh %A; ./then.sh"\n[alias]\n\ts = !git status -- src/\n'
    expect(namedBySettings(readGitConfig(text) ?? []).map(({ path }) => path)).toEqual([
      '.husky/_',
      './watch.sh',
      '../x',
      'tools/clean.py',
      'conv.sh',
      './merge.sh',
      './then.sh',
    ])
  })
})
