import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { processesNamed, uniqueSeconds, until } from '../harness.js'
import { canConfine, ground } from './harness.js'

describe.skipIf(!canConfine)('a room', () => {
  test('writes in the workspace and in a /tmp of its own, and nowhere else', async () => {
    const { engine, home, work } = await ground()
    const outcome = await engine.run({
      command: `echo a >a; echo b >/tmp/cerith-b; echo c >${home}/c; cat a /tmp/cerith-b`,
    })
    expect(outcome.stdout).toBe('a\nb\n')
    expect(outcome.stderr).toContain('Read-only file system')
    expect(existsSync(join(work, 'a'))).toBe(true)
    expect(existsSync(join(home, 'c'))).toBe(false)
    expect(existsSync('/tmp/cerith-b')).toBe(false)
    expect(outcome.sandbox).toMatchObject({ profile: 'workspace', network: 'none', tier: 'rooms' })
  })

  test('runs, sessions, jobs and terminals share /tmp and loopback, each with process ids of its own', async () => {
    const { engine } = await ground()
    const session = await engine.session()
    await engine.run({ command: 'echo shared >/tmp/one' })
    expect((await session.run({ command: 'cat /tmp/one; echo $$' })).stdout).toBe('shared\n2\n')
    const server = `require('http').createServer((q, r) => r.end('hello')).listen(4321, '127.0.0.1', () => console.log('up'))`
    const job = await engine.start({ command: ['node', '-e', server] })
    await job.wait({ until: /up/, timeoutMs: 20_000 })
    const get = `node -e "fetch('http://127.0.0.1:4321').then((r) => r.text()).then((t) => console.log(t))"`
    expect((await session.run({ command: get })).stdout).toBe('hello\n')
    const terminal = await engine.run({ command: 'cat /tmp/one; tty; test -t 0 && echo terminal', pty: true })
    expect(terminal.output).toContain('shared')
    expect(terminal.output).toContain('/dev/pts/0')
    expect(terminal.output).toContain('terminal')
    await job.kill()
  })

  test('a session has its builtin where cerith lies below /tmp, which the room hides', async () => {
    const native = mkdtempSync('/tmp/cerith-test-')
    const given = process.env['CERITH_HELPER']
    try {
      cpSync(fileURLToPath(new URL('../../../dist/native', import.meta.url)), native, { recursive: true })
      process.env['CERITH_HELPER'] = join(native, `cerith-helper-linux-${process.arch}`)
      for (const profile of ['workspace', 'strict'] as const) {
        const { engine } = await ground({ profile })
        const session = await engine.session()
        const found = await session.run({ command: `grep -c cerith-bash /proc/$$/maps; : >>${native}/new` })
        expect(Number(found.stdout)).toBeGreaterThan(0)
        expect(found.stderr).toContain('Read-only file system')
      }
    } finally {
      process.env['CERITH_HELPER'] = given
      if (given === undefined) delete process.env['CERITH_HELPER']
      rmSync(native, { recursive: true, force: true })
    }
  })

  test('a session keeps its state, and a time limit ends the command but neither its shell nor its init', async () => {
    const { engine } = await ground()
    const session = await engine.session()
    await session.run({ command: 'kept=1; cd src' })
    expect((await session.run({ command: 'sleep 60', timeoutMs: 200 })).status).toBe('timeout')
    const after = await session.run({ command: 'echo $kept; pwd' })
    expect(after.stdout).toMatch(/^1\n.*\/work\/src\n$/)
    expect((await session.info()).restarts).toBe(0)
  })

  test('what a command leaves running is told without the init, and spared by the next stop', async () => {
    const { engine } = await ground()
    const session = await engine.session()
    const seconds = uniqueSeconds()
    const outcome = await session.run({ command: `sleep ${seconds} & disown; (setsid sleep ${seconds} &)` })
    expect(outcome.notes.map(({ text }) => text).join(' ')).toContain(`sleep ${seconds}`)
    expect(outcome.notes.map(({ text }) => text).join(' ')).not.toContain('cerith-helper')
    await session.run({ command: 'sleep 60', timeoutMs: 200 })
    expect(processesNamed(seconds).length).toBe(2)
    await session.close()
    await until(() => processesNamed(seconds).length === 0)
  })

  test('a session sees no files of another one', async () => {
    const { engine } = await ground()
    const [one, two] = [await engine.session('one'), await engine.session('two')]
    await one.run({ command: 'echo $PPID' })
    const seen = await two.run({ command: 'for d in $(dirname $(dirname $BASH_SOURCE))/*; do echo "$d"; done | wc -l' })
    expect(seen.stdout.trim()).toBe('1')
  })

  test('credentials are not there, also when they come into being while the room lives', async () => {
    const { engine, home } = await ground()
    mkdirSync(join(home, '.ssh'))
    writeFileSync(join(home, '.ssh', 'id'), 'secret')
    const session = await engine.session()
    expect((await session.run({ command: 'cat ~/.ssh/id' })).exitCode).toBe(1)
    writeFileSync(join(home, '.new'), 'secret')
    renameSync(join(home, '.new'), join(home, '.netrc'))
    const outcome = await session.run({ command: 'cat ~/.netrc ~/.ssh/id' })
    expect(outcome.stdout).toBe('')
    expect(outcome.notes.map(({ text }) => text).join(' ')).toContain('hides')
  })

  test('a protected name that appears is set aside and told, and a link is moved itself', async () => {
    const { engine, home, work } = await ground()
    mkdirSync(join(home, '.kube'))
    writeFileSync(join(home, '.kube', 'config'), 'keep')
    const outcome = await engine.run({ command: 'mkdir .vscode; echo evil >.vscode/tasks.json; ln -s ../.kube .idea' })
    expect(existsSync(join(work, '.vscode'))).toBe(false)
    expect(existsSync(join(work, '.idea'))).toBe(false)
    expect(readFileSync(join(home, '.kube', 'config'), 'utf8')).toBe('keep')
    expect([...(outcome.sandbox?.blocked ?? [])].sort()).toEqual([join(work, '.idea'), join(work, '.vscode')])
    expect(outcome.notes.filter(({ text }) => text.includes('aside')).length).toBe(2)
  })

  test('a repository made below, and one that is entered in the index, are told', async () => {
    const { engine, work } = await ground()
    execFileSync('git', ['init', '-q', work])
    const outcome = await engine.run({ command: 'git init -q sub 2>&1; mkdir -p a/b; git init -q a/b' })
    expect(outcome.notes.map(({ text }) => text).join('\n')).toContain(join(work, 'sub', '.git'))
    expect(outcome.notes.map(({ text }) => text).join('\n')).toContain(join(work, 'a', 'b', '.git'))
    const command =
      'cd sub; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; cd ..; git add sub 2>/dev/null; sleep 1.1'
    const linked = await engine.run({ command })
    expect(linked.notes.map(({ text }) => text).join('\n')).toContain(
      `${join(work, 'sub')}: it was entered in the index`,
    )
  })

  test('a repository that a command made stays harmless with every later command, and works', async () => {
    const { engine, work } = await ground()
    const session = await engine.session()
    await session.run({ command: 'git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x' })
    const planted = await session.run({
      command:
        'git remote add origin https://example.invalid/x; git config core.fsmonitor ./x; echo evil >.git/hooks/pre-commit',
    })
    expect(planted.notes.map(({ text }) => text).join(' ')).toContain('set aside from it: hooks/pre-commit, config')
    expect(readdirSync(join(work, '.git/hooks')).filter((name) => !name.endsWith('.sample'))).toEqual([])
    const config = readFileSync(join(work, '.git/config'), 'utf8')
    expect(config).toContain('https://example.invalid/x')
    expect(config).not.toContain('fsmonitor')
    expect((await session.run({ command: 'git log --oneline | wc -l; git remote' })).stdout.trim()).toBe('1\norigin')
    await session.run({
      command:
        'printf "[include]path=../y" >>.git/config; mkdir -p .git/modules/a/b; cp -r .git/HEAD .git/modules/a/b/',
    })
    expect(readFileSync(join(work, '.git/config'), 'utf8')).not.toContain('include')
  })

  test('a pointer to a repository of the person does not make the engine disarm that', async () => {
    const { engine, home, work } = await ground()
    for (const path of [work, join(home, 'other')]) {
      execFileSync('git', ['init', '-q', path])
      execFileSync('git', ['-C', path, 'config', 'core.fsmonitor', './mine'])
    }
    const command = `mkdir a b; echo 'gitdir: ${home}/other/.git' >a/.git; echo 'gitdir: ../.git' >b/.git; ln -s ${home}/other/.git c; mkdir d; ln -s ${home}/other/.git d/.git`
    await engine.run({ command })
    for (const path of [work, join(home, 'other')])
      expect(readFileSync(join(path, '.git/config'), 'utf8')).toContain('./mine')
  })

  test('what the person makes between commands is protected from the next one on', async () => {
    const { engine, work } = await ground()
    const tasks = join(work, '.vscode', 'tasks.json')
    const config = join(work, '.git', 'config')
    // The last process of a command is gone a moment after its outcome: what appears before that counts as the
    // command's, so try again.
    await until(async () => {
      await engine.run({ command: 'true' })
      for (const name of ['.vscode', '.git']) rmSync(join(work, name), { recursive: true, force: true })
      await new Promise((resolve) => setTimeout(resolve, 200))
      mkdirSync(join(work, '.vscode'))
      writeFileSync(tasks, 'mine')
      execFileSync('git', ['init', '-q', work])
      await engine.run({ command: 'echo evil >.vscode/tasks.json; echo evil >>.git/config' })
      return (
        existsSync(tasks) && readFileSync(tasks, 'utf8') === 'mine' && !readFileSync(config, 'utf8').includes('evil')
      )
    }, 'the cover')
  })

  test('a protected file that is replaced outside is protected again', async () => {
    const { engine, work } = await ground()
    mkdirSync(join(work, '.git', 'hooks'), { recursive: true })
    writeFileSync(join(work, '.git', 'config'), '[core]\n')
    const session = await engine.session()
    expect((await session.run({ command: 'echo evil >>.git/config' })).exitCode).toBe(1)
    writeFileSync(join(work, '.git', 'config.new'), '[core]\n[x]\n')
    renameSync(join(work, '.git', 'config.new'), join(work, '.git', 'config'))
    await until(async () => (await session.run({ command: '[ ! -w .git/config ]' })).exitCode === 0)
    expect((await session.run({ command: 'echo evil >>.git/config; mv .git old' })).exitCode).not.toBe(0)
    expect(readFileSync(join(work, '.git', 'config'), 'utf8')).toBe('[core]\n[x]\n')
  })

  test('nothing is left in the workspace or the home but what the commands wrote', async () => {
    const { engine, home, work } = await ground()
    await engine.run({ command: 'echo a >a' })
    await (await engine.session()).run({ command: 'echo b >b' })
    await engine.close()
    expect(readdirSync(work).sort()).toEqual(['a', 'b', 'src'])
    expect(readdirSync(home)).toEqual(['work'])
  })

  test('when the holder of a room is killed, what runs goes on, and the next command gets a new room', async () => {
    const { engine } = await ground()
    const session = await engine.session()
    await session.run({ command: 'echo old >/tmp/mark' })
    const holder = (name: string): number[] => processesNamed('cerith-helper').filter((pid) => commOf(pid) === name)
    const before = holder('cerith-room')
    for (const pid of before) if (isOf(pid, engine.id)) process.kill(pid, 'SIGKILL')
    expect((await session.run({ command: 'cat /tmp/mark' })).stdout).toBe('old\n')
    // None is refused, also before the launcher has noticed: it enters while the old room can still be entered.
    const look = { command: 'if [ -e /tmp/mark ]; then echo old; else echo new; fi' }
    expect((await engine.run(look)).exitCode).toBe(0)
    await until(async () => (await engine.run(look)).stdout === 'new\n')
  })

  test('a call may be stricter than its engine, never looser; a session keeps its own', async () => {
    const { engine } = await ground()
    const stricter = await engine.run({ command: 'echo x >x', sandbox: { profile: 'read-only' } })
    expect(stricter.exitCode).not.toBe(0)
    expect(stricter.sandbox?.profile).toBe('read-only')
    await expect(engine.run({ command: 'true', sandbox: { profile: 'off' } })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
    })
    const session = await engine.session()
    await expect(session.run({ command: 'true', sandbox: { profile: 'read-only' } })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
    })
  })

  test('a room that cannot be built runs nothing', async () => {
    const { engine, work } = await ground({ write: ['/proc/self'] })
    await expect(engine.run({ command: 'echo ran >ran' })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    expect(existsSync(join(work, 'ran'))).toBe(false)
  })

  test('a workspace that is reached through a link is the same workspace', async () => {
    const { home, work } = await ground()
    symlinkSync(work, join(home, 'link'))
    const { engine } = await ground({}, { cwd: join(home, 'link'), env: { ...process.env, HOME: home } })
    expect((await engine.run({ command: 'echo a >a && cat a' })).stdout).toBe('a\n')
  })
})

function commOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return ''
  }
}

/** Whether a holder belongs to this engine: its launcher is a child of this process. */
function isOf(pid: number, _engine: string): boolean {
  const parent = (one: number): number =>
    Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${one}/stat`, 'utf8'))?.[1] ?? 0)
  return parent(parent(pid)) === process.pid
}
