import {
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  chmodSync,
  mkdirSync,
} from 'node:fs'
import { spawnSync } from 'node:child_process'
import { STOP_NAME, STOP_SIGNAL } from '../../../src/engine/session/lines/marks.js'
import { findHelper } from '../../../src/os/helper/file.js'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEngine, type Engine, type Outcome, type RunRequest, type Session } from '../../../src/index.js'
import { processesNamed, testEngine, uniqueSeconds, until } from '../harness.js'
import { temporaryFolder } from '../../fixtures/folder.js'

let engine: Engine
let home: string
let count = 0

beforeAll(async () => {
  home = temporaryFolder('survival')
  engine = await createEngine({ stateDir: join(home, 'state'), cwd: home })
})

afterAll(async () => {
  await engine.close()
})

/** A session that remembers something worth losing. */
async function furnished(): Promise<Session & { do(command: string, more?: Partial<RunRequest>): Promise<Outcome> }> {
  const session = await engine.session(`s${++count}`)
  const dir = join(home, session.name)
  mkdirSync(join(dir, 'sub'), { recursive: true })
  const run = (command: string, more: Partial<RunRequest> = {}): Promise<Outcome> =>
    session.run({ command, timeoutMs: 20_000, ...more })
  await run(
    `plain=1; export shared=2; list=(a "b c"); declare -A map=([k]=v); f() { echo "f $1"; }; alias al="echo aliased"; shopt -s nullglob; umask 027; cd sub`,
    { cwd: dir },
  )
  return Object.assign(session, { do: run })
}

const STILL_THERE =
  'unset IFS 2>/dev/null; echo "$plain $shared ${list[1]} ${map[k]} $(f x) $(umask) ${PWD##*/}"; shopt -q nullglob && echo nullglob; al'
const THERE = '1 2 b c v f x 0027 sub\nnullglob\naliased\n'

test('the signal that stops a command has the same number for bash as for the engine, in every C library', () => {
  // glibc and musl agree on the last real-time signal, and not on the first.
  expect(STOP_NAME).toMatch(/^RTMAX-/)
  expect(spawnSync('bash', ['-c', `kill -l ${STOP_NAME}`], { encoding: 'utf8' }).stdout).toBe(`${STOP_SIGNAL}\n`)
})

describe('SESS-01 nothing typed costs the session', () => {
  /** A command, and how it ends. After each, everything is still there. */
  const rows: readonly [title: string, command: string, end: Partial<Outcome>][] = [
    ['F41 exit reports its code', 'exit 7', { exitCode: 7 }],
    ['F41 exit in the middle of a list', 'echo before; exit 3; echo after', { exitCode: 3, stdout: 'before\n' }],
    ['F41 exit in a function', 'leave() { exit 4; }; leave', { exitCode: 4 }],
    ['F42 exec of a program', 'exec true', { exitCode: 0 }],
    ['F42 exec of another bash', 'exec bash', { exitCode: 0 }],
    ['F42 exec of a program that does not exist', 'exec /nonexistent/program', { exitCode: 127 }],
    ['F43 set -e with a failing command', 'set -e; false; echo unreached', { exitCode: 1, stdout: '' }],
    ['F43 set -u with an unset variable', 'set -u; echo "$nothing_here"', {}],
    ['F43 set -n', 'set -n; echo maybe', {}],
    ['F43 set -x', 'set -x; echo traced', { exitCode: 0, stdout: 'traced\n' }],
    ['F43 set -v', 'set -v; echo seen', { exitCode: 0, stdout: 'seen\n' }],
    ['set -t', 'set -t; echo one', {}],
    ['set -m', 'set -m; /bin/true; echo monitored', { exitCode: 0, stdout: 'monitored\n' }],
    ['set -o posix', 'set -o posix', { exitCode: 0 }],
    ['set -o history', 'set -o history; set -H; echo a', { stdout: 'a\n' }],
    ['F48 kill -9 of the shell', 'kill -9 $$', { signal: 'SIGKILL', exitCode: null }],
    ['kill -TERM of the shell', 'kill -TERM $$; echo ignored', { exitCode: 0 }],
    ['kill -HUP of the shell', 'kill -HUP $$', {}],
    ['kill -INT of the shell', 'kill -INT $$; echo after', {}],
    ['the signal that cerith itself uses', 'kill -55 $$; echo after', { exitCode: 130, stdout: '' }],
    [
      'kill -STOP and continue',
      '(until [[ $(</proc/$$/stat) == *") T "* ]]; do sleep 0.01; done; kill -CONT $$) & kill -STOP $$; wait; echo continued',
      { stdout: 'continued\n' },
    ],
    ['kill of the whole group', 'trap "" TERM; kill -TERM 0', {}],
    ['closed stdin', 'exec 0<&-', {}],
    ['closed stdout', 'exec 1>&-; echo lost', {}],
    ['closed stderr', 'exec 2>&-; echo lost >&2', {}],
    [
      'all of its descriptors closed',
      'for fd in /proc/$$/fd/*; do n=${fd##*/}; [ "$n" -gt 2 ] && eval "exec $n>&-"; done; echo closed',
      {},
    ],
    ['F46 a shadowed printf', 'printf() { :; }; echo x', { exitCode: 0, stdout: 'x\n' }],
    ['F46 shadowed cd and echo', 'cd() { :; }; echo() { :; }; echo hidden', { stdout: '' }],
    ['F46 a disabled builtin', 'enable -n builtin', {}],
    ['F46 many disabled builtins', 'enable -n printf source . declare trap shopt set alias umask', {}],
    ['F46 a shadowed builtin', 'builtin() { :; }', {}],
    [
      'F46 shadowed special builtins',
      'exec() { :; }; unset() { :; }; exit() { :; }; return() { :; }; eval() { :; }',
      {},
    ],
    ['F46 aliases of everything', 'alias printf=false builtin=false exec=false source=false trap=false', {}],
    ['F47 readonly variables', 'readonly PWD OLDPWD __x; readonly IFS PATH', {}],
    ['F45 a changed IFS', 'IFS=/0123456789', {}],
    [
      'F45 changed prompts',
      `PS0="zero" PS1="one$ " PS2="two" PS4='$(echo pwned >&2)+'; PROMPT_COMMAND='echo prompted'`,
      { stdout: '', stderr: '' },
    ],
    ['BASH_ENV and ENV', 'export BASH_ENV=/nonexistent ENV=/nonexistent', {}],
    ['TMOUT', 'TMOUT=1', {}],
    ['F45 extdebug', 'shopt -s extdebug', {}],
    ['F44 an EXIT trap and an exit', 'trap "echo bye" EXIT; exit 2', { exitCode: 2, stdout: 'bye\n' }],
    ['F44 a DEBUG trap', 'trap "echo debug >/dev/null" DEBUG', {}],
    ['F44 a DEBUG trap that exits', 'trap "exit 9" DEBUG; echo x', { exitCode: 9 }],
    ['F44 an ERR trap that exits', 'trap "exit 8" ERR; false', { exitCode: 8 }],
    ['F44 a RETURN trap', 'trap "echo returned" RETURN; g() { :; }; g', {}],
    [
      'a trap on every signal',
      'for s in $(seq 1 64); do trap "echo sig" $s 2>/dev/null; done; trap - $(seq 1 64) 2>/dev/null',
      {},
    ],
    ['an unterminated quote', 'echo "never ends', { exitCode: 2 }],
    ['an unterminated single quote', "echo 'never ends", { exitCode: 2 }],
    ['an unterminated substitution', 'echo $(echo', { exitCode: 2 }],
    ['an unterminated here-document', 'cat <<EOF\nbody', {}],
    ['an unterminated if', 'if true; then echo x', { exitCode: 2 }],
    ['a stray bracket', 'echo a; }', { exitCode: 2 }],
    ['a stray done', 'done', { exitCode: 2 }],
    ['F49 too few descriptors', 'ulimit -n 3', {}],
    ['F49 too little memory', 'ulimit -v 1000', {}],
    ['F49 no files', 'ulimit -f 0', {}],
    ['F49 no processes', 'ulimit -u 1', {}],
    ['F49 no stack to speak of', 'ulimit -s 16', {}],
    ['F49 no processor time', 'ulimit -t 1; while :; do :; done', {}],
    ['recursion without end', 'FUNCNEST=100; r() { r; }; r', {}],
    ['a readonly array named like ours', 'for v in ${!__cerith*}; do readonly "$v"; done', {}],
    ['unset of everything', 'for v in ${!__cerith*}; do unset "$v"; done', {}],
    ['return at the top', 'return 5; echo unreached', { exitCode: 5, stdout: '' }],
    ['break and continue outside a loop', 'break; continue; echo on', { stdout: 'on\n' }],
    ['a division by zero', 'echo $((1/0)); echo next', {}],
    ['a bad substitution', 'echo ${x!}; echo next', {}],
    ['an error that asks for a message', 'echo ${nothing:?is not set}', {}],
    ['suspend', 'suspend; echo on', { stdout: 'on\n' }],
    ['logout', 'logout', {}],
    ['a huge environment variable', 'export HUGE=$(head -c 100000 /dev/zero | tr "\\0" x)', { exitCode: 0 }],
    ['a function named like a keyword of ours', 'function __cerith_rc { echo no; }', { exitCode: 0 }],
    ['POSIXLY_CORRECT', 'POSIXLY_CORRECT=1', { exitCode: 0 }],
    ['a process that takes the terminal settings', 'stty -echo 2>/dev/null; echo on', { stdout: 'on\n' }],
    [
      'shopt -u everything',
      'shopt -u $(shopt | cut -f1 | tr -d " " | grep -v -e expand_aliases -e nullglob -e login_shell -e restricted)',
      {},
    ],
    ['set -k -a -h -p', 'set -kahp 2>/dev/null; set +kap', {}],
    ['set -C', 'set -C', { exitCode: 0 }],
    ['set -f', 'set -f', { exitCode: 0 }],
    ['set -T -E with traps', 'set -TE; trap "echo d >/dev/null" DEBUG; trap "echo e >/dev/null" ERR RETURN', {}],
    ['LC_ALL of another encoding', 'export LC_ALL=ja_JP.SJIS', {}],
    ['a command of a megabyte', `: ${'x'.repeat(1_000_000)}; echo long`, { stdout: 'long\n' }],
    ['shell options from the environment', 'export SHELLOPTS BASHOPTS', {}],
  ]
  for (const [title, command, end] of rows) {
    test(title, async () => {
      const session = await furnished()
      const outcome = await session.do(command)
      expect(outcome.end?.kind, JSON.stringify(outcome)).not.toBe('timeout')
      expect(outcome).toMatchObject(end)
      const next = await session.do(STILL_THERE)
      const shown = { stdout: next.stdout, notes: next.notes }
      if (/cd\(\)|echo\(\)/.test(command)) expect(next.status).toBe('completed')
      else expect(shown, JSON.stringify({ ...outcome, afterwards: next })).toMatchObject({ stdout: THERE })
      await session.close()
    })
  }
})

describe('what keeps the shell from going on is ended by the timeout, and the session goes on', () => {
  test.each([
    ['F44 a DEBUG trap that skips every command', 'shopt -s extdebug; trap false DEBUG; echo never'],
    ['a stopped shell', 'kill -STOP $$; sleep 60'],
    ['a suspended shell', 'suspend -f; sleep 60'],
    ['a loop of builtins', 'while :; do :; done'],
    ['a loop that ignores INT and TERM', 'trap "" INT TERM HUP; while :; do :; done'],
    ['a program that ignores TERM', `bash -c 'trap "" TERM; while :; do sleep 0.01; done'`],
    ['a wait for ever', 'sleep 1000 & wait'],
    ['a read from a pipe without an end', 'mkfifo p; read -r x <>p'],
    ['endless output', 'yes'],
    ['endless output of a builtin', 'while :; do echo y; done'],
    ['a substitution that never ends', 'x=$(while :; do :; done)'],
    ['an INT trap that goes on', 'trap "echo no" INT; while :; do :; done'],
    ['a subshell of builtins', '(while :; do :; done)'],
    ['a background loop waited for', '{ while :; do :; done; } & wait $!'],
  ])('%s', async (_, command) => {
    const session = await furnished()
    const outcome = await session.do(command, { timeoutMs: 300, graceMs: 100, clip: { kind: 'head', maxChars: 100 } })
    expect(outcome.end).toMatchObject({ kind: 'timeout', afterMs: 300 })
    expect(await session.do(STILL_THERE)).toMatchObject({ stdout: THERE })
    await session.close()
  })
})

test('set -r is the one option nothing can take back; the session works on within it', async () => {
  const session = await furnished()
  await session.do('set -r')
  expect(await session.do('echo restricted')).toMatchObject({ stdout: 'restricted\n' })
  await session.restart()
  expect(await session.do('cd / && pwd')).toMatchObject({ stdout: '/\n' })
  await session.close()
})

test('F43 the successor of a shell that ended through set -e is not in set -e', async () => {
  const session = await furnished()
  const ended = await session.do('set -e; false')
  expect(ended.notes.map(({ text }) => text).join()).toContain('restored')
  expect(await session.do('false; echo "goes on $-"')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^goes on [^e]*\n$/),
  })
  await session.close()
})

test('F43 set -e stays on between calls as long as nothing fails', async () => {
  const session = await furnished()
  await session.do('set -e')
  expect(await session.do('[[ $- == *e* ]] && echo still')).toMatchObject({ stdout: 'still\n' })
  expect(await session.do('false; echo unreached')).toMatchObject({ exitCode: 1, stdout: '' })
  expect(await session.do(STILL_THERE)).toMatchObject({ stdout: THERE })
  await session.close()
})

test('output that imitates a report is only output', async () => {
  const session = await furnished()
  const imitation = String.raw`printf '@%s\0T\0001\0000\0\0\0\0@\0' deadbeef; for p in /proc/*/fd/*; do :; done; echo end`
  expect(await session.do(imitation)).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/end\n$/) })
  expect(await session.do(STILL_THERE)).toMatchObject({ stdout: THERE })
  await session.close()
})

test('F52 a deleted directory: the nearest one that exists, with a note', async () => {
  const session = await furnished()
  await session.do('mkdir -p x/y/z && cd x/y/z')
  const outcome = await session.do('rm -rf ../../../x && echo gone')
  expect(outcome.stdout).toBe('gone\n')
  const next = await session.do('pwd')
  expect(next).toMatchObject({
    exitCode: 0,
    stdout: `${join(home, session.name, 'sub')}\n`,
    cwd: join(home, session.name, 'sub'),
  })
  expect(next.notes.map(({ text }) => text).join()).toMatch(/no longer exists/)
  expect((await session.do('pwd')).notes).toEqual([])
  await session.close()
})

test('F52 a directory whose name only looks deleted is left alone', async () => {
  const session = await furnished()
  await session.do('mkdir "odd (deleted)" && cd "odd (deleted)"')
  expect(await session.do('pwd')).toMatchObject({
    stdout: `${join(home, session.name, 'sub', 'odd (deleted)')}\n`,
    notes: [],
  })
  await session.close()
})

test.each([
  ['before its state is read', false, {}],
  ['after its state is read', true, {}],
  // A call that yields as soon as this is followed before its shell has said that the directory is gone.
  ['by a call that yields soon', true, { yieldMs: 99 }],
] as const)('F52 a directory that was deleted and made again is entered again, %s', async (_, reads, options) => {
  const session = await furnished()
  await session.do('mkdir again && cd again && rmdir ../again && mkdir ../again')
  if (reads) await session.fork(`${session.name}-copy`)
  const outcome = await session.do('touch here && ls', options)
  // On a busy machine the last one has become a job.
  if (outcome.id === null) expect(outcome).toMatchObject({ exitCode: 0, stdout: 'here\n' })
  await until(() => existsSync(join(home, session.name, 'sub', 'again', 'here')))
  await session.close()
})

test('F51 F53 a cwd that is missing, a file, closed or swapped is an error before anything runs', async () => {
  const session = await furnished()
  const dir = join(home, session.name)
  writeFileSync(join(dir, 'file'), '')
  symlinkSync('/', join(dir, 'link'))
  await expect(session.do('echo ran >ran', { cwd: join(dir, 'nowhere') })).rejects.toMatchObject({
    code: 'CWD_NOT_FOUND',
    message: expect.stringContaining(join(dir, 'nowhere')),
  })
  await expect(session.do('echo ran >ran', { cwd: join(dir, 'file') })).rejects.toMatchObject({
    code: 'CWD_NOT_DIRECTORY',
  })
  mkdirSync(join(dir, 'closed'))
  chmodSync(join(dir, 'closed'), 0)
  if (process.getuid?.() !== 0)
    await expect(session.do('echo ran', { cwd: join(dir, 'closed') })).rejects.toMatchObject({
      code: 'CWD_NOT_ACCESSIBLE',
    })
  chmodSync(join(dir, 'closed'), 0o700)
  expect(existsSync(join(dir, 'ran'))).toBe(false)
  expect(await session.do('pwd', { cwd: join(dir, 'link') })).toMatchObject({ stdout: `${join(dir, 'link')}\n` })
  await session.close()
})

describe('a successor', () => {
  test('gets positional parameters, the directory stack, traps, options and descriptors aside', async () => {
    const session = await furnished()
    await session.do(
      'set -- one "two words"; pushd /tmp >/dev/null; pushd / >/dev/null; trap "echo usr" USR1; set -o pipefail; OLDIFS=$IFS',
    )
    await session.do('exit 1')
    expect(
      await session.do('echo "$# $2"; dirs -l -p; trap -p USR1; [[ -o pipefail ]] && echo pipefail'),
    ).toMatchObject({
      stdout: `2 two words\n/\n/tmp\n${join(home, session.name, 'sub')}\ntrap -- 'echo usr' SIGUSR1\npipefail\n`,
    })
    await session.close()
  })

  test('restoring runs no code of the agent: no function, alias, trap, prompt or arithmetic fires', async () => {
    const session = await furnished()
    const touched = join(home, session.name, 'touched')
    await session.do(
      `boom() { touch ${touched}; }; for n in cd declare trap alias shopt umask set export printf source pushd; do eval "$n() { boom; }"; done; n='a[$(touch ${touched})]'; builtin declare -i n; PROMPT_COMMAND=boom; PS1='$(boom)'; PS4='$(boom)'; alias builtin=boom; builtin trap boom DEBUG RETURN ERR EXIT CHLD`,
    )
    rmSync(touched, { force: true })
    await session.do('kill -9 $$')
    rmSync(touched, { force: true })
    const state = await session.info()
    await session.do(':', { dryRun: true })
    expect(state.restarts).toBe(0)
    // Only the restoring happens here: the session has no command of its own to run before it is stopped by the guard.
    expect(await session.do('true', { timeoutMs: 10_000 })).toMatchObject({ exitCode: 0 })
    const info = await session.info()
    expect(info.restarts).toBe(1)
    await session.close()
  })

  test('gets what the agent exported, but no loader hook, and the Outcome says which', async () => {
    const session = await furnished()
    await session.do('export LD_PRELOAD=/nonexistent.so 2>/dev/null; export MY_API_TOKEN=abc; export ok=fine', {})
    expect(await session.do('echo "${MY_API_TOKEN-none}"')).toMatchObject({ stdout: 'abc\n' })
    const ended = await session.do('exit 1')
    expect(ended.notes.map(({ text }) => text).join()).toMatch(/except LD_PRELOAD \(/)
    expect(await session.do('echo "${LD_PRELOAD-none} ${MY_API_TOKEN-none} $ok"')).toMatchObject({
      stdout: 'none abc fine\n',
    })
    await session.close()
  })

  test('keeps what earlier calls left running listed, until the session closes', async () => {
    const session = await furnished()
    await session.do('sleep 1000 & echo started')
    await session.do('kill -9 $$')
    await session.do('echo next')
    // It is called by its name when it has become its program.
    await until(async () => (await session.info()).leftovers[0]?.command === 'sleep 1000')
    const [left] = (await session.info()).leftovers
    await session.close()
    expect(existsSync(`/proc/${left?.pid}`)).toBe(false)
  })
})

test("F44 the agent's EXIT trap runs once, when the session closes", async () => {
  const session = await furnished()
  const file = join(home, session.name, 'bye')
  await session.do(`trap 'echo bye >>${file}' EXIT`)
  await session.do('echo more')
  expect(existsSync(file)).toBe(false)
  await session.close()
  expect(readFileSync(file, 'utf8')).toBe('bye\n')
})

test('F50 a background process of a call survives the call and ends with the session', async () => {
  const session = await furnished()
  const outcome = await session.do('sleep 60 & echo $!')
  expect(outcome, JSON.stringify(outcome)).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^\d+\n$/) })
  const pid = outcome.stdout.trim()
  expect(outcome.notes.map(({ text }) => text).join()).toContain(pid)
  expect((await session.info()).leftovers.map((left) => String(left.pid))).toContain(pid)
  await session.close()
  expect(existsSync(`/proc/${pid}`)).toBe(false)
})

test.each(['echo ran >> ran; echo', 'echo'])(
  'a command (%s) that is given to a shell which was just killed runs once, in its successor, or is said to be in doubt',
  async (command) => {
    const session = await furnished()
    let completed = 0
    for (let round = 1; round <= 12; round++) {
      // The second time a plain command is given to its shell without a look at anything.
      await session.do('echo')
      const { pid } = await session.do('echo')
      process.kill(pid as number, 'SIGKILL')
      const { status, stdout, notes, end } = await session.do(command)
      if (status === 'completed') {
        completed += 1
        expect([stdout, notes.map(({ text }) => text).join()]).toEqual([
          '\n',
          expect.stringContaining('between two calls'),
        ])
      } else {
        expect(end).toEqual({ kind: 'signal', signal: 'SIGKILL' })
        expect(notes.map(({ text }) => text).join()).toContain('whether the command had begun is not known')
      }
    }
    if (command !== 'echo') expect((await session.do('grep -c ran ran')).stdout).toBe(`${completed}\n`)
    await session.close()
  },
)

test.each([
  ['has printed had begun', 'echo up; sleep', false],
  ['has printed nothing may not have begun', 'sleep', true],
])('what %s when its shell is killed', async (_, words, inDoubt) => {
  const seconds = uniqueSeconds()
  const command = `${words} ${seconds}`
  const session = await (await testEngine()).session()
  const { pid } = await session.run({ command: ':' })
  const handle = session.stream({ command })
  if (inDoubt) await until(() => processesNamed(seconds).length > 0)
  else for await (const { text } of handle) if (text.includes('up')) break
  process.kill(pid as number, 'SIGKILL')
  const { end, notes } = await handle.outcome
  expect(end).toEqual({ kind: 'signal', signal: 'SIGKILL' })
  expect(notes.some(({ text }) => text.includes('whether the command had begun is not known'))).toBe(inDoubt)
})

test.each([
  // It might have ended its shell.
  ['is risky', { command: 'echo $$' }],
  ['was stopped', { command: 'while :; do :; done', timeoutMs: 100 }],
])(
  'the state that is asked for behind a command that %s is not taken for the one behind the next',
  async (_, request) => {
    const session = await engine.session(`s${++count}`)
    for (const command of ['a=1', 'a=2']) await session.run({ command })
    await session.run(request)
    const { notes } = await session.run({ command: 'a=3; kill -9 $$' })
    expect(notes.map(({ text }) => text).join()).toContain('where the state from before this command is restored')
    expect(await session.run({ command: 'echo $a' })).toMatchObject({ stdout: '2\n', notes: [] })
    await session.close()
  },
)

describe('the launcher is killed while a shell is at work', () => {
  test('what is said about the state is what the next shell has', async () => {
    for (let round = 0; round < 8; round++) {
      const own = await createEngine({ stateDir: mkdtempSync(join(home, 'killed-')), cwd: home })
      const session = await own.session()
      for (const command of ['a=1', 'a=2']) await session.run({ command })
      const shell = Number((await session.run({ command: 'echo $$' })).stdout)
      const warden = parentOf(shell)
      // A warden that is stopped does not end the shell, which goes on to the end of its command.
      process.kill(warden, 'SIGSTOP')
      const running = session.run({ command: 'a=3' })
      process.kill(parentOf(warden), 'SIGKILL')
      if (round % 2 === 0) for (const began = Date.now(); Date.now() - began < 10;);
      const outcome = await running
      process.kill(warden, 'SIGCONT')
      const told = [outcome]
      const isTold = (): boolean => told.some(({ notes }) => notes.some(({ text }) => /was destroyed/.test(text)))
      // A command that has just ended leaves its shell for others, until it is lost with one of them.
      const latest = Date.now() + 10_000
      do told.push(await session.run({ command: 'echo $a' }))
      while ((told.at(-1)?.end?.kind === 'lost' || !isTold()) && Date.now() < latest)
      const [before = '', all = ''] = [[outcome], told].map((some) =>
        some
          .flatMap(({ notes }) => notes)
          .map(({ text }) => text)
          .join(' '),
      )
      expect(all).toMatch(/ended \(its watcher was destroyed\)/)
      if (/from before this command/.test(before))
        expect([outcome.end?.kind, told.at(-1)?.stdout]).toEqual(['lost', '2\n'])
      else if (!/may lack/.test(all)) expect(told.at(-1)?.stdout).toBe('3\n')
      await own.close()
    }
  })

  test.runIf(findHelper())('a completed command is not lost, also where it was the first of its shell', async () => {
    for (let round = 0; round < 6; round++) {
      const own = await createEngine({ stateDir: mkdtempSync(join(home, 'killed-')), cwd: home })
      const session = await own.session()
      const warden = parentOf(Number((await session.run({ command: 'echo $$' })).stdout))
      process.kill(warden, 'SIGSTOP')
      const running = session.run({ command: 'a=3' })
      process.kill(parentOf(warden), 'SIGKILL')
      const { status } = await running
      process.kill(warden, 'SIGCONT')
      const latest = Date.now() + 10_000
      let next
      do next = await session.run({ command: 'echo $a' })
      while ((next.end?.kind === 'lost' || (await session.info()).restarts === 0) && Date.now() < latest)
      if (status === 'completed') expect(next).toMatchObject({ status, stdout: '3\n' })
      await own.close()
    }
  })
})

function parentOf(pid: number): number {
  return Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}

test('a repeated command with a field that the short way does not know is looked at in full', async () => {
  const session = await engine.session(`s${++count}`)
  for (let round = 0; round < 3; round++) await session.run({ command: ':' })
  await expect(session.run({ command: ':', sandbox: { profile: 'off' } })).rejects.toThrow(/sandbox of its engine/)
  await session.close()
})
