import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Changes } from '../../../src/contract/changes.js'
import type { ApprovalQuestion } from '../../../src/contract/request.js'
import { temporaryFolder } from '../harness.js'
import { canConfine, ground } from './harness.js'

const names = ({ changes }: Changes, work: string): string[] =>
  changes.map(({ kind, path }) => `${kind} ${path.slice(work.length + 1)}`)
const yes = async (): Promise<'once'> => 'once'

describe.skipIf(!canConfine)('a try', () => {
  test('keeps what runs, sessions, jobs and terminals write apart, and all of them see it', async () => {
    const { engine, work } = await ground({ try: true })
    writeFileSync(join(work, 'a'), 'one\n')
    const outcome = await engine.run({ command: 'echo two >>a; mkdir -p new/deep; echo x >new/deep/x' })
    expect(outcome.sandbox?.try).toMatch(/^try_[0-9a-f]{10}$/)
    expect(outcome.notes.map(({ text }) => text).join(' ')).toContain('counts when it is accepted')
    const session = await engine.session()
    expect((await session.run({ command: 'cat a; cd new/deep; kept=1; echo y >y' })).stdout).toBe('one\ntwo\n')
    expect((await session.run({ command: 'ls; echo $kept' })).stdout).toBe('x\ny\n1\n')
    const job = await engine.start({ command: 'cat x; echo z >z', cwd: join(work, 'new/deep') })
    await job.wait({ exit: true, timeoutMs: 20_000 })
    expect((await engine.run({ command: 'ls', cwd: join(work, 'new/deep'), pty: true })).output).toContain('z')
    expect(readdirSync(work).sort()).toEqual(['a', 'src'])
    expect(readFileSync(join(work, 'a'), 'utf8')).toBe('one\n')
    const found = await engine.changes({ text: true })
    expect(names(found, work)).toEqual([
      'changed a',
      'added new',
      'added new/deep',
      'added new/deep/x',
      'added new/deep/y',
      'added new/deep/z',
    ])
    expect(found.changes[0]?.diff).toBe(`--- ${work}/a\n+++ ${work}/a\n@@ -1 +1,2 @@\n one\n+two\n`)
  })

  test('counts after a person agreed, and the session goes on where it was', async () => {
    const { engine, work } = await ground({ try: true })
    const session = await engine.session()
    await session.run({ command: 'mkdir deep; cd deep; kept=here; echo text >file; f() { echo fun; }' })
    const refused = await engine.accept()
    expect(refused).toMatchObject({ accepted: [], left: 2, refused: { rule: 'accept' } })
    expect(refused.approvalId).toMatch(/^ask_/)
    expect(existsSync(join(work, 'deep'))).toBe(false)
    const asked: ApprovalQuestion[] = []
    const done = await engine.accept({
      ask: async (question) => {
        asked.push(question)
        return 'once'
      },
    })
    expect(done).toMatchObject({ accepted: [join(work, 'deep'), join(work, 'deep/file')], kept: [], left: 0 })
    expect(asked[0]?.verdict.reason).toContain(`add ${work}/deep/file`)
    expect(readFileSync(join(work, 'deep/file'), 'utf8')).toBe('text\n')
    const after = await session.run({ command: 'pwd; echo $kept; f; cat file; echo more >>file' })
    expect(after.stdout).toBe(`${work}/deep\nhere\nfun\ntext\n`)
    expect((await session.info()).restarts).toBe(0)
    // What was accepted is no change underneath.
    expect(await engine.changes()).toMatchObject({ changes: [{ kind: 'changed', conflict: null }] })
    expect(readFileSync(join(work, 'deep/file'), 'utf8')).toBe('text\n')
  })

  test('brings over opaque directories, deletions, changed types, modes, links and attributes as the command saw them', async () => {
    const { engine, work } = await ground({ try: true })
    for (const dir of ['d/inner', 'gone/deep', 'dir-to-file', 'kept']) mkdirSync(join(work, dir), { recursive: true })
    for (const file of [
      'd/a',
      'd/inner/b',
      'gone/deep/x',
      'dir-to-file/x',
      'kept/stays',
      'file-to-dir',
      'mode',
      'twin',
      'link-me',
    ])
      writeFileSync(join(work, file), `${file}\n`)
    symlinkSync('mode', join(work, 'sym'))
    const listing = `find . -type d -printf '%p d %#m\\n' -o -printf '%p %y %#m %n %l\\n' | grep -v '^[.] ' | sort; find . -type f | sort | xargs md5sum`
    const outcome = await engine.run({
      command: `set -e
rm -rf d; mkdir d; mkdir d/inner; echo again >d/inner/c; echo new >d/n
rm -r gone; rm -r dir-to-file; echo file >dir-to-file; rm file-to-dir; mkdir file-to-dir; echo in >file-to-dir/in
chmod 600 mode; chmod 700 kept; ln -sf kept sym; rm sym; ln -s /etc/passwd sym; ln -s ../outside dangling
echo pair >p1; ln p1 p2; mv twin renamed; python3 -c "import os; os.setxattr('link-me', 'user.note', b'x')" 2>/dev/null || true
mkdir -m 555 locked; ${listing}`,
    })
    expect(outcome.exitCode).toBe(0)
    const found = await engine.changes()
    expect(names(found, work)).toEqual(
      expect.arrayContaining([
        'deleted d/a',
        'deleted d/inner/b',
        'deleted gone',
        'replaced dir-to-file',
        'replaced file-to-dir',
        'changed mode',
        'changed kept',
        'deleted twin',
        'added renamed',
      ]),
    )
    expect(found.changes.find(({ path }) => path.endsWith('/sym'))).toMatchObject({
      kind: 'changed',
      after: { type: 'link', target: '/etc/passwd' },
      notes: ['a link that leads outside the roots'],
    })
    const done = await engine.accept({ ask: yes })
    expect([done.kept, done.left]).toEqual([[], 0])
    const { spawnSync } = await import('node:child_process')
    expect(spawnSync('bash', ['-c', listing], { cwd: work, encoding: 'utf8' }).stdout).toBe(outcome.stdout)
    const noted = spawnSync('python3', ['-c', 'import os; print(os.getxattr("link-me", "user.note"))'], {
      cwd: work,
      encoding: 'utf8',
    })
    if (!noted.error) expect(noted.stdout).toBe("b'x'\n")
    expect(statSync(join(work, 'p1')).ino).toBe(statSync(join(work, 'p2')).ino)
    expect((await engine.run({ command: listing })).stdout).toBe(outcome.stdout)
    expect((await engine.changes()).changes).toEqual([])
    chmodSync(join(work, 'locked'), 0o755)
  })

  test('accepts some paths and keeps the rest, with the new directories on their way', async () => {
    const { engine, work } = await ground({ try: true })
    mkdirSync(join(work, 'd'))
    for (const file of ['a', 'b', 'c']) writeFileSync(join(work, 'd', file), 'old\n')
    await engine.run({ command: 'rm -r d; mkdir d; echo new >d/a; mkdir -p x/y/z; echo 1 >x/y/1; echo 2 >x/y/z/2' })
    const some = await engine.accept({ paths: ['d/b', join(work, 'x/y/1')], ask: yes })
    expect(some.accepted).toEqual([join(work, 'd/b'), join(work, 'x'), join(work, 'x/y'), join(work, 'x/y/1')])
    expect(readdirSync(join(work, 'd'))).toEqual(['a', 'c'])
    expect(readdirSync(join(work, 'x/y'))).toEqual(['1'])
    expect(names(await engine.changes(), work)).toEqual(['changed d/a', 'deleted d/c', 'added x/y/z', 'added x/y/z/2'])
    // The room shows the same as before.
    expect((await engine.run({ command: 'find d x | sort | tr "\\n" " "' })).stdout).toBe(
      'd d/a x x/y x/y/1 x/y/z x/y/z/2 ',
    )
    // The word of an unset variable (`cerith accept "$FILE"`) is not everything.
    const kept = ['', 'nowhere'].map((path) => ({ path, reason: 'nothing of this name was changed' }))
    expect(await engine.accept({ paths: ['', 'nowhere'], ask: yes })).toMatchObject({ accepted: [], kept, left: 4 })
    expect(await engine.accept({ paths: ['d'], ask: yes })).toMatchObject({ left: 2 })
    expect([readdirSync(join(work, 'd')), readFileSync(join(work, 'd/a'), 'utf8')]).toEqual([['a'], 'new\n'])
  })

  test('tells what changed underneath, and overwrites nothing of it without force', async () => {
    const { engine, work } = await ground({ try: true })
    mkdirSync(join(work, 'dir'))
    for (const file of ['edited', 'removed', 'both-new', 'quiet', 'dir/in', 'undeleted'])
      if (file !== 'both-new') writeFileSync(join(work, file), 'old\n')
    await engine.run({
      command: 'for f in edited removed both-new quiet; do echo tried >>$f; done; rm -r dir undeleted',
    })
    writeFileSync(join(work, 'edited'), 'mine\n')
    utimesSync(join(work, 'edited'), 1, 1) // Times can be set; when that was done cannot.
    rmSync(join(work, 'removed'))
    writeFileSync(join(work, 'both-new'), 'mine\n')
    writeFileSync(join(work, 'dir/more'), 'mine\n')
    writeFileSync(join(work, 'undeleted'), 'mine\n')
    const conflicts = (await engine.changes()).changes.filter(({ conflict }) => conflict !== null)
    expect(conflicts.map(({ path }) => path.slice(work.length + 1))).toEqual([
      'both-new',
      'dir',
      'edited',
      'removed',
      'undeleted',
    ])
    const done = await engine.accept({ ask: yes })
    expect(done).toMatchObject({ accepted: [join(work, 'quiet')], left: 5 })
    expect(done.kept.map(({ reason }) => reason).join(' ')).toContain('changed since the try began')
    expect(readFileSync(join(work, 'edited'), 'utf8')).toBe('mine\n')
    expect(readdirSync(join(work, 'dir'))).toEqual(['in', 'more'])
    const forced = await engine.accept({ paths: ['edited', 'dir', 'removed'], force: true, ask: yes })
    expect(forced).toMatchObject({ kept: [], left: 2 })
    expect(readFileSync(join(work, 'edited'), 'utf8')).toBe('old\ntried\n')
    expect([existsSync(join(work, 'dir')), existsSync(join(work, 'removed'))]).toEqual([false, true])
  })

  test('follows no link, neither of the layer nor of the original', async () => {
    const { engine, home, work } = await ground({ try: true })
    const outside = join(home, 'outside')
    mkdirSync(outside)
    writeFileSync(join(outside, 'victim'), 'safe\n')
    for (const dir of ['swapped', 'turned']) mkdirSync(join(work, dir))
    writeFileSync(join(work, 'turned/victim'), 'x\n')
    await engine.run({
      command: `echo evil >swapped/victim; echo evil >turned/victim; rm -r src; ln -s ${outside} src; ln -s ${outside}/victim file`,
    })
    // The directory on the way becomes a link after the try: as another program could do it.
    for (const dir of ['swapped', 'turned']) {
      rmSync(join(work, dir), { recursive: true })
      symlinkSync(outside, join(work, dir))
    }
    for (const force of [false, true]) {
      const done = await engine.accept({ force, ask: yes })
      // With force the link itself gives way to the directory.
      expect(done.accepted.includes(join(work, 'swapped/victim'))).toBe(force)
      expect(lstatSync(join(work, 'swapped')).isSymbolicLink()).toBe(!force)
      expect(readFileSync(join(outside, 'victim'), 'utf8')).toBe('safe\n')
    }
    expect(readdirSync(outside)).toEqual(['victim'])
    expect([readlinkSync(join(work, 'src')), readlinkSync(join(work, 'file'))]).toEqual([outside, `${outside}/victim`])
  })

  test('takes protected names only when that is said, and sockets, pipes never', async () => {
    const { engine, work } = await ground({ try: true, protect: ['secret.cfg'] })
    mkdirSync(join(work, '.git/hooks'), { recursive: true })
    writeFileSync(join(work, '.git/config'), '[core]\n')
    await engine.run({
      command: `echo evil >.git/hooks/pre-commit; echo '[core] fsmonitor = x' >>.git/config; mkdir .vscode; echo {} >.vscode/tasks.json; echo x >secret.cfg
git init -q sub; echo evil >sub/.git/hooks/post-checkout; echo fine >fine; mkfifo pipe
python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('sock')" 2>/dev/null || true`,
    })
    const done = await engine.accept({ ask: yes })
    expect(done.accepted).toContain(join(work, 'fine'))
    for (const path of [
      '.git/hooks/pre-commit',
      '.git/config',
      '.vscode',
      'secret.cfg',
      'sub/.git/hooks/post-checkout',
      'pipe',
    ])
      expect(done.kept.map((one) => one.path)).toContain(join(work, path))
    expect(done.kept.find(({ path }) => path.endsWith('/pipe'))?.reason).toContain('named pipe')
    expect(readFileSync(join(work, '.git/config'), 'utf8')).toBe('[core]\n')
    const asked: string[] = []
    const told = await engine.accept({
      paths: ['.git/hooks'],
      protected: true,
      ask: async ({ verdict }) => (asked.push(verdict.reason ?? ''), 'once'),
    })
    expect(told.accepted).toEqual([join(work, '.git/hooks/pre-commit')])
    expect(asked[0]).toContain('PROTECTED')
    expect((await engine.accept({ force: true, protected: true, ask: yes })).left).toBeGreaterThan(0)
    expect(existsSync(join(work, 'pipe'))).toBe(false)
  })

  test('knows names with newlines, other bytes and escapes', async () => {
    const { engine, work } = await ground({ try: true })
    await engine.run({
      command: String.raw`touch $'line\nbreak' $'\xff\xfe' $' lead' 'ünï' 'back\slash' $'esc\x1b[31m' ./-rf`,
    })
    const { changes } = await engine.changes()
    expect(changes.map(({ path }) => path.slice(work.length + 1))).toEqual([
      ' lead',
      '-rf',
      'back\\\\slash',
      String.raw`esc\x1b[31m`,
      String.raw`line\x0abreak`,
      'ünï',
      String.raw`\xff\xfe`,
    ])
    const some = await engine.accept({ paths: ['back\\slash', String.raw`\xff\xfe`, ' lead'], ask: yes })
    expect(some).toMatchObject({ kept: [], left: 4 })
    await engine.accept({ ask: yes })
    expect(
      readdirSync(work, { encoding: 'buffer' })
        .map((name) => name.toString('latin1'))
        .sort(),
    ).toEqual(
      [' lead', '-rf', 'back\\slash', 'esc\x1b[31m', 'line\nbreak', 'src', '\xc3\xbcn\xc3\xaf', '\xff\xfe'].sort(),
    )
  })

  test('is not accepted while commands run in it, nor when it is not what was looked at', async () => {
    const { engine, work } = await ground({ try: true })
    const job = await engine.start({ command: 'echo a >a; echo ready; read x', openStdin: true })
    await job.wait({ until: /ready/, timeoutMs: 20_000 })
    const { digest } = await engine.changes()
    await expect(engine.accept({ ask: yes })).rejects.toMatchObject({ code: 'TRY_BUSY' })
    await expect(engine.discard()).rejects.toMatchObject({ code: 'TRY_BUSY' })
    await job.kill()
    await engine.run({ command: 'echo b >>a' })
    expect(await engine.accept({ digest, ask: yes })).toMatchObject({ accepted: [], left: 1 })
    const now = await engine.changes()
    // Changed while the person was thinking.
    const late = await engine.accept({
      digest: now.digest,
      ask: async () => (await engine.run({ command: 'echo evil >a' }), 'once'),
    })
    expect(late).toMatchObject({
      accepted: [],
      kept: [{ path: join(work, 'a'), reason: expect.stringContaining('look') }],
    })
    expect(existsSync(join(work, 'a'))).toBe(false)
  })

  test('sandbox.accept says who is asked', async () => {
    const always = await ground({ try: true, accept: 'always' })
    await always.engine.run({ command: 'echo a >a; mkdir .vscode; echo x >.vscode/x' })
    expect(await always.engine.accept()).toMatchObject({ accepted: [join(always.work, 'a')], refused: null })
    expect(await always.engine.accept({ protected: true })).toMatchObject({ accepted: [], refused: { rule: 'accept' } })
    const never = await ground({ try: true, accept: 'never' })
    never.engine.setAsk(yes)
    await never.engine.run({ command: 'echo a >a' })
    const refused = await never.engine.accept()
    expect(refused.refused?.guidance).toContain('cerith accept try_')
    expect(existsSync(join(never.work, 'a'))).toBe(false)
  })

  test('is kept when the engine closes, gone on with by the next, begun anew on demand, and swept when it is old', async () => {
    const stateDir = join(temporaryFolder(), 'state')
    const first = await ground({ try: true }, { stateDir })
    await first.engine.run({ command: 'echo a >a' })
    await first.engine.close()
    const { createEngine } = await import('../../../src/index.js')
    const open = (sandbox: object) =>
      createEngine({ cwd: first.work, stateDir, sandbox: { profile: 'workspace', try: true, ...sandbox } })
    const second = await open({})
    expect((await second.run({ command: 'cat a; echo b >b' })).stdout).toBe('a\n')
    const [kept] = await second.tries()
    expect(kept).toMatchObject({ roots: [first.work], inUse: true })
    // Two rooms over one layer would each see half of it.
    const third = await open({})
    expect((await third.run({ command: 'ls; echo c >c' })).stdout).toBe('src\n')
    await third.discard()
    await third.close()
    await second.close()
    const fresh = await open({ try: 'new' })
    expect((await fresh.run({ command: 'ls' })).stdout).toBe('src\n')
    await fresh.close() // Nothing was written: nothing is kept.
    const again = await open({ try: kept!.id })
    // Also before its first command.
    expect((await again.changes()).id).toBe(kept!.id)
    expect((await again.run({ command: 'cat a b' })).stdout).toBe('a\nb\n')
    expect((await again.tries()).map(({ id }) => id)).toEqual([kept!.id])
    await again.close()
    const record = join(stateDir, 'tries', kept!.id, 'try.json')
    writeFileSync(record, JSON.stringify({ ...JSON.parse(readFileSync(record, 'utf8')), usedAt: 1 }))
    const last = await open({})
    const outcome = await last.run({ command: 'ls' })
    expect(outcome.stdout).toBe('src\n')
    expect(outcome.notes.map(({ text }) => text).join(' ')).toContain(`${kept!.id} was removed`)
    await last.close()
    expect(readdirSync(join(stateDir, 'tries'))).toEqual([])
  })

  test('is refused with words where it cannot be', async () => {
    const code = async (sandbox: object, options: object = {}): Promise<string> => {
      const { engine } = await ground({ try: true, ...sandbox }, options)
      return engine.run({ command: 'true' }).then(
        () => 'ran',
        (error: Error & { code: string }) => `${error.code} ${error.message}`,
      )
    }
    expect(await code({ profile: 'read-only' })).toMatch(/BAD_REQUEST .*read-only writes nothing/)
    expect(await code({ tier: 'landlock' })).toMatch(/SANDBOX_UNAVAILABLE .*cannot try anything/)
    expect(await code({ try: 'try_0123456789' })).toMatch(/TRY_NOT_FOUND/)
    const cwd = temporaryFolder()
    expect(await code({}, { cwd, stateDir: join(cwd, 'state') })).toMatch(/BAD_REQUEST .*CERITH_HOME/)
    const { engine } = await ground({ try: true })
    await expect(engine.run({ command: 'true', sandbox: { profile: 'strict' } })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
    })
  })

  test('gives nobody set-user-id bits or attributes of the layer', async () => {
    const stateDir = join(temporaryFolder(), 'state')
    const { engine, work } = await ground({ try: true }, { stateDir })
    writeFileSync(join(work, 'tool'), '#!/bin/sh\n')
    const refused = await engine.run({ command: 'echo x >>tool; chmod u+s tool' })
    expect(refused.exitCode).not.toBe(0)
    const { id } = await engine.changes()
    await engine.close()
    // As if it had got there all the same.
    chmodSync(join(stateDir, 'tries', id, '0/upper/tool'), 0o6755)
    const { createEngine } = await import('../../../src/index.js')
    const next = await createEngine({ cwd: work, stateDir })
    expect((await next.changes({ id })).changes[0]?.notes).toEqual(['set-user-id and set-group-id are taken off'])
    expect((await next.accept({ id, ask: yes })).accepted).toEqual([join(work, 'tool')])
    await next.close()
    expect((lstatSync(join(work, 'tool')).mode & 0o7777).toString(8)).toBe('755')
    expect(readFileSync(join(work, 'tool'), 'utf8')).toBe('#!/bin/sh\nx\n')
    const list = `import os; print(os.listxattr(${JSON.stringify(join(work, 'tool'))}))`
    const { spawnSync } = await import('node:child_process')
    const seen = spawnSync('python3', ['-c', list], { encoding: 'utf8' })
    if (seen.status === 0) expect(seen.stdout.trim()).toBe('[]')
  })
})
