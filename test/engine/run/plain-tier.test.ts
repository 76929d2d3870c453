import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Engine, Session } from '../../../src/index.js'
import { isAlive, signalProcess } from '../../../src/os/process/proc.js'
import { ESCAPES } from '../../fixtures/escapes.js'
import { makeGate } from '../../fixtures/gate.js'
import { idleLook, processesNamed, temporaryFolder, testEngine, uniqueSeconds, until } from '../harness.js'

/**
 * The one way to leave that only a subreaper sees: parents gone, group and session new, environment empty, files
 * closed.
 */
const OUT_OF_REACH = (seconds: string): string =>
  `env -i perl -MPOSIX -e 'exit if fork; setsid; exit if fork; POSIX::close($_) for 3..255; exec "sleep", "${seconds}"'`
const DOUBLE_FORK = ['', 'a double fork by the shell', (s: string) => `(setsid sleep ${s} &)`] as const

describe('the lower tier, without native code', () => {
  test('runs commands with real pipes, separate or merged, with input and exit codes', async () => {
    const engine = await testEngine({ tier: 'plain' })
    expect(await engine.run({ command: 'echo x > /dev/stderr; echo y | tee /dev/stdout; exit 3' })).toMatchObject({
      status: 'failed',
      exitCode: 3,
      stdout: 'y\ny\n',
      stderr: 'x\n',
    })
    expect((await engine.run({ command: 'echo a; echo b >&2; echo c', streams: 'merged' })).output).toBe('a\nb\nc\n')
    expect((await engine.run({ command: 'cat', input: 'in' })).stdout).toBe('in')
    expect(await engine.run({ command: 'kill -SEGV $$' })).toMatchObject({ status: 'failed', signal: 'SIGSEGV' })
    await expect(engine.run({ command: 'true', cwd: '/no/such' })).rejects.toMatchObject({ code: 'CWD_NOT_FOUND' })
  })

  test.each([...ESCAPES, DOUBLE_FORK])('%s a timeout ends %s, in a run and in a session', async (_, __, escape) => {
    const engine = await testEngine({ tier: 'plain' })
    const session = await engine.session()
    const spared = uniqueSeconds()
    await session.run({ command: `(setsid env -i sleep ${spared} &)` })
    await until(() => processesNamed(spared).length === 1, 'what an earlier call left runs')
    const ended = async (place: Engine | Session): Promise<void> => {
      const seconds = uniqueSeconds()
      const outcome = await place.run({
        command: `echo started; ${escape(seconds)}\nsleep ${seconds}9`,
        timeoutMs: 1_500,
        graceMs: 300,
      })
      expect(outcome).toMatchObject({ status: 'timeout', stdout: 'started\n' })
      expect(processesNamed(seconds)).toEqual([])
      if (place === engine) expect(outcome.notes.map(({ text }) => text).join(' ')).toContain('may have escaped')
    }
    await Promise.all([ended(engine), ended(session)])
    expect(processesNamed(spared)).toHaveLength(1)
    await engine.close()
    expect(processesNamed(spared)).toEqual([])
  })

  test('what leaves, clears its environment and closes its files is out of reach, as is said', async () => {
    const engine = await testEngine({ tier: 'plain' })
    const seconds = uniqueSeconds()
    const outcome = await engine.run({ command: `${OUT_OF_REACH(seconds)}\nsleep 60`, timeoutMs: 1_500, graceMs: 300 })
    const left = processesNamed(seconds)
    for (const pid of left) signalProcess(pid, 'SIGKILL')
    expect(left).toHaveLength(1)
    expect(outcome.notes.map(({ text }) => text).join(' ')).toContain('may have escaped')
  })

  test('a session remembers, survives exit, and keeps leftovers apart', async () => {
    const engine = await testEngine({ tier: 'plain' })
    const session = await engine.session()
    await session.run({ command: 'x=5; f() { echo "f$1"; }; cd /tmp' })
    expect((await session.run({ command: 'echo $x; f 1; pwd' })).stdout).toBe('5\nf1\n/tmp\n')
    expect(await session.run({ command: 'exit 3' })).toMatchObject({ exitCode: 3 })
    const gate = makeGate()
    expect(
      (await session.run({ command: `(${gate.wait}; echo late; echo said >${engine.cwd}/told) & echo $x` })).stdout,
    ).toBe('5\n')
    gate.open()
    expect(
      (await session.run({ command: `while [ ! -e ${engine.cwd}/told ]; do sleep 0.02; done; echo next` })).stdout,
    ).toBe('next\n')
    expect(await session.run({ command: 'sleep 60', timeoutMs: 300 })).toMatchObject({ status: 'timeout' })
    expect((await session.run({ command: 'echo $x' })).stdout).toBe('5\n')
  })

  test('a job is kept, read, waited for and ended; its record is the same', async () => {
    const engine = await testEngine({ tier: 'plain' })
    const job = await engine.start({ command: 'echo one; echo two >&2; exit 7' })
    await job.wait({ exit: true, timeoutMs: 10_000 })
    expect(await job.info()).toMatchObject({ status: 'failed', exitCode: 7 })
    expect((await job.read()).text).toBe('one\n')
    expect((await job.read({ stream: 'stderr' })).text).toBe('two\n')
    const { outputFile } = await job.info()
    await until(() => readFileSync(outputFile, 'utf8').includes('exit code 7'), 'the completion line')
    const long = await engine.start({ command: `sleep ${uniqueSeconds()}` })
    expect((await long.kill()).info.status).toBe('killed')
  })

  test('a terminal and a sandbox are refused with the reason why there is no helper, and its fix', async () => {
    const engine = await testEngine({ tier: 'plain' })
    const terminal = engine.run({ command: 'tty', pty: true })
    await expect(terminal).rejects.toMatchObject({
      code: 'PTY_UNAVAILABLE',
      message: expect.stringContaining('did not start, or was not asked for'),
    })
    process.env['CERITH_HELPER'] = 'none'
    try {
      await expect(testEngine({ sandbox: { profile: 'workspace' } })).rejects.toMatchObject({
        code: 'SANDBOX_UNAVAILABLE',
        message: expect.stringContaining('switched off by CERITH_HELPER'),
        hint: 'Unset CERITH_HELPER.',
      })
    } finally {
      delete process.env['CERITH_HELPER']
    }
  })

  test('a session whose shell was killed does not tell the mark of its command as a descriptor of the agent', async () => {
    const engine = await testEngine({ tier: 'plain' })
    const session = await engine.session()
    await session.run({ command: 'exec 7>/dev/null; kept=1' })
    const { pid } = await session.info()
    await idleLook(engine)
    process.kill(pid as number, 'SIGKILL')
    await until(() => !isAlive(pid as number))
    const next = await session.run({ command: 'echo $kept' })
    const said = next.notes.map(({ text }) => text).join()
    expect(next.stdout).toBe('1\n')
    expect(said).toContain('With it went descriptor 7 (/dev/null).')
  })

  test('one process watches all commands: a stop, an end and a note are still about one of them', async () => {
    const engine = await testEngine({ tier: 'plain' })
    const [one, two] = [await engine.session('one'), await engine.session('two')]
    await one.run({ command: ':' })
    const stopped = one.stream({ command: 'echo up; sleep 60' })
    for await (const { text } of stopped) if (text.includes('up')) break
    // All of these begin after the call that is stopped.
    const gate = makeGate()
    const wait = (name: string): string => `{ : >${engine.cwd}/${name}; ${gate.wait}; }`
    const others = [
      engine.run({ command: `${wait('a')}; echo run` }),
      two.run({ command: `(${wait('b')}; echo session)` }),
      (await engine.session('three')).run({ command: `${wait('c')} & wait; echo waited` }),
    ]
    const job = await engine.start({ command: `${wait('d')}; echo job` })
    await until(() => [...'abcd'].every((name) => existsSync(join(engine.cwd, name))), 'all of them are under way')
    stopped.kill()
    expect(await stopped.outcome).toMatchObject({ status: 'killed', notes: [] })
    expect((await engine.run({ command: 'echo hi' })).notes).toEqual([])
    expect((await one.info()).leftovers).toEqual([])
    await one.close()
    gate.open()
    for (const [at, word] of ['run', 'session', 'waited'].entries())
      expect(await others[at]).toMatchObject({ status: 'completed', stdout: `${word}\n`, notes: [] })
    await job.wait({ exit: true, timeoutMs: 20_000 })
    expect((await job.read()).text).toBe('job\n')
  })

  test('what a call leaves running is told, and nothing else', async () => {
    const engine = await testEngine({ tier: 'plain' })
    const session = await engine.session()
    const seconds = uniqueSeconds()
    // Until it is the program: before, it is a subshell.
    const begun = `sleep ${seconds} & until [[ $(</proc/$!/comm) == sleep ]]; do :; done`
    expect((await session.run({ command: begun })).notes.map(({ text }) => text).join()).toMatch(
      new RegExp(`^Still running in the background: \\d+ \\(sleep ${seconds}\\)`),
    )
    for (let round = 0; round < 20; round++)
      expect((await session.run({ command: 'x=1; /bin/true' })).notes).toEqual([])
    expect(
      (await engine.run({ command: `sleep ${seconds} & echo on` })).notes.map(({ text }) => text).join(),
    ).toContain(`sleep ${seconds}`)
  })

  test('closing waits for nothing that was asked to outlive it: a detached job goes on, with its true end', async () => {
    const stateDir = join(temporaryFolder(), 'state')
    const engine = await testEngine({ tier: 'plain', stateDir })
    const [seconds, gate] = [uniqueSeconds(), makeGate()]
    const started = await engine.start({ command: `echo up; ${gate.wait}; echo over; exit 6`, owner: 'detached' })
    const other = await engine.start({ command: `sleep ${seconds} & sleep ${seconds}`, owner: 'detached' })
    await engine.run({ command: `setsid sleep ${seconds}7 & true` })
    const began = performance.now()
    await engine.close()
    expect(performance.now() - began).toBeLessThan(3_500)
    expect(processesNamed(`${seconds}7`)).toEqual([])
    const next = await testEngine({ tier: 'plain', stateDir })
    const [job, doomed] = [await next.job(started.id), await next.job(other.id)]
    expect((await job.info()).status).toBe('running')
    gate.open()
    await job.wait({ exit: true, timeoutMs: 20_000 })
    expect(await job.info()).toMatchObject({ status: 'failed', exitCode: 6 })
    expect((await job.read()).text).toBe('up\nover\n')
    expect((await doomed.kill()).info.status).toBe('killed')
    expect(processesNamed(seconds)).toEqual([])
  })

  test('closing leaves nothing', async () => {
    const engine = await testEngine({ tier: 'plain' })
    const seconds = uniqueSeconds()
    await engine.run({ command: `setsid sleep ${seconds} & sleep ${seconds} & true` })
    await engine.close()
    expect(processesNamed(seconds)).toEqual([])
    expect(existsSync(join(engine.cwd, 'nothing'))).toBe(false)
  })
})

test('the lower tier bounds what a job stores, with the exact count of what is missing', async () => {
  const engine = await testEngine({ tier: 'plain' })
  const job = await engine.start({ command: 'seq 1 300000', maxStoredBytes: 400_000, streams: 'merged' })
  await job.wait({ exit: true, timeoutMs: 20_000 })
  const { bytes } = await job.info()
  expect(bytes.total).toBe(1_988_895)
  const first = await job.read({ maxBytes: 100 })
  expect(first.text.startsWith('1\n2\n3\n')).toBe(true)
  const last = await job.read({ since: bytes.total - 14 })
  expect(last.text).toBe('299999\n300000\n')
  expect(bytes.omitted).toBeGreaterThan(1_000_000)
})
