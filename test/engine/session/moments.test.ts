/**
 * Stops, moves and mistakes at the worst moment: the next command of a session answers for itself, and the shell is
 * what it was.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { LiveSession } from '../../../src/engine/session/session.js'
import type { Session } from '../../../src/index.js'
import { findHelper } from '../../../src/os/helper/file.js'
import { testEngine } from '../harness.js'

const PROBE = 'echo err >&2; echo out; (exit 3)'
const ANSWER = { exitCode: 3, stdout: 'out\n', stderr: 'err\n' }

async function session(): Promise<Session> {
  return (await testEngine()).session()
}

/** What an idle shell does by itself a moment after a command: its state is written down, and the engine knows it. */
const settled = (shell: Session): Promise<unknown> => (shell as LiveSession).currentState()

describe('SESS-03 after a stop stderr is the session’s again', () => {
  test.each([
    ['a loop with stderr in a file', 'while :; do sleep 0.01; done 2>errors.log', 'separate'],
    ['a loop with stderr nowhere', 'while :; do :; done 2>/dev/null', 'separate'],
    ['a function with stderr elsewhere', 'f() { sleep 60; }; f 2>&1; x=1', 'separate'],
    ['merged streams', 'echo begun; sleep 60; x=1', 'merged'],
  ] as const)('%s', async (_, command, streams) => {
    const shell = await session()
    // Where something is printed first, it gets the time for it on a slow machine too.
    const stopped = await shell.run({ command, streams, timeoutMs: streams === 'merged' ? 2_000 : 200 })
    expect(stopped).toMatchObject({ status: 'timeout', stderr: '', output: streams === 'merged' ? 'begun\n' : null })
    expect(await shell.run({ command: PROBE })).toMatchObject(ANSWER)
    expect(await shell.info()).toMatchObject({ restarts: 0 })
  })
})

test.each(['kill', 'interrupt'] as const)(
  'EXEC-07 a %s in the moment of the last output: the next command is not hit, and nothing of it is lost',
  async (how) => {
    const shell = await session()
    for (let round = 0; round < 20; round++) {
      await shell.run({ command: `round=${round}` })
      const handle = shell.stream({
        command: round % 2 ? 'echo done' : 'x=1; echo done',
        onOutput: () => handle[how](),
      })
      const { end } = await handle.outcome
      expect(['exit', 'kill', 'signal']).toContain(end?.kind)
      expect(await shell.run({ command: PROBE })).toMatchObject(ANSWER)
      expect(await shell.run({ command: 'echo "$? $round"' })).toMatchObject({
        exitCode: 0,
        stdout: `3 ${round}\n`,
        stderr: '',
      })
    }
  },
)

test('EXEC-07 a stop that finds the shell at its prompt does not cost the shell', async () => {
  const shell = await session()
  await shell.run({ command: 'x=kept' })
  const { pid } = await shell.info()
  // It reads the line only after it has been told to stop.
  process.kill(pid as number, 'SIGSTOP')
  expect(await shell.run({ command: 'sleep 60', timeoutMs: 100 })).toMatchObject({ status: 'timeout', notes: [] })
  expect(await shell.run({ command: 'echo "$x"; echo err >&2; (exit 3)' })).toMatchObject({
    ...ANSWER,
    stdout: 'kept\n',
  })
  expect(await shell.info()).toMatchObject({ pid, restarts: 0 })
})

test('a command that has ended is not moved to the background: the session keeps its shell and what the command set', async () => {
  const shell = await session()
  for (let round = 0; round < 30; round++) {
    const handle = shell.stream({ command: `x=${round}; echo done`, onOutput: () => void handle.toBackground() })
    if ((await handle.outcome).status !== 'running')
      expect((await shell.run({ command: 'echo "$x"' })).stdout).toBe(`${round}\n`)
  }
})

test('a move at once takes along nothing of what the session knew', async () => {
  const shell = await session()
  for (let round = 0; round < 12; round++) {
    await shell.run({ command: `round=${round}` })
    const handle = shell.stream({ command: 'sleep 30' })
    expect((await handle.toBackground()).status).toBe('running')
    expect((await shell.run({ command: 'echo "$round"' })).stdout).toBe(`${round}\n`)
  }
})

describe('a command that bash gives up has its own status, whatever $1 is', () => {
  test.each([
    ['a loop variable that takes no such value', 'declare -i n', 'for n in "it\'s"; do :; done', 1],
    ['text that does not parse yet', ':', 'shopt -s extglob; echo @(a|b)', 2],
    ['an unset variable', 'set -u', 'echo $nothing_here', 1],
  ])('%s', async (_, before, command, exitCode) => {
    const shell = await session()
    await shell.run({ command: `set -- 5 six; ${before}` })
    expect(await shell.run({ command })).toMatchObject({ exitCode })
    expect((await shell.run({ command: 'echo "$? $1"' })).stdout).toBe(`${exitCode} 5\n`)
  })
})

test('a prompt that is set does not end a shell with set -e', async () => {
  const shell = await session()
  await shell.run({ command: 'set -e; PS1="(venv) "' })
  expect(await shell.run({ command: 'echo hi' })).toMatchObject({ exitCode: 0, stdout: 'hi\n', notes: [] })
  expect(await shell.run({ command: 'echo "$PS1"' })).toMatchObject({ exitCode: 0, stdout: '(venv) \n', notes: [] })
})

test('SESS-01 $? is that of the command before, also when bash shows what it reads', async () => {
  const shell = await session()
  await shell.run({ command: 'set -v' })
  await shell.run({ command: 'echo last; (exit 3)' })
  expect(await shell.run({ command: 'echo "$?"' })).toMatchObject({ stdout: '3\n', stderr: 'echo "$?"\n' })
})

test('SESS-01 PIPESTATUS is that of the command before, also in the next call', async () => {
  const shell = await session()
  const after = async (command: string): Promise<string> => {
    await shell.run({ command })
    return (await shell.run({ command: 'echo "$? ${PIPESTATUS[*]}"' })).stdout
  }
  expect(await after('false | true')).toBe('0 1 0\n')
  expect(await after('true | (exit 2) | (exit 4)')).toBe('4 0 2 4\n')
  expect(await after('! true | true')).toBe('1 0 0\n')
  expect(await after('(exit 7)')).toBe('7 7\n')
  expect(await after('set -o pipefail; false | true')).toBe('1 1 0\n')
})

describe('a word of a plain command that means something else', () => {
  test('a function with redirections of its own', async () => {
    const shell = await session()
    await shell.run({ command: 'ls() { cd /usr; } 2>/dev/null' })
    await settled(shell)
    expect((await shell.run({ command: 'ls' })).cwd).toBe('/usr')
  })

  test('a function that came out of a program a moment ago', async () => {
    const engine = await testEngine()
    writeFileSync(join(engine.cwd, 'tools'), 'ls() { cd /usr; seen=yes; }\n')
    const shell = await engine.session()
    await shell.run({ command: 'eval "$(cat tools)"' })
    expect((await shell.run({ command: 'ls' })).cwd).toBe('/usr')
    await shell.run({ command: 'kill -9 $$' })
    expect((await shell.run({ command: 'echo "$seen"' })).stdout).toBe('yes\n')
  })

  test('arithmetic in old brackets assigns', async () => {
    const shell = await session()
    await shell.run({ command: 'x=1' })
    await settled(shell)
    await shell.run({ command: 'echo $[x=5]' })
    await settled(shell)
    await shell.run({ command: 'kill -9 $BASHPID' })
    expect((await shell.run({ command: 'echo "$x"' })).stdout).toBe('5\n')
  })
})

test.runIf(findHelper())('SESS-03 a trap that ran when its command was stopped runs for the next ones', async () => {
  const engine = await testEngine()
  const stops: readonly (readonly [string, string, string])[] = [
    ["trap 'echo err' ERR", 'sleep 60', 'false; :'],
    ["trap 'echo err; [[ $BASH_COMMAND != false ]] || sleep 60' ERR", 'false; x=1', '(exit 4); :'],
    ['set -T; trap \'echo "in $FUNCNAME"; [[ ! ${slow-} ]] || sleep 60\' RETURN; f() { :; }', 'slow=1; f', 'slow=; f'],
    ["trap '[[ $BASH_COMMAND != slow* ]] || sleep 60; [[ $BASH_COMMAND != echo* ]] || echo debug' DEBUG", 'slow=1', 'echo d'],
  ] // prettier-ignore
  let at = 0
  for (const [trap, command, after] of stops) {
    const shell = await engine.session(`s${++at}`)
    const twin = await engine.session(`twin${at}`)
    for (const each of [shell, twin]) await each.run({ command: trap })
    expect(await shell.run({ command, timeoutMs: 300, graceMs: 200 })).toMatchObject({ status: 'timeout' })
    const { stdout } = await shell.run({ command: after })
    expect({ trap, stdout }).toEqual({ trap, stdout: (await twin.run({ command: after })).stdout })
    expect(stdout).not.toBe('')
    expect(await shell.info()).toMatchObject({ restarts: 0 })
  }
})

test('F46 read-only variables of ours cost one shell, not the session', async () => {
  const shell = await session()
  await shell.run({ command: 'x=kept' })
  await shell.run({ command: 'readonly $(compgen -v __cerith)' })
  expect(await shell.run({ command: 'echo "$x"; (exit 3)' })).toMatchObject({ exitCode: 3, stdout: 'kept\n' })
})

test.each(["trap '' RETURN", "trap ': x' RETURN", "trap '' DEBUG", "trap ': x' DEBUG", "trap ': x' EXIT"])(
  'a stop at any moment takes no trap away: %s',
  async (set) => {
    const shell = await session()
    await shell.run({ command: set })
    for (let round = 0; round < 24; round++) {
      // Before the shell has read the command, before the command was given its trap, and after that.
      await shell.run({ command: 'sleep 30', timeoutMs: 1 + (round % 6), graceMs: 50 })
      const { stdout, notes } = await shell.run({ command: 'trap -p' })
      expect([round, stdout.trim(), notes]).toEqual([round, set.replace('trap', 'trap --'), []])
    }
    // What the agent takes away is gone, also when it is stopped behind that.
    const handle = shell.stream({
      command: `trap - ${set.split(' ').at(-1)}; echo gone; sleep 30`,
      onOutput: () => handle.kill(),
    })
    await handle.outcome
    expect((await shell.run({ command: 'trap -p' })).stdout).toBe('')
  },
)
