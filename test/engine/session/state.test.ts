/**
 * What a session keeps when its shell does not: nothing that a completed call did is lost, and what is lost is said.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Engine, type EngineOptions, type Outcome, type RunRequest, type Session } from '../../../src/index.js'
import { isAlive, processFacts } from '../../../src/os/process/proc.js'
import { idleLook, temporaryFolder, testEngine, until } from '../harness.js'

type Do = (command: string, more?: Partial<RunRequest>) => Promise<Outcome>

async function opened(options: EngineOptions = {}): Promise<{ engine: Engine; session: Session; run: Do }> {
  const engine = await testEngine(options)
  const session = await engine.session()
  return { engine, session, run: (command, more = {}) => session.run({ command, timeoutMs: 20_000, ...more }) }
}

describe('a completed call is never undone', () => {
  test('by a shell that is killed while it leaves', async () => {
    const { run } = await opened()
    for (let round = 0; round < 12; round++) {
      await run(`kept=${round}`)
      await run('sleep 0.02; exit 3', { timeoutMs: 22 + round, graceMs: 0 })
      expect((await run('echo $kept')).stdout).toBe(`${round}\n`)
    }
  }, 60_000)

  test('by a SIGKILL that comes right behind its answer', async () => {
    const { session, run } = await opened()
    for (let round = 0; round < 12; round++) {
      await run(`kept=${round}; function f${round} { echo ${round}; }`)
      const { pid } = await session.info()
      process.kill(pid as number, 'SIGKILL')
      const look = `echo $kept; f${round}`
      const next = await run(look)
      // In the moment of the kill the shell may still take a command, and then says that it was killed.
      const answer = next.signal === 'SIGKILL' ? await run(look) : next
      expect(answer.stdout).toBe(`${round}\n${round}\n`)
    }
  }, 60_000)

  test('by SIGKILL in the middle of the next one', async () => {
    const { run } = await opened()
    await run('kept=1; cd /usr')
    const killed = await run('kept=2; kill -9 $$')
    expect(killed.notes.map(({ text }) => text).join()).toContain('from before this command')
    expect((await run('echo $kept $PWD')).stdout).toBe('1 /usr\n')
  })
})

describe('a shell that died between two calls', () => {
  const deaths: readonly [who: string, pidOf: (shell: number) => number][] = [
    ['bash', (shell) => shell],
    ['warden', (shell) => processFacts(shell)?.parent ?? 0],
    ['launcher', (shell) => processFacts(processFacts(shell)?.parent ?? 0)?.parent ?? 0],
  ]
  test.each(deaths)('(its %s was killed) is told by the next call, with what went with it', async (_, pidOf) => {
    const { engine, session, run } = await opened()
    // Until it is the program: before that a child of bash has the name of bash.
    const isSleeping = 'until grep -q 777 /proc/$!/cmdline; do :; done'
    await run(`kept=1; exec 7>/dev/null; ulimit -n 200; sleep 777 & ${isSleeping}`)
    // Below that limit the builtin keeps its descriptors among the agent's numbers: they are not told.
    await run(':')
    const shell = (await session.info()).pid as number
    await idleLook(engine)
    const start = processFacts(shell)?.start
    process.kill(pidOf(shell), 'SIGKILL')
    await until(() => !isAlive(shell, start))
    const next = await run('echo $kept')
    expect(next.stdout).toBe('1\n')
    const said = next.notes.map(({ text }) => text).join('\n')
    expect(said).toMatch(/between two calls/)
    expect(said).toMatch(/sleep 777/)
    expect(said).toMatch(/descriptor 7 \(/)
    expect(said).toMatch(/limit.*open files/i)
    expect((await run('echo again')).notes).toEqual([])
  })
})

describe('a command on a terminal', () => {
  test('leaves its status and its last argument to the next one', async () => {
    const { run } = await opened()
    await run('false')
    expect((await run('(exit 7)', { pty: true })).exitCode).toBe(7)
    expect((await run('echo $?')).stdout).toBe('7\n')
    await run('true one two', { pty: true })
    expect((await run('echo $? $_')).stdout).toBe('0 two\n')
    await run('exit 9', { pty: true })
    expect((await run('echo $?')).stdout).toBe('9\n')
    await run('false | true | (exit 3)', { pty: true })
    expect((await run('echo ${PIPESTATUS[@]}')).stdout).toBe('1 0 3\n')
  })
})

describe('a secret', () => {
  const VALUE = 'correct-horse-battery-staple'

  function filesWith(dir: string, text: string): string[] {
    return readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((file) => readFileSync(file).includes(text))
  }

  test('that a variable holds is in no file, and a successor, a job and a terminal have it again', async () => {
    const stateDir = join(temporaryFolder(), 'state')
    const { engine, run } = await opened({ stateDir })
    engine.secrets.set('X', VALUE)
    await run('T={{secret:X}}; export E="$T"; f() { echo "$T"; }; arr=("$T" b); set -- "$T"')
    const check = async (): Promise<void> => {
      await idleLook(engine)
      expect(filesWith(stateDir, VALUE)).toEqual([])
    }
    await check()
    expect((await run('echo ${#T} ${#E} ${#arr[0]} ${#1}', { env: { T: 'other' } })).stdout).toBe('5 28 28 28\n')
    await run('sleep 0.01', { env: { T: 'other' } })
    await check()
    await run('exit 3')
    await check()
    expect((await run('echo ${#T} ${#E} ${#arr[0]} ${#1}; f')).stdout).toBe('28 28 28 28\n[secret:X]\n')
    await check()
    expect((await run('echo ${#T} ${#E}; sleep 0.2', { pty: true })).output).toBe('28 28\r\n')
    await check()
    const job = await engine.start({ command: 'echo ${#T} ${#E}; sleep 0.3', session: 'main' })
    await check()
    expect((await job.wait({ timeoutMs: 20_000 })).info.exitCode).toBe(0)
    expect((await job.read()).text).toBe('28 28\n')
    await check()
  })

  test('is not in the snapshot for a later process, which says what it lacks', async () => {
    const stateDir = join(temporaryFolder(), 'state')
    const first = await testEngine({ stateDir, persistSessions: true })
    first.secrets.set('X', VALUE)
    await (await first.session('a')).run({ command: 'T={{secret:X}}; g() { echo hi; }; other=1' })
    await first.close()
    expect(filesWith(stateDir, VALUE)).toEqual([])
    const second = await testEngine({ stateDir, persistSessions: true })
    const next = await (await second.session('a')).run({ command: 'echo "${T-none} $other"; g' })
    expect(next.stdout).toBe('none 1\nhi\n')
    expect(next.notes.map(({ text }) => text).join()).toMatch(/held a secret: T\b/)
  })
})

test.each([
  ['ERR', 'trap : ERR', ''],
  ['a signal', "trap 'echo usr' USR1", ''],
  ['EXIT', "trap 'echo bye' EXIT", 'bye\n'],
  ['EXIT and ERR', "trap 'echo bye' EXIT; trap : ERR", 'bye\n'],
])('SESS-03 a shell with a trap for %s that ends keeps its state as one without', async (_, trap, stdout) => {
  const shell = await (await testEngine()).session()
  await shell.run({ command: trap })
  expect(await shell.run({ command: 'n=5; exit 3' })).toMatchObject({ exitCode: 3, stdout, notes: [] })
  expect((await shell.run({ command: 'echo $n' })).stdout).toBe('5\n')
  expect((await shell.run({ command: 'trap -p EXIT' })).stdout).toBe('')
})
