/** Attempts to make an accept bring over more, or elsewhere, than what a person saw. */
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { canConfine, ground, type Ground } from './harness.js'

const yes = async (): Promise<'once'> => 'once'

async function tried(prepare: (work: string) => void, command: string): Promise<Ground & { readonly outside: string }> {
  const made = await ground({ try: true })
  const outside = join(made.home, 'outside')
  mkdirSync(outside)
  writeFileSync(join(outside, 'victim'), 'safe\n')
  prepare(made.work)
  const { stderr } = await made.engine.run({ command })
  expect(stderr).toBe('')
  return { ...made, outside }
}

const git = (work: string): void => {
  mkdirSync(join(work, '.git/hooks'), { recursive: true })
  writeFileSync(join(work, '.git/config'), '[core]\n')
}

describe.skipIf(!canConfine)('an accept', () => {
  test.each([false, true])(
    'into a root that was exchanged for a link since the look goes nowhere else (force %s)',
    async (force) => {
      const { engine, work, outside } = await tried(() => {}, 'echo evil >victim; mkdir d; echo evil >d/victim')
      expect((await engine.changes()).changes).toHaveLength(3)
      renameSync(work, `${work}.moved`)
      symlinkSync(outside, work)
      await engine.accept({ force, ask: yes }).catch(() => null)
      expect([readdirSync(outside), readFileSync(join(outside, 'victim'), 'utf8')]).toEqual([['victim'], 'safe\n'])
      rmSync(work)
      renameSync(`${work}.moved`, work)
    },
  )

  test.each(['../outside', '/', '/etc/passwd', '..', 'a/../../outside/victim', 'vic', 'victim\n', '*', '-rf'])(
    'of the path %j takes nothing that was not tried below it',
    async (path) => {
      const { engine, home, work, outside } = await tried(() => {}, 'echo evil >victim')
      const done = await engine.accept({ paths: [path], ask: yes }).catch(() => ({ accepted: [] }))
      const whole = ['/', '..'].includes(path) ? [join(work, 'victim')] : []
      expect(done.accepted).toEqual(whole)
      expect([readdirSync(outside), readdirSync(home).sort()]).toEqual([['victim'], ['outside', 'work']])
      expect(existsSync(join(work, 'victim'))).toBe(whole.length > 0)
    },
  )

  test('brings no protected name over by another name, a move, a level or a link', async () => {
    const { engine, work } = await tried(
      (root) => {
        git(root)
        writeFileSync(join(root, 'twin'), 'shared\n')
        linkSync(join(root, 'twin'), join(root, '.git/hooks/pre-push'))
      },
      `echo evil >>twin; ln .git/config innocent; echo evil >>innocent
       mv .git aside; mkdir -p .git/hooks; echo evil >.git/config; echo evil >.git/hooks/post-merge
       mkdir -p tasks deep/er; echo {} >tasks/tasks.json; mv tasks .vscode; mkdir deep/er/.claude; echo {} >deep/er/.claude/settings.json
       ln -s src .cursor; ln -s ../aside .github; printf 'gitdir: aside\\n' >src/.git; echo x >HEAD; mkdir objects refs
       git init -q --bare bare; echo evil >>bare/config; git init -q deep/own; mkdir deep/own/.git/remotes; echo x >deep/own/.git/remotes/origin`,
    )
    const done = await engine.accept({ ask: yes })
    const taken = done.accepted.map((path) => path.slice(work.length + 1))
    const wrong = taken.filter((path) =>
      /(^|\/)\.(vscode|claude|cursor)(\/|$)|\.git(\/(hooks|config|remotes).*)?$|(?<!\.git\/)\bHEAD$/.test(path),
    )
    expect(wrong).toEqual([])
    expect(taken).toContain('twin')
    // Without its HEAD a directory is no repository.
    expect([existsSync(join(work, 'bare/config')), existsSync(join(work, 'bare/HEAD'))]).toEqual([true, false])
    expect(readFileSync(join(work, '.git/config'), 'utf8')).toBe('[core]\n')
    expect(readFileSync(join(work, '.git/hooks/pre-push'), 'utf8')).toBe('shared\n')
    expect(readdirSync(join(work, '.git/hooks'))).toEqual(['pre-push'])
  })

  test('is not led astray by marks of the layer that a command sets itself, nor by devices', async () => {
    const marks = ['opaque', 'redirect', 'metacopy', 'origin', 'whiteout', 'impure'].map(
      (name) => `user.overlay.${name}`,
    )
    const script = `
import os
for path in ('kept', 'file'):
    for mark in ${JSON.stringify(marks)}:
        for value in (b'y', b'../../outside', b'/etc/passwd'):
            try: os.setxattr(path, mark, value)
            except OSError: pass
for path, kind in (('gone', 0o020000), ('disk', 0o060000)):
    try: os.mknod(path, kind | 0o666, os.makedev(0 if path == 'gone' else 8, 0))
    except OSError: pass
`
    const { engine, work } = await tried((root) => {
      mkdirSync(join(root, 'kept'))
      writeFileSync(join(root, 'kept/mine'), 'mine\n')
      writeFileSync(join(root, 'file'), 'mine\n')
    }, `python3 - <<'E'\n${script}\nE\necho new >kept/new; echo more >>file; cat kept/mine file`)
    await engine.accept({ force: true, protected: true, ask: yes })
    expect(readdirSync(join(work, 'kept')).sort()).toEqual(['mine', 'new'])
    expect(readFileSync(join(work, 'file'), 'utf8')).toBe('mine\nmore\n')
    for (const name of readdirSync(work)) expect(lstatSync(join(work, name)).isCharacterDevice(), name).toBe(false)
    expect(existsSync(join(work, 'disk'))).toBe(false)
  })

  test('of a file with holes takes no more of the disk than the file did', async () => {
    // Two names: it is copied, not moved.
    const { engine, work } = await tried(
      () => {},
      'truncate -s 200M a; printf middle | dd of=a bs=1 seek=100M conv=notrunc status=none; truncate -s 3M end; printf x >>end; : >empty; for f in a end empty; do ln $f $f.2; done; md5sum a end empty >sums',
    )
    expect((await engine.accept({ ask: yes })).kept).toEqual([])
    expect(lstatSync(join(work, 'a')).size).toBe(200 << 20)
    expect(lstatSync(join(work, 'a')).blocks).toBeLessThan(2048)
    const { stdout } = await engine.run({ command: 'md5sum -c sums; stat -c %h a end empty' })
    expect(stdout).toBe('a: OK\nend: OK\nempty: OK\n2\n2\n2\n')
  })

  test('keeps what it cannot write, says so, and takes the rest', async () => {
    const { engine, work } = await tried((root) => {
      for (const name of ['file', 'turned']) mkdirSync(join(root, name))
      writeFileSync(join(root, 'turned/a'), 'a\n')
    }, 'echo new >turned/b; echo fine >fine; echo x >file/x')
    // The directory on the way became a file meanwhile.
    rmSync(join(work, 'file'), { recursive: true })
    writeFileSync(join(work, 'file'), 'the person’s\n')
    const done = await engine.accept({ ask: yes })
    expect([...done.accepted].sort()).toEqual([join(work, 'fine'), join(work, 'turned/b')])
    expect(done.kept.map(({ path }) => path).sort()).toEqual([join(work, 'file'), join(work, 'file/x')])
    expect(readFileSync(join(work, 'file'), 'utf8')).toBe('the person’s\n')
  })
})
