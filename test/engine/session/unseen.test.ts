/** A session's own lines cannot be seen, and its reports cannot be imitated, by what a command can read. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Engine, Outcome, Session } from '../../../src/index.js'
import { temporaryFolder, testEngine } from '../harness.js'
import { engineWithoutBuiltin } from './without-builtin.js'

const ENGINES: readonly (readonly [string, () => Promise<Engine>])[] = [
  ['with', () => testEngine()],
  ['without', () => engineWithoutBuiltin()],
]

describe.each(ENGINES)('%s the builtin', (which, make) => {
  const say = async (session: Session, command: string): Promise<string> => (await session.run({ command })).stdout

  test('traps are listed without those of the session, also by a function', async () => {
    const session = await (await make()).session()
    expect(await say(session, 'trap -p')).toBe('')
    await session.run({ command: 'f() { trap -p; }' })
    expect(await say(session, 'f')).toBe('')
    await session.run({ command: "trap 'echo usr' USR1" })
    expect(await say(session, 'f')).toBe("trap -- 'echo usr' SIGUSR1\n")
    expect(await say(session, '(trap -p) | cat')).toBe("trap -- 'echo usr' SIGUSR1\n")
  })

  test('set -a exports no variable of the session, whatever the call needs', async () => {
    const session = await (await make()).session()
    await session.run({ command: 'set -a' })
    for (const trap of [
      "'echo E >&2' ERR",
      "'echo R >&2' RETURN",
      "': D' DEBUG",
      "'echo X' EXIT",
      '- ERR RETURN DEBUG',
    ])
      for (const command of [`trap ${trap}`, 'A=1', 'ls /nowhere', '(exit 3)'])
        for (const more of [{}, { env: { B: 'b' } }]) {
          await session.run({ command, ...more })
          expect(await say(session, 'env | grep ^__cerith; true')).toBe('')
        }
  })

  test.each([
    ['left by return', 'return 3', 3, 'D\n'],
    ['given up by bash', 'echo ${nothing?gone}', 1, 'D\n'],
    ['under extdebug', 'shopt -s extdebug; (exit 4)', 4, 'D\nD\n'],
  ] as const)('a DEBUG trap hears of no line of the session: %s', async (_, command, exitCode, heard) => {
    const session = await (await make()).session()
    // Set by the same call, by a file that it sources, and known before.
    await session.run({ command: 'echo "trap \'echo D\' DEBUG" >traps' })
    expect(await session.run({ command: `trap 'echo D' DEBUG; ${command}` })).toMatchObject({
      exitCode,
      stdout: heard,
    })
    expect(await say(session, 'echo hi')).toBe('D\nhi\n')
    await session.run({ command: 'trap - DEBUG' })
    expect(await session.run({ command: `. ./traps; ${command}` })).toMatchObject({ exitCode })
    expect(await say(session, 'echo hi; x=5')).toBe('D\nhi\nD\n')
    const known = await session.run({ command })
    expect(known.exitCode).toBe(exitCode)
    expect(known.stdout).toMatch(/^(?:D\n){1,3}$/)
    await session.run({ command: 'trap - DEBUG' })
    expect(await say(session, 'echo $x; trap')).toBe('5\n')
  })

  test('a CHLD trap hears of no child of the session', async () => {
    const session = await (await make()).session()
    await session.run({ command: "trap 'echo child' CHLD" })
    expect(await session.run({ command: '(exit 1)' })).toMatchObject({ exitCode: 1, stdout: 'child\n' })
    expect(await say(session, 'echo $?')).toBe('1\n')
    expect(await session.run({ command: 'false' })).toMatchObject({ exitCode: 1, stdout: '' })
    expect(await say(session, 'x=1; echo next')).toBe('next\n')
    if (which === 'without') return
    expect(await session.run({ command: '(exit 4)' })).toMatchObject({ exitCode: 4, stdout: 'child\n' })
    expect(await say(session, 'echo $?')).toBe('4\n')
  })

  test('a trace that goes into a file holds the lines of the agent only', async () => {
    const engine = await make()
    const session = await engine.session()
    const file = join(temporaryFolder(), 'trace')
    await session.run({ command: `exec 7>${file}; BASH_XTRACEFD=7; set -x` })
    for (const command of ['echo one', 'x=2', 'ls /nowhere', 'echo $?', 'f() { return 3; }; f'])
      await session.run({ command })
    await session.run({ command: 'set +x' })
    expect(readFileSync(file, 'utf8').split('\n')).toEqual(
      ['echo one', 'x=2', 'ls /nowhere', 'echo 2', 'f', 'return 3', 'set +x'].map((line) => `++ ${line}`).concat(''),
    )
  })

  test('a mistake of syntax names no file of the session', async () => {
    const session = await (await make()).session()
    const { exitCode, stderr } = await session.run({ command: 'if :; then (exit 3) &; fi' })
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: "bash: line 1: syntax error near unexpected token `;'\nbash: line 1: `if :; then (exit 3) &; fi'\n",
    })
    await session.run({ command: 'alias say=echo' })
    expect((await session.run({ command: 'say a; say() { :; }\n' })).stderr).not.toMatch(/\//)
  })

  test('nor in what is shown live, and the line that is quoted is the one of the agent', async () => {
    const session = await (await make()).session()
    const mistake = 'if :; then (exit $?) &; fi'
    const said = `bash: line 1: syntax error near unexpected token \`;'\nbash: line 1: \`${mistake}'\n`
    for (const before of ['(exit 3)', 'trap : RETURN', 'shopt -s extdebug; set -x', 'trap : DEBUG']) {
      await session.run({ command: before })
      const handle = session.stream({ command: mistake })
      let live = ''
      for await (const { text } of handle) live += text
      expect([before, live, (await handle.outcome).stderr]).toEqual([before, said, said])
    }
  })

  test('what is shown by `set -x` and `set -v` together are the lines of the agent', async () => {
    const session = await (await make()).session()
    const shown = async (command: string) => (await session.run({ command })).stderr
    expect(await shown('set -x; (set -v; echo a)')).toBe('++ set -v\n++ echo a\n')
    expect(await shown('echo b')).toBe('++ echo b\n')
    expect(await shown('set -v')).toBe('++ set -v\n')
    expect(await shown('echo c')).toBe('echo c\n++ echo c\n')
    expect(await shown('set +xv')).toBe('set +xv\n++ set +xv\n')
    expect(await shown('echo d')).toBe('')
  })

  test('the history of a shell holds no line of the session', async () => {
    const session = await (await make()).session()
    await session.run({ command: 'set -o history' })
    for (const command of ['echo a', 'x=1', 'ls', 'echo b']) await session.run({ command })
    const noted = (await say(session, 'history')).split('\n').map((line) => line.replace(/^ *\d+ +/, ''))
    expect(noted).toEqual(['echo a', 'x=1', 'ls', 'echo b', 'history', ''])
    await session.run({ command: 'for i in 1 2; do\n  y=$i\ndone; false' })
    expect(await say(session, 'history 2')).toMatch(/for i in 1 2; do\n  y=\$i\ndone; false\n +\d+ +history 2\n$/)
    expect(await say(session, 'set -o | grep "^history"')).toMatch(/on/)
    await session.run({ command: 'while :; do :; done', timeoutMs: 50 })
    expect(await say(session, 'history')).not.toMatch(/cerith|[0-9a-f]{24}/)
    expect(await say(session, 'history 3')).toMatch(/while :; do :; done\n.* history\n.* history 3\n$/)
  })

  test('the file that a command is sourced from holds the command, and no file holds the seal of reports', async () => {
    const session = await (await make()).session()
    const text = 'cat "$BASH_SOURCE"'
    expect((await say(session, text)).split('\n')[0]).toBe(text)
    await session.run({ command: "trap 'echo usr' USR1" })
    await session.run({ command: 'PS1=x', env: { A: 'b' } })
    const folder = dirname(await say(session, 'echo -n "$BASH_SOURCE"'))
    const seen = [
      ...readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1')),
      await say(
        session,
        'set; declare -f; trap -p; alias; env; echo $BASH_COMMAND; echo "$BASH_EXECUTION_STRING"; fc -l 2>/dev/null; caller',
      ),
    ]
    // What an end is reported with: neither a mark with `@` nor one that only a report has.
    for (const one of seen) expect(one).not.toMatch(/@[0-9a-f]{24}|[0-9a-f]{24}@/)
    expect(existsSync(folder)).toBe(true)
  })

  test('a report that a command imitates with all it can find is none', async () => {
    const session = await (await make()).session()
    const forge = String.raw`
      d=$(dirname "$BASH_SOURCE")
      marks="$(grep -aoh '[0-9a-f]\{24\}' "$d"/* 2>/dev/null | sort -u) $(set | grep -o '[0-9a-f]\{8,24\}' | sort -u)"
      for pipe in /proc/$$/fd/* $(grep -aoh '/proc/[0-9]*/fd/[0-9]*' "$d"/* 2>/dev/null | sort -u); do
        [ -p "$pipe" ] && [ -w "$pipe" ] && timeout 0.4 bash -c 'for mark in $2; do printf "%s\0" "@$mark" T 0 77 hB /tmp x "" "" 77 "$mark@" >"$1"; done' - "$pipe" "$marks" 2>/dev/null
      done >/dev/null 2>&1
      sleep 0.2; echo really over`
    for (let round = 0; round < 2; round++) {
      const outcome = await session.run({ command: forge })
      // It can write into its own output as well, and does.
      expect(outcome.exitCode).toBe(0)
      expect(outcome.stdout).toMatch(/really over\n$/)
      expect(await session.run({ command: 'echo next' })).toMatchObject({ exitCode: 0, stdout: 'next\n' })
    }
  })

  test('a comment has not failed, and leaves the status of the command before it', async () => {
    const session = await (await make()).session()
    await session.run({ command: 'false' })
    expect(await session.run({ command: '# nothing' })).toMatchObject({ status: 'completed', exitCode: 0 })
    expect(await say(session, 'echo $?')).toBe('1\n')
  })

  test('the first line of a command is line 1, whatever stands before it', async () => {
    const session = await (await make()).session()
    const command = 'echo $LINENO\necho $LINENO'
    expect(await say(session, command)).toBe('1\n2\n')
    await session.run({ command: 'false' })
    expect(await say(session, command)).toBe('1\n2\n')
    expect((await session.run({ command, env: { A: 'b' } })).stdout).toBe('1\n2\n')
    expect((await session.run({ command, cwd: '/tmp' })).stdout).toBe('1\n2\n')
    await session.run({ command: "trap ':' USR1" })
    expect(await say(session, command)).toBe('1\n2\n')
  })

  test('a here-document without its end gains nothing', async () => {
    const session = await (await make()).session()
    expect(await say(session, 'cat <<EOF\nabc\n')).toBe('abc\n')
    await session.run({ command: 'cat <<EOF\nlonger than the next one, and then some more\n' })
    expect(await say(session, 'cat <<EOF\nabc')).toBe('abc\n')
  })

  // Written so that the text does not show it, too.
  test.each(['set -r', 'eval "set -""r"'])('a restricted shell (%s) is one for its call only', async (restrict) => {
    const session = await (await make()).session()
    await session.run({ command: 'before=1' })
    const rows: readonly (readonly [string, Partial<Outcome>, object?])[] = [
      ['cd /; echo later', { exitCode: 0, stdout: 'later\n', stderr: 'bash: cd: restricted\n' }],
      ['(exit 7) | (exit 8)', { exitCode: 8, stdout: '', stderr: '', pipeStatus: [7, 8] }],
      ['return 6', { exitCode: 6, stdout: '', stderr: '' }],
      ['echo on its way; exit 4', { exitCode: 4, stdout: 'on its way\n', stderr: '' }],
      ['cat', { exitCode: 0, stdout: 'given', stderr: '' }, { input: 'given' }],
      ['echo $A', { exitCode: 0, stdout: 'a\n', stderr: '' }, { env: { A: 'a' } }],
      ['sleep 60', { status: 'timeout', stdout: '', stderr: '' }, { timeoutMs: 200 }],
      ['while :; do :; done', { status: 'timeout', stdout: '', stderr: '' }, { timeoutMs: 200 }],
    ]
    for (const [index, [command, expected, special]] of rows.entries()) {
      const outcome = await session.run({ command: `${restrict}; kept=${index}; ${command}`, ...special })
      // Without the builtin the shell leaves, with everything that it knows: its stages go with it.
      expect(outcome, command).toMatchObject(
        which === 'without' && expected.pipeStatus ? { ...expected, pipeStatus: null } : expected,
      )
      const isLost = outcome.notes.some(({ text }) => text.includes('the state from before this command is restored'))
      // A stop may also meet the program that writes the state of a shell that leaves.
      expect(isLost && !(which === 'without' && outcome.status === 'timeout')).toBe(false)
      expect(await say(session, 'cd / && echo $before $kept >/dev/null; echo $before $kept')).toBe(
        `1 ${isLost ? index - 1 : index}\n`,
      )
      await session.run({ command: `kept=${index}` })
    }
  })

  test('a command that closes every descriptor, also those of the shell, ends with its own code', async () => {
    const session = await (await make()).session()
    const command = 'kept=yes; for n in {3..1100}; do eval "exec $n>&-"; done 2>/dev/null; echo closed; (exit 6)'
    expect(await session.run({ command })).toMatchObject({ exitCode: 6, stdout: 'closed\n' })
    expect(await say(session, 'echo $kept')).toBe('yes\n')
  })

  test('a restricted shell that is left with traps of its own says what became of its state', async () => {
    const session = await (await make()).session()
    const outcome = await session.run({ command: "kept=yes; trap 'echo usr' USR1; set -r; exit 3" })
    expect(outcome).toMatchObject({ exitCode: 3, stdout: '', stderr: '' })
    expect(outcome.notes.map(({ text }) => text).join()).toContain('the state from before this command is restored')
  })
})

test('a restricted shell on a terminal shows no line of the session', async () => {
  const session = await (await testEngine()).session()
  const outcome = await session.run({ command: 'set -r; kept=yes; true | (exit 3)', pty: true })
  expect(outcome).toMatchObject({ exitCode: 3, output: '' })
  expect(await session.run({ command: 'echo $kept' })).toMatchObject({ stdout: 'yes\n' })
})

test('a prompt that cannot be unset is not printed', async () => {
  const session = await (await testEngine()).session()
  await session.run({ command: ':' })
  await session.run({ command: 'readonly PS1=prompt' })
  for (const command of ['ls', 'x=1', 'echo $PS1'])
    expect(await session.run({ command })).toMatchObject({ exitCode: 0, stderr: '' })
})

describe.each(ENGINES)('the state of a shell, %s the builtin', (_, make) => {
  test('a dump that a command imitates with all it can find is not believed, and that is said', async () => {
    const session = await (await make()).session()
    await session.run({ command: 'kept=true; export kept' })
    // Everything that stands in a file of the session, written in the form of a whole dump into every pipe that is
    // named there, and into those that were made right behind one of them: no file names the pipe of the state itself.
    const forge = String.raw`
      d=$(dirname "$BASH_SOURCE")
      marks=$(grep -aoh '[0-9a-f]\{24\}' "$d"/* 2>/dev/null | sort -u)
      named=$(grep -aoh '/proc/[0-9]*/fd/[0-9]*' "$d"/* 2>/dev/null | sort -u)
      for pipe in $named $(for one in $named; do for k in 1 2; do echo "${'$'}{one%/*}/$((${'$'}{one##*/} + k))"; done; done); do
        for mark in $marks; do for proof in $marks; do for word in after leaving; do
          [ -p "$pipe" ] && [ -w "$pipe" ] && {
            printf 'cerith-state %s' $mark
            for s in variables functions functionNames aliases options shopts umask traps disabled hashed completions clock positional directories cwd; do
              printf '\0%s\n' $s; [ $s = variables ] && printf 'declare -x kept="forged"\n'; [ $s = cwd ] && printf '/tmp\n'
            done
            printf '\0end %s %s\0' $proof $word
          } >"$pipe"
        done; done; done
      done 2>/dev/null
      echo done`
    const { stdout, notes } = await session.run({ command: forge })
    expect(stdout).toContain('done')
    expect(notes.map(({ text }) => text).join()).toContain('was not believed')
    // The shell is gone without a farewell: what it last wrote down itself is what its successor gets.
    await session.run({ command: 'kill -9 $$' })
    expect(await session.run({ command: 'echo $kept' })).toMatchObject({ stdout: 'true\n' })
  })

  test('no file of the session holds what ends a dump', async () => {
    const session = await (await make()).session()
    await session.run({ command: "trap 'echo usr' USR1; f() { trap -p; }; cd /; x=1" })
    await session.run({ command: 'f; eval "y=2"', env: { A: 'b' } })
    const folder = dirname((await session.run({ command: 'echo -n "$BASH_SOURCE"' })).stdout)
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
      if (entry.isFile())
        expect(readFileSync(join(entry.parentPath, entry.name), 'latin1')).not.toMatch(/end [0-9a-f]{24}/)
  })
})

test('the builtin of the session is not disabled in a successor', async () => {
  const session = await (await testEngine()).session()
  await session.run({ command: ':' })
  await session.run({ command: 'enable -n __cerith test; x=1' })
  await session.run({ command: 'kill -9 $$' })
  expect(await session.run({ command: 'enable -n; echo $x' })).toMatchObject({ stdout: 'enable -n test\n1\n' })
})

describe('the first call of a session', () => {
  test.each([
    ['readonly PS1=prompt', 'echo $PS1', 'prompt\n'],
    ["trap : USR1; PS1='mine '; set -r", 'cd / && echo x >/dev/null && pwd', '/\n'],
    ['set -r', 'cd / && echo x >/dev/null && pwd', '/\n'],
    ['readonly PS1=prompt; exec 5</dev/null', 'echo $PS1', 'prompt\n'],
    ['cat "$BASH_SOURCE"', 'cat "$BASH_SOURCE"', 'cat "$BASH_SOURCE"'],
  ])('%s', async (first, next, stdout) => {
    const engine = await testEngine()
    const session = await engine.session()
    const { pid, stderr, stdout: shown } = await session.run({ command: first })
    expect(stderr).toBe('')
    if (first === next) expect(shown).toBe(stdout)
    for (let round = 0; round < 2; round++)
      expect(await session.run({ command: next })).toMatchObject({ stdout, stderr: '', pid, notes: [] })
  })
})

const ALIASED = [
  'if',
  'then',
  'else',
  'fi',
  '[[',
  '!',
  '{',
  '}',
  'while',
  'do',
  'case',
  'function',
  'time',
  'enable',
  'printf',
]

describe.each(ENGINES)('an alias, %s the builtin', (which, make) => {
  test.each(ALIASED)('of the name %s is not reached by a line of the session', async (name) => {
    const engine = await make()
    engine.secrets.set('WORD', 'a long value of a secret')
    const session = await engine.session()
    const say = async (command: string, more: object = {}): Promise<string> => {
      const { stdout, stderr, output, notes } = await session.run({ command, ...more })
      return `${output ?? stdout}${stderr}${notes.map(({ text }) => text).join()}`
    }
    await say('x=1; export A=own')
    expect(await say(`alias '${name}'='echo reached'`)).toBe('')
    const all = async (): Promise<void> => {
      expect(await say('echo $A', { env: { A: 'b' } })).toBe('b\n')
      expect(await say('echo $A', { cwd: '/' })).toBe('own\n')
      expect(await say('cat', { input: 'in\n' })).toBe('in\n')
      expect(await say('y=2; exec 5>/dev/null')).toBe('')
      expect(await say('echo $x $y', { streams: 'merged' })).toBe('1 2\n')
      expect(await say('test {{secret:WORD}} = "a long value of a secret" && echo same')).toBe('same\n')
      await say('false')
      expect(await say('echo $?', { env: { A: 'b' } })).toBe('1\n')
      expect(await say('sleep 60', { timeoutMs: 50 })).toBe('')
      expect(await say('PS1=prompt')).toBe('')
      expect(await say('echo $PS1')).toBe('prompt\n')
    }
    await all()
    expect(await say("trap 'echo usr' USR1")).toBe('')
    expect(await say('kill -USR1 $$; sleep 0')).toBe('usr\n')
    await all()
    // The agent's own commands reach it, as long as lines of the session are read without it.
    expect(await say(`alias say='echo said'`)).toBe('')
    expect(await say('say so')).toBe('said so\n')
    expect(await say('shopt -p expand_aliases')).toBe('shopt -s expand_aliases\n')
    if (which === 'with') expect(await say(`alias '${name}'`)).toBe(`alias ${name}='echo reached'\n`)
    expect((await session.info()).restarts).toBe(0)
  })
})

test.each(ENGINES)('what a command disables is not missed on its stderr (%s the builtin)', async (_, make) => {
  const session = await (await make()).session()
  for (const command of [
    'enable -n builtin',
    'enable -n exec return unset set declare',
    'enable -n . source eval trap',
  ])
    expect(await session.run({ command })).toMatchObject({ exitCode: 0, stdout: '', stderr: '', notes: [] })
  expect(await session.run({ command: 'x=1; echo $x' })).toMatchObject({ stdout: '1\n', stderr: '' })
})
