/** Ways in which a session once went mute, lost its place or took its host along. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createEngine } from '../../../src/index.js'
import { temporaryFolder, testEngine } from '../harness.js'

test.each([
  ['extglob that is switched on in the same line', 'shopt -s extglob; echo @(a|b)', 2, ''],
  ['a backslash at the end', 'echo a \\', 0, 'a \\\n'],
])(
  'F33 F39 the first command does not parse (%s): its answer is heard and so is the next',
  async (_, command, exitCode, stdout) => {
    const session = await (await testEngine()).session()
    expect(await session.run({ command })).toMatchObject({ exitCode, stdout })
    expect(await session.run({ command: 'echo next' })).toMatchObject({ exitCode: 0, stdout: 'next\n' })
  },
)

test('F21 a command that does not parse after one that left a process behind', async () => {
  const session = await (await testEngine()).session()
  await session.run({ command: '(sleep 1; echo late) &' })
  await session.run({ command: 'shopt -s extglob; echo @(a|b)' })
  expect((await session.run({ command: 'echo next' })).stdout).toBe('next\n')
})

test('after a timeout, a pipeline and a plain command work', async () => {
  const session = await (await testEngine()).session()
  expect((await session.run({ command: 'sleep 30', timeoutMs: 200 })).status).toBe('timeout')
  expect((await session.run({ command: 'echo a | cat' })).stdout).toBe('a\n')
  expect((await session.run({ command: 'echo two' })).stdout).toBe('two\n')
})

test('the directory of a shell that ends is the kernel’s, not what was made of $PWD', async () => {
  const session = await (await testEngine()).session()
  await session.run({ command: 'cd /usr' })
  expect((await session.run({ command: 'PWD=/etc; exit 3' })).cwd).toBe('/usr')
  expect((await session.run({ command: 'unset PWD; exit 3' })).cwd).toBe('/usr')
  expect((await session.run({ command: 'pwd' })).stdout).toBe('/usr\n')
})

test('F52 a directory that was removed is reported without the kernel’s mark', async () => {
  const engine = await testEngine()
  const session = await engine.session()
  expect((await session.run({ command: 'mkdir d && cd d && rmdir ../d' })).cwd).toBe(join(engine.cwd, 'd'))
  const next = await session.run({ command: 'pwd' })
  expect([next.stdout, next.cwd]).toEqual([`${engine.cwd}\n`, engine.cwd])
})

test('closing a session does not end its host', () => {
  const built = fileURLToPath(new URL('../../../dist/index.js', import.meta.url))
  const script = `const { createEngine } = await import(${JSON.stringify(built)}); const e = await createEngine({ stateDir: ${JSON.stringify(join(temporaryFolder(), 's'))} }); const s = await e.session(); await s.run({ command: ':' }); await s.close(); console.log('went on'); await e.close()`
  expect(spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })).toMatchObject({
    status: 0,
    stdout: 'went on\n',
  })
})

test('F50 a session that closes with a replaced shell lets go of each pipe once: the next sessions get pipes of their own', async () => {
  const engine = await testEngine()
  for (let round = 0; round < 8; round++) {
    const session = await engine.session(`leaves-${round}`)
    await session.run({ command: 'sleep 1000 & echo started' })
    await session.run({ command: 'kill -9 $$' })
    await session.run({ command: 'echo next' })
    await session.close()
    expect(await (await engine.session(`next-${round}`)).run({ command: 'echo heard; echo both >&2' })).toMatchObject({
      exitCode: 0,
      stdout: 'heard\n',
      stderr: 'both\n',
    })
  }
})

test.each(['interrupt', 'kill'] as const)(
  'EXEC-07 F15 a program that the shell starts in the moment of the %s is ended too, and the shell keeps its state',
  async (how) => {
    const session = await (await testEngine()).session()
    // A long search for the program: the shell is told before it starts it, and hears of it only when the program has
    // ended.
    for (const places of [3_000, 6_000, 10_000, 15_000]) {
      await session.run({
        command: `export -n PATH; own=\${own-$PATH}; x=0; PATH=$(printf '/x%s:' {1..${places}})$own`,
      })
      const handle = session.stream({ command: 'x=1; echo up; hash -r; sleep 600', graceMs: 20_000 })
      for await (const { text } of handle) if (text.includes('up')) handle[how]()
      expect(await handle.outcome).toMatchObject({ status: how === 'kill' ? 'killed' : 'failed', notes: [] })
      expect((await session.run({ command: 'echo "x=$x"' })).stdout).toBe('x=1\n')
    }
    expect(await session.info()).toMatchObject({ restarts: 0, leftovers: [] })
  },
)

test('a snapshot that cannot be read is said, and one that cannot be written costs nothing else', async () => {
  const stateDir = join(temporaryFolder(), 'state')
  const first = await testEngine({ stateDir, persistSessions: true })
  await (await first.session('a')).run({ command: 'x=1' })
  await first.close()
  writeFileSync(join(stateDir, 'sessions', 'a.state'), 'cerith-state\0torn')
  mkdirSync(join(stateDir, 'sessions', 'b.state'))
  const second = await createEngine({ stateDir, cwd: stateDir, persistSessions: true })
  expect(
    (await (await second.session('a')).run({ command: 'echo "[$x]"' })).notes.map(({ text }) => text).join(),
  ).toContain('could not be read')
  await (await second.session('b')).run({ command: 'x=1' })
  await expect(second.close()).rejects.toMatchObject({ code: 'STATE_UNWRITABLE' })
  await expect(second.run({ command: ':' })).rejects.toMatchObject({ code: 'CLOSED' })
})

test('F56 the state directory is removed under a living engine: sessions, pipelines, long scripts and jobs go on', async () => {
  const stateDir = join(temporaryFolder(), 'state')
  const engine = await testEngine({ stateDir })
  const session = await engine.session()
  await session.run({ command: 'kept=value; cd /tmp' })
  rmSync(stateDir, { recursive: true, force: true, maxRetries: 5 })
  expect(await session.run({ command: 'echo "$kept $PWD"' })).toMatchObject({
    status: 'completed',
    stdout: 'value /tmp\n',
    notes: [],
  })
  rmSync(stateDir, { recursive: true, force: true, maxRetries: 5 })
  expect(await session.run({ command: 'echo same' })).toMatchObject({ stdout: 'same\n' })
  rmSync(stateDir, { recursive: true, force: true, maxRetries: 5 })
  expect(await session.run({ command: 'echo same' })).toMatchObject({ stdout: 'same\n' })
  rmSync(stateDir, { recursive: true, force: true, maxRetries: 5 })
  expect(await engine.run({ command: 'false | true' })).toMatchObject({ exitCode: 0, pipeStatus: [1, 0], stderr: '' })
  rmSync(stateDir, { recursive: true, force: true, maxRetries: 5 })
  expect(await engine.run({ command: `echo long # ${'x'.repeat(10_000)}` })).toMatchObject({ stdout: 'long\n' })
  rmSync(stateDir, { recursive: true, force: true, maxRetries: 5 })
  expect(await (await engine.session('other')).run({ command: 'echo new' })).toMatchObject({ stdout: 'new\n' })
  rmSync(stateDir, { recursive: true, force: true, maxRetries: 5 })
  const job = await engine.start({ command: 'echo job' })
  expect((await job.wait()).info).toMatchObject({ status: 'completed' })
})

test('SESS-01 F43 with set -v bash shows what the agent typed, and nothing of ours', async () => {
  const session = await (await testEngine()).session()
  expect(await session.run({ command: 'set -v; echo hi' })).toMatchObject({ exitCode: 0, stdout: 'hi\n', stderr: '' })
  expect(await session.run({ command: 'echo again' })).toMatchObject({
    exitCode: 0,
    stdout: 'again\n',
    stderr: 'echo again\n',
  })
  expect(await session.run({ command: 'false' })).toMatchObject({ exitCode: 1, stderr: 'false\n' })
  expect(await session.run({ command: 'set -u; echo $nothing_here' })).toMatchObject({ exitCode: 1, stdout: '' })
  expect(await session.run({ command: 'set +vu; echo quiet' })).toMatchObject({ exitCode: 0, stdout: 'quiet\n' })
  expect(await session.run({ command: 'echo quiet' })).toMatchObject({ stdout: 'quiet\n', stderr: '' })
})

test('a closed session leaves no file in the folder of the engine, which has a socket of its own', async () => {
  const stateDir = join(temporaryFolder(), 'state')
  const engine = await testEngine({ stateDir })
  const [run = ''] = readdirSync(join(stateDir, 'run'))
  const files = (): string[] => readdirSync(join(stateDir, 'run', run)).filter((name) => name !== 'live')
  const before = files()
  for (const name of ['one', 'two']) {
    const session = await engine.session(name)
    await session.run({ command: 'x=5', env: { GIVEN: 'once' } })
    expect(files().length).toBeGreaterThan(before.length)
    await session.close()
  }
  expect(files()).toEqual(before)
})

test.each([
  ['one that changes the shell', 'y=$x; echo ran | tee -a ran'],
  ['one that does not', 'echo ran | tee -a ran'],
  ['one program', 'tee -a ran'],
])('a shell that writes down much does not wait for another line: its command (%s) runs once', async (_, command) => {
  const session = await (await testEngine()).session()
  await session.run({ command: 'x=$(printf "%0300000d" 1)' })
  for (let round = 1; round <= 5; round++) {
    // The state is more than a pipe holds, and a host that is busy does not read it: the shell sleeps, with its own
    // stdin back.
    const busy = setInterval(() => {
      for (const began = performance.now(); performance.now() - began < 40;);
    }, 1)
    const input = command === 'tee -a ran' ? { input: 'ran\n' } : {}
    const outcome = await session
      .run({ command: `z=${round}; ${command}`, ...input })
      .finally(() => clearInterval(busy))
    expect(outcome).toMatchObject({ exitCode: 0, stdout: 'ran\n', notes: [] })
    expect((await session.run({ command: 'grep -c ran ran' })).stdout).toBe(`${round}\n`)
  }
})
