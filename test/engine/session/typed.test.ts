/**
 * Commands of a few builtins are typed as they are, and the same one again without being planned anew: no command may
 * see a difference.
 */
import { closeSync, constants, mkdirSync, openSync, readSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as later } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { LiveSession } from '../../../src/engine/session/session.js'
import type { Session } from '../../../src/index.js'
import { temporaryFolder, testEngine, until } from '../harness.js'

/** What an idle shell does by itself a moment after a command: its state is written down, and the engine knows it. */
const writtenDown = (session: Session): Promise<unknown> => (session as LiveSession).currentState()

test('SESS-01 the same command again sees what has happened in between', async () => {
  const session = await (await testEngine()).session()
  const say = async (command: string): Promise<string> => (await session.run({ command })).stdout
  for (const value of ['one', 'two', 'three']) {
    await session.run({ command: `x=${value}` })
    expect(await say('echo $x')).toBe(`${value}\n`)
    expect(await say('echo $x')).toBe(`${value}\n`)
  }
  await session.run({ command: 'eval "ech""o() { command printf hidden; }"' })
  expect(await say('echo $x')).toBe('hidden')
  expect(await say('echo $x')).toBe('hidden')
})

test('SESS-01 limits, options and notices of the shell hold for typed commands too', async () => {
  const session = await (await testEngine()).session()
  await session.run({ command: 'echo $nothing' })
  await session.run({ command: 'set -u' })
  for (let round = 0; round < 3; round++) {
    const refused = await session.run({ command: 'echo $nothing' })
    expect(refused).toMatchObject({ status: 'failed', exitCode: 1, stdout: '' })
    expect(refused.stderr).toMatch(/^bash: (?:line \d+: )?nothing: unbound variable\n$/)
    expect(await session.run({ command: 'echo go on' })).toMatchObject({ exitCode: 0, stdout: 'go on\n', stderr: '' })
  }
  await session.run({ command: 'set +u; kept=yes' })
  await session.run({ command: 'false' })
  await session.run({ command: 'set -e' })
  const left = await session.run({ command: 'false' })
  expect(left).toMatchObject({ exitCode: 1 })
  expect(left.notes.map(({ text }) => text).join()).toContain('restored')
  expect(await session.run({ command: 'echo $kept' })).toMatchObject({ stdout: 'yes\n' })
})

test('SESS-01 traps that a sourced file has set go off for the commands, and only for those', async () => {
  const folder = temporaryFolder()
  const session = await (await testEngine({ cwd: folder })).session()
  const say = async (command: string): Promise<string> => (await session.run({ command })).stdout
  writeFileSync(join(folder, 'traps.sh'), "trap 'echo failed' ERR; trap 'echo back' RETURN\n")
  writeFileSync(join(folder, 'empty.sh'), '')
  for (const command of ['true', 'false', 'echo a', '/bin/false']) await say(command)
  expect(await say('. ./traps.sh')).toBe('back\n')
  for (let round = 0; round < 5; round++) {
    expect([
      await say('true'),
      await say('false'),
      await say('echo a'),
      await say('/bin/false'),
      await say('. ./empty.sh'),
    ]).toEqual(['', 'failed\n', 'a\n', 'failed\n', 'back\n'])
    if (round % 2 === 0) await writtenDown(session)
  }
  await say('trap - ERR RETURN')
  expect([await say('true'), await say('false'), await say('. ./empty.sh')]).toEqual(['', '', ''])
})

test('SESS-01 a DEBUG trap that a sourced file, or a function, has set goes off for the commands, and only for those', async () => {
  const folder = temporaryFolder()
  const session = await (await testEngine({ cwd: folder })).session()
  const say = async (command: string): Promise<string> => (await session.run({ command })).stdout
  writeFileSync(join(folder, 'traps.sh'), `trap 'echo "[$BASH_COMMAND]"' DEBUG\n`)
  for (const command of ['true', 'echo a', '/bin/false']) await say(command)
  await say('. ./traps.sh')
  for (let round = 0; round < 5; round++) {
    expect([await say('true'), await say('echo a; echo b'), await say('/bin/false')]).toEqual([
      '[true]\n',
      '[echo a]\na\n[echo b]\nb\n',
      '[/bin/false]\n',
    ])
    if (round % 2 === 0) await writtenDown(session)
  }
  await say('trap - DEBUG')
  expect([await say('true'), await say('echo a'), await say('/bin/false')]).toEqual(['', 'a\n', ''])
  await say(`noisy() { trap 'echo "<$BASH_COMMAND>"' DEBUG; }`)
  await say('noisy')
  expect([await say('true'), await say('echo a')]).toEqual(['<true>\n', '<echo a>\na\n'])
})

test.each([
  ['by a word that is not in the command', 'c=.; $c ./traps.sh'],
  ['by a function that sources it', 'load() { . ./traps.sh;}; load'],
])('SESS-01 a DEBUG trap that came %s can be taken away again', async (_, command) => {
  const folder = temporaryFolder()
  const session = await (await testEngine({ cwd: folder })).session()
  const say = async (text: string): Promise<string> => (await session.run({ command: text })).stdout
  writeFileSync(join(folder, 'traps.sh'), `trap 'echo "[$BASH_COMMAND]"' DEBUG\n`)
  await say('trap : USR1; trap - USR1')
  await writtenDown(session)
  for (const part of command.split('; ')) {
    await say(part)
    await writtenDown(session)
  }
  expect([await say('true'), await say('echo a')]).toEqual(['[true]\n', '[echo a]\na\n'])
  await say('trap - DEBUG')
  expect([await say('true'), await say('echo a')]).toEqual(['', 'a\n'])
})

test("F53 who stops a call that has ended stops nobody else's", async () => {
  const session = await (await testEngine()).session()
  for (const command of ['/bin/true', 'echo a', '/bin/true', 'echo a']) await session.run({ command })
  for (let round = 0; round < 4; round++) {
    const handle = session.stream({ command: round % 2 === 0 ? '/bin/true' : 'echo a' })
    await handle.outcome
    const next = session.run({ command: 'sleep 0.2; echo hello', timeoutMs: 10_000 })
    if (round < 2) handle.kill()
    else handle.interrupt()
    await handle.toBackground()
    expect(await next).toMatchObject({ exitCode: 0, stdout: 'hello\n' })
    expect(
      await Promise.all([
        session.run({ command: 'echo a' }),
        session.run({ command: 'sleep 0.1' }),
        session.run({ command: 'echo a' }),
      ]),
    ).toMatchObject([{ stdout: 'a\n' }, { stdout: '' }, { stdout: 'a\n' }])
  }
})

test('F53 a plain command that interrupts its shell, and dies of it, has ended by the interrupt', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'interrupts'), '#!/bin/sh\nkill -INT $PPID\nkill -INT $$\nsleep 10\n', { mode: 0o755 })
  const session = await (await testEngine({ cwd: folder })).session()
  await session.run({ command: 'kept=yes' })
  for (let round = 0; round < 5; round++) {
    expect(await session.run({ command: './interrupts;' })).toMatchObject({ exitCode: 130 })
    expect(await session.run({ command: 'echo $kept' })).toMatchObject({ exitCode: 0, stdout: 'yes\n' })
  }
})

test('F33 what a command prints is its own, also when the host was busy while an earlier one ended', async () => {
  const session = await (await testEngine()).session()
  const busyFor = (ms: number): void => {
    for (const until = performance.now() + ms; performance.now() < until;);
  }
  for (let round = 0; round < 60; round++) {
    const slow = session.run({ command: 'sleep 0.01' })
    await later(5)
    busyFor(25 + (round % 10))
    await slow
    const own = session.run({ command: `basename ${round}` })
    busyFor(round % 4)
    expect(await own).toMatchObject({ stdout: `${round}\n` })
    expect(await session.run({ command: 'basename after' })).toMatchObject({ stdout: 'after\n' })
  }
})

test('SESS-01 all at once: each gets its own answer, in order', async () => {
  const session = await (await testEngine()).session()
  await session.run({ command: 'echo 1' })
  await session.run({ command: 'echo 2' })
  const order: string[] = []
  const commands = Array.from({ length: 60 }, (_, at) => (at % 3 === 2 ? `x=${at}; echo $x` : `echo ${1 + (at % 2)}`))
  const outcomes = await Promise.all(
    commands.map(async (command) => {
      const outcome = await session.run({ command })
      order.push(command)
      return outcome.stdout
    }),
  )
  expect(order).toEqual(commands)
  expect(outcomes).toEqual(commands.map((command, at) => `${at % 3 === 2 ? at : command.slice(5)}\n`))
})

describe('F52 the directory is gone', () => {
  test.each(['pwd', 'echo $PWD'])('before %s is run again', async (command) => {
    const folder = temporaryFolder()
    const gone = join(folder, 'gone')
    mkdirSync(gone)
    const session = await (await testEngine({ cwd: folder })).session()
    await session.run({ command: `cd ${gone}` })
    await session.run({ command })
    await session.run({ command })
    rmSync(gone, { recursive: true })
    const outcome = await session.run({ command })
    expect(outcome).toMatchObject({ status: 'completed', cwd: folder, stderr: '' })
    expect(outcome.notes.map(({ text }) => text).join()).toContain('no longer exists')
    expect(await session.run({ command: 'pwd' })).toMatchObject({ stdout: `${folder}\n`, notes: [] })
  })

  test('which the next command is told, also one to which it makes no difference', async () => {
    const folder = temporaryFolder()
    const gone = join(folder, 'gone')
    mkdirSync(gone)
    const session = await (await testEngine({ cwd: folder })).session()
    await session.run({ command: `cd ${gone}` })
    for (const command of ['echo here', ':']) for (let round = 0; round < 2; round++) await session.run({ command })
    rmSync(gone, { recursive: true })
    const told = await session.run({ command: ':' })
    expect(told).toMatchObject({ status: 'completed', cwd: folder, stderr: '' })
    expect(told.notes.map(({ text }) => text).join()).toContain('no longer exists')
    expect(await session.run({ command: 'echo here' })).toMatchObject({ cwd: folder, stdout: 'here\n', notes: [] })
    // What was begun again counts once.
    expect((await session.info()).calls).toBe(7)
  })

  test('and another one has its name', async () => {
    const folder = temporaryFolder()
    const [first, second] = [join(folder, 'first'), join(folder, 'second')]
    mkdirSync(first)
    mkdirSync(second)
    const session = await (await testEngine({ cwd: folder })).session()
    await session.run({ command: `cd ${first}` })
    await session.run({ command: 'pwd' })
    rmSync(first, { recursive: true })
    renameSync(second, first)
    await session.run({ command: 'pwd' })
    expect(await session.run({ command: 'touch made && ls' })).toMatchObject({ stdout: 'made\n' })
  })
})

test('EXEC-07 a typed command that does not come to its end is stopped in time, and its late report is nobody’s', async () => {
  const session = await (await testEngine()).session()
  await session.run({ command: 'echo a' })
  await session.run({ command: 'echo a' })
  const { pid } = await session.info()
  for (const how of ['timeout', 'abort', 'kill'] as const) {
    process.kill(pid as number, 'SIGSTOP')
    const abort = new AbortController()
    const handle = session.stream({
      command: 'echo a',
      ...(how === 'timeout' ? { timeoutMs: 150 } : {}),
      signal: abort.signal,
    })
    if (how !== 'timeout') await later(50)
    if (how === 'abort') abort.abort()
    if (how === 'kill') handle.kill()
    expect((await handle.outcome).status).toBe(how === 'timeout' ? 'timeout' : 'killed')
    expect(await session.run({ command: 'echo b; (exit 4)' })).toMatchObject({ exitCode: 4, stdout: 'b\n' })
    expect(await session.run({ command: 'echo a' })).toMatchObject({ exitCode: 0, stdout: 'a\n', stderr: '' })
  }
  expect(await session.info()).toMatchObject({ pid, restarts: 0 })
})

test('a shell that is slow to answer is asked once more, and the second answer is not taken for the next command’s', async () => {
  const session = await (await testEngine()).session()
  await session.run({ command: 'true' })
  await session.run({ command: 'true' })
  const { pid } = await session.info()
  for (let round = 0; round < 10; round++) {
    process.kill(pid as number, 'SIGSTOP')
    const slow = session.run({ command: 'true' })
    await later(40)
    process.kill(pid as number, 'SIGCONT')
    expect(await slow).toMatchObject({ exitCode: 0 })
    expect(await session.run({ command: 'false' })).toMatchObject({ exitCode: 1 })
    expect(await session.run({ command: 'false || (exit 5)' })).toMatchObject({ exitCode: 5 })
    expect(await session.run({ command: 'true' })).toMatchObject({ exitCode: 0 })
  }
})

test('bad options are refused for a command that is known too', async () => {
  const session = await (await testEngine()).session()
  await session.run({ command: 'echo a' })
  await session.run({ command: 'echo a' })
  await expect(session.run({ command: 'echo a', timeoutMs: -1 })).rejects.toThrow('timeoutMs')
  await expect(session.run({ command: 'echo a', nonsense: 1 } as never)).rejects.toThrow('nonsense')
  expect(await session.run({ command: 'echo a', dryRun: true })).toMatchObject({ status: 'dry_run' })
  expect(await session.run({ command: 'echo a', streams: 'merged' })).toMatchObject({ output: 'a\n', stdout: '' })
  expect(await session.run({ command: 'echo $x', env: { x: 'given' } })).toMatchObject({ stdout: 'given\n' })
  expect(await session.run({ command: 'echo a', signal: AbortSignal.abort() })).toMatchObject({
    status: 'killed',
    stdout: '',
  })
  await session.close()
  await expect(session.run({ command: 'echo a' })).rejects.toMatchObject({ code: 'SESSION_LOST' })
})

test('what is wrong with a request is told by the promise, for a command that is known too', async () => {
  const session = await (await testEngine()).session()
  await session.run({ command: 'echo a' })
  await session.run({ command: 'echo a' })
  for (const request of [null, undefined, { command: 'echo a', signal: null }]) {
    let told: Promise<unknown> | null = null
    expect(() => (told = session.run(request as never))).not.toThrow()
    await expect(told).rejects.toMatchObject({ name: 'ShellError' })
  }
  expect(await session.run({ command: 'echo a' })).toMatchObject({ stdout: 'a\n' })
})

test('EXEC-07 a pattern in a variable that takes long to look for is stopped, and the shell keeps its state', async () => {
  const folder = temporaryFolder()
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) mkdirSync(join(folder, name))
  const session = await (await testEngine({ cwd: folder })).session()
  // Every `..` is another look at all eight: more than anybody waits for.
  await session.run({ command: `pattern=${'*/../'.repeat(12)}none; kept=yes` })
  await session.run({ command: 'echo $kept' })
  const stopped = await session.run({ command: 'echo $pattern', timeoutMs: 150 })
  expect(stopped).toMatchObject({ status: 'timeout', stdout: '', stderr: '', notes: [] })
  expect(await session.run({ command: 'echo $kept' })).toMatchObject({ stdout: 'yes\n' })
  expect(await session.info()).toMatchObject({ restarts: 0 })
})

test.each(['echo $long', 'echo short'])('%s waits for whoever reads it, however long that takes', async (command) => {
  const folder = temporaryFolder()
  const session = await (await testEngine({ cwd: folder })).session()
  await session.run({ command: 'mkfifo pipe; printf -v long %090000d 0' })
  await session.run({ command })
  const reader = openSync(join(folder, 'pipe'), constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    // As full as it gets: what is printed next has to wait.
    await session.run({ command: 'exec >pipe; head -c 65536 /dev/zero' })
    await session.run({ command: 'true' })
    await writtenDown(session)
    const waiting = session.run({ command })
    // Longer than a shell may be silent at its prompt.
    await later(2_000)
    let read = 0
    const drain = setInterval(() => {
      try {
        read += readSync(reader, Buffer.alloc(100_000))
      } catch {
        // Empty now.
      }
    }, 5)
    expect(await waiting).toMatchObject({ status: 'completed', exitCode: 0, notes: [] })
    await until(() => read === 65_536 + (command === 'echo short' ? 6 : 90_001), 'the last byte')
    clearInterval(drain)
  } finally {
    closeSync(reader)
  }
})
