/**
 * Programs are started by cerith's builtin, which the session's bash has loaded. Everything must be as if bash had done
 * it.
 */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { LiveSession } from '../../../src/engine/session/session.js'
import { SessionShell } from '../../../src/engine/session/shell/shell.js'
import type { Engine, Outcome, Session } from '../../../src/index.js'
import { findHelper, findShellBuiltin } from '../../../src/os/helper/file.js'
import { startHost } from '../engine-host.js'
import { isAlive, temporaryFolder, testEngine, uniqueSeconds, until } from '../harness.js'

const BUILTIN = findShellBuiltin('5')
const HELPER = process.env['CERITH_HELPER']

afterEach(() => {
  if (HELPER === undefined) delete process.env['CERITH_HELPER']
  else process.env['CERITH_HELPER'] = HELPER
})

/** An engine whose sessions start programs by themselves. */
async function engineWithoutBuiltin(cwd: string): Promise<Engine> {
  const alone = join(temporaryFolder(), 'helper')
  copyFileSync(findHelper() as string, alone)
  chmodSync(alone, 0o755)
  process.env['CERITH_HELPER'] = alone
  return testEngine({ cwd })
}

function programsIn(folder: string): void {
  const program = (name: string, text: string, mode = 0o755): void => writeFileSync(join(folder, name), text, { mode })
  program('ends', '#!/bin/sh\nexit $1\n')
  program('dies', '#!/bin/sh\nkill -$1 $$\nsleep 10\n')
  program('plain', 'echo "by ${BASH_VERSION:+bash} $# <$1>"\nexit 5\n')
  program('nowhere', '#!/no/such/interpreter\n')
  program('text', 'echo no\n', 0o644)
  program('signals', '#!/bin/sh\nexec grep -E "^Sig(Blk|Ign)" /proc/self/status\n')
  program('survives', '#!/bin/sh\nkill -INT $PPID\nexit 3\n')
  program('group', '#!/bin/sh\nset -- $(cat /proc/$$/stat)\n[ $1 = $5 ]\n')
  program('says', '#!/bin/sh\necho out; echo err >&2; echo more\n')
  mkdirSync(join(folder, 'folder'))
}

/** What an idle shell does by itself a moment after a command. */
const writtenDown = (session: Session): Promise<unknown> => (session as LiveSession).currentState()

/** Which processes are still there when a call ends is a matter of time. */
const short = ({ exitCode, status, stdout, stderr, notes }: Outcome): object => ({
  exitCode,
  status,
  stdout,
  // Only the builtin says which program a signal ended (crashes.test.ts).
  stderr: stderr.replaceAll(/^bash: \d+ (?:Killed|Terminated|Segmentation fault|Hangup)\n/gm, ''),
  notes: notes.filter(({ code }) => code !== 'still-there'),
})

describe.skipIf(BUILTIN === null)('with the builtin', () => {
  test('a session has it, and its programs do not know', async () => {
    const session = await (await testEngine()).session()
    await session.run({ command: ':' })
    const { pid } = await session.info()
    expect(readFileSync(`/proc/${pid}/maps`, 'utf8')).toContain(BUILTIN)
    expect((await session.run({ command: 'ls -l /proc/self/fd' })).stdout.match(/ \d+ -> /g)).toEqual([
      ' 0 -> ',
      ' 1 -> ',
      ' 2 -> ',
      ' 3 -> ',
    ])
    expect((await session.run({ command: 'readlink /proc/self/fd/0' })).stdout).toBe('/dev/null\n')
    expect((await session.run({ command: 'cut -d" " -f4 /proc/self/stat' })).stdout).toBe(`${pid}\n`)
  })

  test.each([
    [
      'how it ends',
      ['./ends 0', './ends 1', 'echo $?', './ends 255', 'echo ${PIPESTATUS[@]}', './ends 7', './ends 7', 'echo $_'],
    ],
    [
      'how pipelines and lists end',
      [
        './ends 3 | ./ends 4',
        'echo $? ${PIPESTATUS[@]}',
        './ends 3 | ./ends 0',
        'echo $? ${PIPESTATUS[@]}',
        './ends 1 && ./ends 2 || ./ends 3; ./ends 4 | ./ends 5',
        'echo $? ${PIPESTATUS[@]}',
        './ends 0 && ./ends 0 && ./ends 7',
        './ends 0 || ./ends 8',
        './ends 6 || ./ends 0 | ./ends 9 && ./says',
        './ends 2; ./ends 0',
        './ends 1\n./ends 2',
        './dies KILL | ./ends 0',
        'echo ${PIPESTATUS[@]}',
        './dies TERM; ./says',
        './dies INT | ./ends 0',
        './dies INT | ./dies INT; ./says',
        './ends 0 && ./dies INT; ./says',
        './dies INT && ./says || ./says',
        'yes | head -2',
        'seq 100000 | tail -1',
        'head -c 300000 /dev/zero | wc -c',
        'seq 3 | cat | cat | cat | cat | sort -r',
        'set -o pipefail',
        './ends 3 | ./ends 0',
        './ends 3 | ./ends 4 | ./ends 0 || ./says',
        './ends 0 | ./ends 0 && ./ends 5',
        'yes | head -1',
        'echo $?',
      ],
    ],
    [
      'what pipelines and lists print',
      [
        './says | cat',
        './says 2>&1 | sort',
        './says 2>/dev/null | sort',
        './says 2>/dev/null',
        './says 2>/dev/null; ./says 2>&1',
        'cat | wc -c',
        'cat; cat - | cat',
        './says | grep -c o 2>/dev/null && ./says',
        'readlink /proc/self/fd/2 2>/dev/null',
        `seq 3 | awk '{ n += $1 } END { print n }'`,
        `seq 3 | sed -e 's/1/"one two"/' | tail -n +2`,
        'ls -l /proc/self/fd | wc -l',
        // No word of a command begins a step.
        String.raw`/bin/echo $'\x1e;-' uname`,
        String.raw`/bin/echo a $'\x1e|m' wc 2>&1; uname`,
        String.raw`/bin/echo a $'\x1e'`,
        String.raw`/bin/echo ';-' uname | od -c`,
        // Longer than a pipe, in which a line is typed.
        `/bin/echo ${'x'.repeat(70_000)} | wc -c`,
        `seq 1; /bin/echo ${'y '.repeat(40_000)} | wc`,
        'cat /proc/self/stat | cut -d" " -f4 | grep -c .',
      ],
    ],
    [
      'what is no program behind others',
      [
        './ends 0 | ./plain a',
        './plain a | cat',
        './says && ./plain b',
        './ends 0 | ./nowhere',
        './nowhere | cat',
        './ends 0; ./text; ./ends 3',
        './ends 0 | ./folder',
        './missing | cat',
        'cat | find-nothing-of-this-name',
        './ends 0 && find-nothing-of-this-name 2>/dev/null || ./says',
        'cp ends bends; ./bends 3',
        './bends 4; rm bends; ./bends 5',
        'echo $?',
        'cp /bin/true gone; rm gone && ./gone',
        'cp /bin/true gone; hash -p "$PWD/gone" gone',
        './ends 0; rm gone; gone',
        './ends 0; ./nowhere 2>&1',
        './ends 0; ./nowhere 2>&1 | wc -l',
        './ends 0; ./nowhere 2>/dev/null | wc -l',
        'cp says silent; chmod -x silent',
        './ends 0; ./silent 2>&1 | wc -l',
        'mkfifo fifo; ./ends 0; ./fifo',
        './ends 0; ./fifo',
        'command_not_found_handle() { echo "no $1"; return 9; }',
        './ends 0 | find-nothing-of-this-name',
        'find-nothing-of-this-name; ./ends 0',
      ],
    ],
    [
      'what pipelines leave in the shell',
      [
        'echo a b',
        'ls -d folder && ls -d . | cat x.y 2>/dev/null',
        'echo "$_"',
        'ls -d . && ls -d folder | cat',
        'echo "$_"',
        'ls -d folder; ls -d . | cat | cat',
        'echo $_',
        'hash -r',
        'seq 2 | sort | uniq',
        'hash',
        'seq 1; expr 1 + 1',
        'hash | sort',
        'hash -p "$PWD/ends" uniq',
        'seq 1 | uniq 5',
        'uniq 6 && seq 1',
        'ls() { echo mine; }',
        'ls -d . | cat',
        'seq 2 | ls',
        'unset -f ls',
        'alias cat="echo aliased"',
        'seq 2 | cat',
        'cat && seq 2',
        'unalias cat',
        'shopt -s lastpipe',
        'seq 2 | cat',
        'export A=1; A=2',
        'printenv A | cat; printenv A',
        'env printenv _ | cat',
        'set -e',
        './ends 3 || ./says',
        './ends 0 | ./ends 0',
        'echo still $-',
        './ends 0; ./ends 4; ./says',
        'echo $-',
      ],
    ],
    [
      'limits and streams of pipelines',
      [
        'exec 2>&-',
        './says | cat',
        'exec 2>/dev/null',
        './says | cat',
        'ulimit -n 12',
        'seq 3 | cat | cat | cat | cat | cat | cat | cat | cat | cat | cat',
        'set -m',
        './group | cat',
        'set +m',
        'seq 3 | wc -l',
      ],
    ],
    [
      'how it dies',
      [
        './dies KILL',
        './dies TERM',
        './dies INT',
        'echo $?',
        './dies PIPE',
        './dies SEGV',
        './dies HUP',
        './dies KILL',
        'echo $?',
      ],
    ],
    [
      'what is no program',
      [
        './plain a',
        './plain',
        './nowhere',
        './text',
        './folder',
        './missing',
        'find-nothing-of-this-name',
        'echo $?',
        './plain a',
        './missing',
      ],
    ],
    [
      'nobody of that name',
      [
        'command_not_found_handle() { echo "no $1"; return 9; }',
        'git-nothing-of-this-name a',
        'echo $?',
        './ends 3',
        'echo $?',
      ],
    ],
    [
      'where it is looked for',
      [
        'mkdir bin',
        'cp ends bin/uniq',
        'PATH=$PWD/bin:$PATH',
        'uniq 4',
        'hash -t uniq | sed s,.*/,,',
        'rm bin/uniq',
        'uniq 4',
        'hash -r',
        'uniq --version 2>&1',
        'PATH=',
        'ls',
        'PATH=.:/bin',
        'ends 6',
      ],
    ],
    [
      'its environment',
      [
        'export A=1',
        'env printenv A _',
        'A=2',
        'env printenv A',
        'unset A',
        'env printenv A',
        'echo $?',
        'f() { echo exported; }; export -f f',
        'bash -c f',
        'export -n f',
        'bash -c f',
        'declare -x B',
        'env printenv B',
      ],
    ],
    [
      'its signals',
      [
        './signals',
        'trap "" TERM',
        './signals',
        'trap - TERM',
        './signals',
        'echo "trap \\"\\" INT" >ignore',
        '. ./ignore',
        './signals',
        'env ./signals',
      ],
    ],
    [
      'its limits',
      [
        'umask 027',
        'mkdir made',
        'stat -c %a made',
        'ulimit -n 64',
        'cat /proc/self/limits | grep "open files" | tr -s " "',
      ],
    ],
    ['leaving on the first failure', ['kept=1', 'set -e', './ends 0', './ends 4', 'echo $kept $-']],
    [
      'other meanings',
      [
        'ls() { echo mine; }',
        'ls -d .',
        'unset -f ls',
        'ls -d .',
        'alias ls="echo aliased"',
        'ls -d .',
        'unalias ls',
        'ls -d .',
        './ends() { echo odd; }',
        './ends 1',
      ],
    ],
    [
      'jobs beside it',
      [
        './ends 6 & sleep 0.2; echo begun',
        'wait $!; echo $?',
        'sleep 0.1 & first=$!; echo',
        'sleep 0.4',
        'jobs',
        'wait $first; echo $?',
        '(sleep 0.1; exit 8) & echo',
        'sleep 0.3',
        'wait %1; echo $?',
        'wait -n; echo $?',
      ],
    ],
    [
      'its output',
      ['./says', './says 2>&1', './says', 'seq 20000', 'head -c 100000 /dev/zero', 'cat', 'cat -', 'wc -c'],
    ],
    [
      'its words',
      [
        'stat -c "%n|%F" "folder"',
        `stat -c '%n' fol"der"`,
        'basename -a a "b c" \'d "e"\' x=y +z %q @r ^s',
        'basename ""',
        'ls  -d\tfolder',
        ' ls -d folder ',
        'echo 2>&1',
        'ls -d nothing 2>&1',
      ],
    ],
    [
      'options',
      [
        'set -u',
        './ends 1',
        'set -f',
        'ls -d folder',
        'set -o posix',
        './ends 2',
        'set -o pipefail',
        './ends 3',
        'set +o posix',
        './ends 4',
        'set -x',
        './ends 5',
        'set +x',
        'set -m',
        './group',
        './ends 6',
        'set +m',
        './ends 7',
      ],
    ],
    [
      'its name in the way',
      [
        '__cerith() { echo function; }',
        './ends 3',
        'alias __cerith=false',
        './ends 4',
        'unset -f __cerith',
        './ends 5',
        'enable -n __cerith 2>/dev/null || :',
        './ends 6',
        './ends 6',
        'enable -d __cerith 2>/dev/null || :',
        './ends 7',
        './ends 7',
      ],
    ],
  ]) /* prettier-ignore */('SESS-01 as without it: %s', async (_, commands) => {
    const stories: object[][] = []
    for (const make of [(cwd: string) => testEngine({ cwd }), engineWithoutBuiltin]) {
      const cwd = temporaryFolder()
      programsIn(cwd)
      const session = await (await make(cwd)).session()
      // The same words in the same places: twice, because the second time is another way.
      const story: object[] = []
      for (const command of commands) story.push({ command, ...short(await session.run({ command })) })
      stories.push(
        JSON.parse(
          JSON.stringify(story)
            .replaceAll(cwd, 'CWD')
            .replaceAll(/whole output: \S+/g, ''),
        ) as object[],
      )
    }
    expect(stories[0]).toEqual(stories[1])
  })

  test.each([
    '__cerith',
    '__cerith; sleep 0.2',
    'eval __cerith ls',
    'f() { __cerith; }; f',
    'trap __cerith USR1; kill -USR1 $$; sleep 0.1',
    '(__cerith)',
    'echo $(__cerith)',
    '\\__cerith = /tmp/x y',
    'builtin __cerith /bin/true',
  ])('F33 a command cannot pretend to be over: %s', async (command) => {
    const session = await (await testEngine()).session()
    await session.run({ command: 'ls -d .' })
    for (let round = 0; round < 2; round++) {
      const { stderr } = await session.run({ command: `${command}; echo last >&2` })
      expect(stderr).toBe('bash: __cerith: command not found\nlast\n')
      expect(await session.run({ command: 'ls -d .' })).toMatchObject({ exitCode: 0, stdout: '.\n', stderr: '' })
    }
  })

  test('a command may take the descriptors that the builtin keeps away, or put a file in their place', async () => {
    const cwd = temporaryFolder()
    programsIn(cwd)
    const session = await (await testEngine({ cwd })).session()
    const ends = async (code: number): Promise<void> =>
      expect(await session.run({ command: `./ends ${code}` })).toMatchObject({ exitCode: code, stderr: '' })
    await ends(1)
    const { pid } = await session.info()
    // Those of its reports and of its state, its own stdin and what a command reads instead.
    const kept = readdirSync(`/proc/${pid}/fd`).filter((fd) => Number(fd) >= 1000)
    expect(kept.length).toBe(4)
    for (const ours of kept) {
      await session.run({ command: `exec ${ours}>theirs` })
      for (const code of [2, 2, 0, 3]) await ends(code)
      expect(readFileSync(join(cwd, 'theirs'), 'utf8')).toBe('')
      await session.run({ command: `exec ${ours}>&-` })
      for (const code of [4, 4, 0, 5]) await ends(code)
      expect(await session.run({ command: 'cat; x=1' })).toMatchObject({ exitCode: 0, stdout: '' })
    }
    expect((await session.info()).restarts).toBe(0)
  })

  test("an interrupt of its shell that a program survives is nobody else's matter", async () => {
    const cwd = temporaryFolder()
    programsIn(cwd)
    const session = await (await testEngine({ cwd })).session()
    // The first command of a shell is bash's: a child that is quicker than bash, which does not wait yet, interrupts it
    // (in any bash).
    await session.run({ command: ':' })
    for (let round = 0; round < 5; round++) {
      expect(await session.run({ command: './survives' })).toMatchObject({ exitCode: 3, stderr: '' })
      expect(await session.run({ command: './survives; ./ends 5' })).toMatchObject({ exitCode: 5, stderr: '' })
    }
    expect((await session.info()).restarts).toBe(0)
  })

  test('F53 what it declines is not begun after it was stopped, and nobody gets its output', async () => {
    const cwd = temporaryFolder()
    programsIn(cwd)
    const session = await (await testEngine({ cwd })).session()
    for (let round = 0; round < 60; round++) {
      const handle = session.stream({ command: './plain a', ...(round % 3 === 2 ? { timeoutMs: 1 } : {}) })
      if (round % 3 === 0) handle.kill()
      if (round % 3 === 1) handle.interrupt()
      await handle.outcome
      expect(await session.run({ command: 'basename own' })).toMatchObject({ exitCode: 0, stdout: 'own\n' })
      expect(await session.run({ command: 'echo too' })).toMatchObject({ exitCode: 0, stdout: 'too\n' })
    }
  })

  test('what it declines runs in the background all the same', async () => {
    const cwd = temporaryFolder()
    const engine = await testEngine({ cwd })
    const session = await engine.session()
    await session.run({ command: 'kept=yes' })
    for (let round = 0; round < 12; round++) {
      const ran = join(cwd, `ran${round}`)
      writeFileSync(join(cwd, 'marks'), 'exit 3\n', { mode: 0o755 })
      await writtenDown(session)
      // The second time is the short way.
      for (let at = 0; at < round % 3; at++) await session.run({ command: './marks' })
      writeFileSync(join(cwd, 'marks'), `sleep 0.05; : >ran${round}; exit 4\n`)
      const handle = session.stream({ command: './marks' })
      const moved = await handle.toBackground()
      if (moved.status === 'running') await (await engine.job(moved.id as string)).wait({ timeoutMs: 20_000 })
      expect(existsSync(ran), `${moved.status} in round ${round}`).toBe(true)
    }
    expect(await session.run({ command: 'echo $kept' })).toMatchObject({ stdout: 'yes\n' })
  })

  test('a program whose engine has gone ends with its own code', async () => {
    const cwd = temporaryFolder()
    const stateDir = join(temporaryFolder(), 'state')
    const gone = join(cwd, 'gone')
    writeFileSync(join(cwd, 'works'), `#!/bin/sh\nuntil [ -e ${gone} ]; do sleep 0.02; done\nexit 7\n`, { mode: 0o755 })
    const host = await startHost(stateDir)
    await host.call('session', 'main', { command: ':' })
    const moved = (await host.call('session', 'main', {
      command: join(cwd, 'works'),
      yieldMs: 100,
      owner: 'detached',
    })) as Outcome
    expect(moved.status).toBe('running')
    await host.call('close')
    await host.kill('SIGKILL')
    writeFileSync(gone, '')
    const job = await (await testEngine({ stateDir })).job(moved.id as string)
    await job.wait({ timeoutMs: 20_000 })
    expect((await job.info()).end).toEqual({ kind: 'exit', code: 7 })
  })

  test('F73 a run folder that nobody can write fails calls, not the host', async () => {
    const stateDir = join(temporaryFolder(), 'state')
    const session = await (await testEngine({ stateDir })).session()
    for (const command of ['ls -d .', './nothing', 'sleep 0.1']) await session.run({ command })
    rmSync(stateDir, { recursive: true })
    writeFileSync(stateDir, '')
    expect(await session.run({ command: 'sleep 0.1' })).toMatchObject({ exitCode: 0 })
    await expect(session.run({ command: './nothing' })).rejects.toMatchObject({ name: 'ShellError' })
    await expect(session.run({ command: './nothing else' })).rejects.toMatchObject({ name: 'ShellError' })
    rmSync(stateDir)
    expect(await session.run({ command: 'ls -d .' })).toMatchObject({ stdout: '.\n' })
    expect(await session.run({ command: './nothing' })).toMatchObject({ exitCode: 127 })
  })

  test('SESS-01 with `set -e` a list that fails harmlessly leaves the shell alone', async () => {
    const session = await (await testEngine()).session()
    await session.run({ command: 'set -e' })
    for (let round = 0; round < 3; round++) {
      expect(await session.run({ command: 'false && true' })).toMatchObject({ exitCode: 1, notes: [] })
      expect(await session.run({ command: 'echo hi' })).toMatchObject({ exitCode: 0, stdout: 'hi\n', notes: [] })
    }
    expect((await session.run({ command: 'echo $-' })).stdout).toContain('e')
    expect((await session.info()).restarts).toBe(0)
  })

  test('who takes it away from the shell pays with one call', async () => {
    const cwd = temporaryFolder()
    writeFileSync(join(cwd, 'off'), 'enable -n __cerith\n')
    const session = await (await testEngine({ cwd })).session()
    for (const command of ['ls -d .', '__cerith() { echo mine; }', 'ls -d .']) await session.run({ command })
    await writtenDown(session)
    expect(await session.run({ command: 'ls -d .' })).toMatchObject({ exitCode: 0, stdout: '.\n' })
    expect(await session.run({ command: 'echo hi' })).toMatchObject({ exitCode: 0, stdout: 'hi\n' })
    await session.run({ command: 'unset -f __cerith' })
    await session.run({ command: '. ./off' })
    await writtenDown(session)
    await session.run({ command: 'ls -d .' })
    for (let round = 0; round < 3; round++) {
      expect(await session.run({ command: 'ls -d .' })).toMatchObject({ exitCode: 0, stdout: '.\n', stderr: '' })
      expect(await session.run({ command: 'echo hi' })).toMatchObject({ exitCode: 0, stdout: 'hi\n', stderr: '' })
    }
  })

  test('F53 a program that is stopped is gone, and the session goes on with its state', async () => {
    const session = await (await testEngine()).session()
    await session.run({ command: 'kept=yes' })
    const seconds = uniqueSeconds()
    for (let round = 0; round < 6; round++) {
      const handle = session.stream({ command: `sleep ${seconds}`, ...(round % 3 === 0 ? { timeoutMs: 60 } : {}) })
      if (round % 3 !== 0) await childOf(session, seconds)
      if (round % 3 === 1) handle.kill()
      if (round % 3 === 2) handle.interrupt()
      const { status, exitCode, signal } = await handle.outcome
      expect([status, exitCode, signal]).toEqual(
        [
          ['timeout', null, null],
          ['killed', null, null],
          ['failed', null, 'SIGINT'],
        ][round % 3],
      )
      expect(await session.run({ command: 'echo $kept $?' })).toMatchObject({
        stdout: expect.stringMatching(/^yes \d+\n$/) as string,
        stderr: '',
      })
      expect(await childrenOf(session)).toEqual([])
    }
    expect((await session.info()).restarts).toBe(0)
  })

  test('a program that takes its time goes on in the background, and its session without it', async () => {
    const engine = await testEngine()
    const session = await engine.session()
    await session.run({ command: 'kept=yes' })
    const seconds = uniqueSeconds()
    const moved = await session.run({ command: `sleep ${seconds}`, yieldMs: 80 })
    expect(moved).toMatchObject({ status: 'running' })
    expect(await session.run({ command: 'echo $kept' })).toMatchObject({ stdout: 'yes\n' })
    const job = await engine.job(moved.id as string)
    await job.kill()
    expect(await job.wait({ timeoutMs: 10_000 })).toBeDefined()
  })

  test('a shell that is hung up while it waits for a program ends at once; what is left is said, and ends with the session', async () => {
    const session = await (await testEngine()).session()
    await session.run({ command: 'kept=yes' })
    const seconds = uniqueSeconds()
    const handle = session.stream({ command: `sleep ${seconds}` })
    const child = await childOf(session, seconds)
    const { pid } = await session.info()
    process.kill(pid as number, 'SIGHUP')
    const hungUp = await handle.outcome
    expect(hungUp).toMatchObject({ status: 'failed', signal: 'SIGHUP' })
    expect(hungUp.notes.map(({ text }) => text).join('\n')).toContain(`${child} (sleep ${seconds})`)
    expect(await session.run({ command: 'echo $kept' })).toMatchObject({ stdout: 'yes\n' })
    expect(isAlive(child)).toBe(true)
    await session.close()
    expect(isAlive(child)).toBe(false)
  })
})

describe.skipIf(findHelper() === null)('without it', () => {
  test('a session does the same, only slower', async () => {
    const cwd = temporaryFolder()
    const session = await (await engineWithoutBuiltin(cwd)).session()
    for (let round = 0; round < 3; round++)
      expect(await session.run({ command: 'ls -d .' })).toMatchObject({ exitCode: 0, stdout: '.\n' })
    const { pid } = await session.info()
    expect(readFileSync(`/proc/${pid}/maps`, 'utf8')).not.toContain('cerith-bash')
  })

  test('a bash that cannot load it says nothing about it', async () => {
    const broken = temporaryFolder()
    const helper = join(broken, 'helper')
    copyFileSync(findHelper() as string, helper)
    chmodSync(helper, 0o755)
    writeFileSync(join(broken, `cerith-bash-${process.platform}-${process.arch}.so`), 'not a library')
    process.env['CERITH_HELPER'] = helper
    const session = await (await testEngine()).session()
    for (let round = 0; round < 3; round++)
      expect(await session.run({ command: 'ls -d .' })).toMatchObject({
        exitCode: 0,
        stdout: '.\n',
        stderr: '',
        notes: [],
      })
  })
})

async function childrenOf(session: Session): Promise<readonly { pid: number; command: string }[]> {
  return (await session.info()).leftovers
}

/** The pid of `sleep SECONDS`, once the shell has started it. */
async function childOf(session: Session, seconds: string): Promise<number> {
  const { pid } = await session.info()
  let found = 0
  await until(() => {
    for (const child of readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)) {
      if (readFileSync(`/proc/${child}/cmdline`, 'utf8') === `sleep\0${seconds}\0`) found = Number(child)
    }
    return found !== 0
  }, 'the program')
  return found
}

test('a command that has begun while its shell was looked at does not begin again', async () => {
  const cwd = temporaryFolder()
  const session = await (await testEngine({ cwd })).session()
  await session.run({ command: ':' })
  // What two looks, one at its stdin and one at its state, make of a shell that begins between them.
  const look = vi.spyOn(SessionShell.prototype, 'isIdle').mockReturnValue(true)
  try {
    expect(await session.run({ command: 'echo begun >>file; sleep 0.2; (exit 3)' })).toMatchObject({ exitCode: 3 })
    expect(await session.run({ command: 'cat file' })).toMatchObject({ stdout: 'begun\n' })
  } finally {
    look.mockRestore()
  }
  await session.run({ command: "alias ll='echo aliased'" })
  expect(await session.run({ command: 'll' })).toMatchObject({ stdout: 'aliased\n' })
})

test('aliases hold in a shell whose builtin is gone for good', async () => {
  const cwd = temporaryFolder()
  const session = await (await testEngine({ cwd })).session()
  await session.run({ command: "alias ll='echo aliased'" })
  writeFileSync(join(cwd, 'off'), 'enable -d __cerith\n')
  await session.run({ command: '. ./off' })
  for (const round of [1, 2, 3])
    expect([round, (await session.run({ command: 'll' })).stdout]).toEqual([round, 'aliased\n'])
})
