import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ESCAPES } from '../../fixtures/escapes.js'
import { makeGate } from '../../fixtures/gate.js'
import { processesNamed, temporaryFolder, testEngine, uniqueSeconds, until } from '../harness.js'

describe('a timeout', () => {
  test.each(ESCAPES)('%s ends %s', async (_, __, escape) => {
    const engine = await testEngine()
    const seconds = uniqueSeconds()
    const outcome = await engine.run({
      command: `echo started; ${escape(seconds)}\nsleep ${seconds}9`,
      timeoutMs: 1_000,
      graceMs: 300,
    })
    expect(outcome).toMatchObject({ status: 'timeout', exitCode: null, stdout: 'started\n' })
    expect(processesNamed(seconds)).toEqual([])
  })

  test('EXEC-06 says how long it waited and gives the partial output back', async () => {
    const engine = await testEngine()
    const outcome = await engine.run({ command: 'echo before; sleep 60; echo after', timeoutMs: 1_000 })
    expect(outcome.end).toEqual({ kind: 'timeout', afterMs: 1_000, forced: false })
    expect(outcome.stdout).toBe('before\n')
  })

  test('EXEC-04 a command within its timeout is not touched', async () => {
    const engine = await testEngine()
    expect(await engine.run({ command: 'sleep 0.3 && echo done', timeoutMs: 20_000 })).toMatchObject({
      status: 'completed',
      stdout: 'done\n',
    })
  })

  test('EXEC-03 the default is 120 s, and null means none', async () => {
    const engine = await testEngine()
    expect((await engine.plan({ command: 'true' })).timeoutMs).toBe(120_000)
    expect((await engine.plan({ command: 'true', timeoutMs: null })).timeoutMs).toBeNull()
  })

  test('F07 a TERM handler gets its grace', async () => {
    const engine = await testEngine()
    const outcome = await engine.run({
      command: "trap 'echo cleaned >f; exit 0' TERM; sleep 60 & wait",
      timeoutMs: 1_000,
      graceMs: 10_000,
    })
    expect(outcome.end).toEqual({ kind: 'timeout', afterMs: 1_000, forced: false })
    expect(existsSync(join(engine.cwd, 'f'))).toBe(true)
  })

  test('F08 returns when the last process is gone, not after the whole grace', async () => {
    const engine = await testEngine()
    const outcome = await engine.run({
      command: "trap 'exit 0' TERM; sleep 60 & wait",
      timeoutMs: 100,
      graceMs: 60_000,
    })
    expect(outcome.durationMs).toBeLessThan(20_000)
  })

  test('F06 what ignores TERM is killed after the grace, and that is said', async () => {
    const engine = await testEngine()
    const outcome = await engine.run({ command: "trap '' TERM; sleep 60", timeoutMs: 1_000, graceMs: 200 })
    expect(outcome.end).toEqual({ kind: 'timeout', afterMs: 1_000, forced: true })
  })

  test('F66 a stopped host does not fire its timeouts twice or lose output', async () => {
    const engine = await testEngine()
    const running = engine.run({ command: 'echo first; sleep 0.2; echo second', timeoutMs: 60_000 })
    // The event loop stands still while the command goes on.
    const until = performance.now() + 500
    while (performance.now() < until);
    expect(await running).toMatchObject({ status: 'completed', stdout: 'first\nsecond\n' })
  })

  test('F65 a jump of the wall clock changes neither timeouts nor durations', async () => {
    const engine = await testEngine()
    const real = Date.now
    try {
      const running = engine.run({ command: 'sleep 0.2; echo ok', timeoutMs: 30_000 })
      Date.now = () => real() - 3_600_000
      const outcome = await running
      expect(outcome).toMatchObject({ status: 'completed', stdout: 'ok\n' })
      expect(outcome.durationMs).toBeGreaterThanOrEqual(0)
      expect(outcome.durationMs).toBeLessThan(30_000)
    } finally {
      Date.now = real
    }
  })
})

describe('cancellation', () => {
  test('EXEC-07 an abort ends the whole group and gives the partial output back', async () => {
    const engine = await testEngine()
    const seconds = uniqueSeconds()
    const controller = new AbortController()
    const outcome = await engine.run({
      command: `echo up; sleep ${seconds} & setsid sleep ${seconds} & wait`,
      signal: controller.signal,
      onOutput: () => controller.abort(),
    })
    expect(outcome).toMatchObject({
      status: 'killed',
      end: { kind: 'kill', forced: false, by: 'caller' },
      stdout: 'up\n',
    })
    expect(processesNamed(seconds)).toEqual([])
  })

  test('a command that is killed in the moment of its call never begins', async () => {
    const engine = await testEngine()
    for (let i = 0; i < 5; i++) {
      const handle = engine.stream({ command: 'touch ran' })
      handle.kill()
      expect(await handle.outcome).toMatchObject({ status: 'killed', pid: null })
    }
    expect(existsSync(join(engine.cwd, 'ran'))).toBe(false)
  })

  test('a signal that is already aborted starts nothing', async () => {
    const engine = await testEngine()
    const outcome = await engine.run({ command: 'touch ran', signal: AbortSignal.abort() })
    expect(outcome.status).toBe('killed')
    expect(existsSync(join(engine.cwd, 'ran'))).toBe(false)
  })

  test('EXEC-07 interrupt is what Ctrl-C does', async () => {
    const engine = await testEngine()
    const handle = engine.stream({ command: "trap 'echo caught; exit 7' INT; echo up; sleep 60 & wait" })
    for await (const chunk of handle) if (chunk.text.includes('up')) handle.interrupt()
    expect(await handle.outcome).toMatchObject({ exitCode: 7, stdout: 'up\ncaught\n' })
  })

  test('F15 a kill in the same tick as the start leaves nothing behind', async () => {
    const engine = await testEngine()
    const seconds = uniqueSeconds()
    const handle = engine.stream({ command: `sleep ${seconds}` })
    handle.kill()
    expect((await handle.outcome).status).toBe('killed')
    expect(processesNamed(seconds)).toEqual([])
  })
})

describe('settling', () => {
  test('F16 F18 a background child does not hold the result, and is named', async () => {
    const engine = await testEngine()
    const seconds = uniqueSeconds()
    const outcome = await engine.run({ command: `sleep ${seconds} & echo hi` })
    expect(outcome).toMatchObject({ status: 'completed', stdout: 'hi\n' })
    expect(outcome.durationMs).toBeLessThan(10_000)
    expect(outcome.notes.map(({ text }) => text).join()).toContain(seconds)
    expect(outcome.notes.map(({ text }) => text).join()).toContain('holds the output')
    await engine.close()
    expect(processesNamed(seconds)).toEqual([])
  })

  test('F17 a silent holder in a new session does not hold it either', async () => {
    const engine = await testEngine()
    const outcome = await engine.run({ command: `setsid sleep ${uniqueSeconds()} & echo hi` })
    expect(outcome).toMatchObject({ status: 'completed', stdout: 'hi\n' })
    expect(outcome.durationMs).toBeLessThan(10_000)
  })

  test('F18 output that comes later never shows up in another run', async () => {
    const engine = await testEngine()
    const gate = makeGate()
    const first = await engine.run({ command: `(${gate.wait}; echo late; echo said >told) & echo now` })
    expect(first.stdout).toBe('now\n')
    gate.open()
    const second = await engine.run({ command: 'while [ ! -e told ]; do sleep 0.02; done; echo second' })
    expect(second.stdout).toBe('second\n')
  })
})

describe('closing an engine', () => {
  test('MGR-04 nothing it started is left, however it tried to leave', async () => {
    const engine = await testEngine()
    const seconds = uniqueSeconds()
    await Promise.all(ESCAPES.map(([, , escape]) => engine.run({ command: `${escape(seconds)}\ntrue` })))
    const session = await engine.session()
    await session.run({ command: `sleep ${seconds} & setsid sleep ${seconds} &` })
    // Both of the session and one of each escape, except the stopped one: the kernel hangs up a stopped group whose
    // shell is gone.
    await until(() => processesNamed(seconds).length >= ESCAPES.length + 1, 'everything being started')
    await engine.close()
    expect(processesNamed(seconds)).toEqual([])
  })

  test('a running command is ended and says so', async () => {
    const engine = await testEngine()
    const handle = engine.stream({ command: 'echo up; sleep 60' })
    for await (const chunk of handle) if (chunk.text.includes('up')) void engine.close()
    expect((await handle.outcome).end).toEqual({ kind: 'kill', forced: false, by: 'close' })
    await expect(engine.run({ command: 'true' })).rejects.toThrow('closed')
  })

  test('F15 a command that is being started when the engine closes is ended by the close or never started, at every moment of its start', async () => {
    for (let turns = 0; turns < 12; turns++) {
      const engine = await testEngine()
      const seconds = uniqueSeconds()
      const outcome = engine.run({ command: `echo up; sleep ${seconds}` }).catch((error: unknown) => error)
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
      await engine.close()
      const ended = await outcome
      if (ended instanceof Error) expect(ended).toMatchObject({ code: 'CLOSED' })
      else expect(ended).toMatchObject({ status: 'killed', end: { kind: 'kill', by: 'close' } })
      expect(processesNamed(seconds)).toEqual([])
    }
  })

  test('F59 a thousand short commands leave no zombie', async () => {
    const engine = await testEngine()
    for (let at = 0; at < 50; at++)
      await Promise.all(Array.from({ length: 20 }, () => engine.run({ command: '(true &) ; true' })))
    const { allProcesses } = await import('../../../src/os/process/proc.js')
    const mine = new Set([process.pid])
    const all = allProcesses()
    for (let grew = true; grew;) {
      grew = false
      for (const one of all) if (mine.has(one.parent) && !mine.has(one.pid)) grew = Boolean(mine.add(one.pid))
    }
    await until(
      () => allProcesses().every(({ pid, parent, state }) => state !== 'Z' || !(mine.has(pid) || mine.has(parent))),
      'every zombie being reaped',
    )
  })

  test('F69 state is private whatever the umask', async () => {
    const before = process.umask(0)
    try {
      const stateDir = join(temporaryFolder(), 'state')
      const engine = await testEngine({ stateDir })
      const outcome = await engine.run({ command: 'seq 1 20000' })
      expect(statSync(stateDir).mode & 0o777).toBe(0o700)
      expect(statSync(outcome.outputFile as string).mode & 0o777).toBe(0o600)
    } finally {
      process.umask(before)
    }
  })
})

describe('races', () => {
  test('F79 start, read and kill in random order: every run settles once, nothing is left', async () => {
    const engine = await testEngine()
    const seconds = uniqueSeconds()
    let seed = 42
    const random = (): number => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648
    const outcomes = await Promise.all(
      Array.from({ length: 120 }, async () => {
        const handle = engine.stream({
          command: random() < 0.5 ? `echo a; sleep ${seconds}` : 'echo b; exit 3',
          timeoutMs: 15_000,
          graceMs: 200,
        })
        await new Promise((resolve) => setTimeout(resolve, random() * 60))
        if (random() < 0.5) handle.interrupt()
        await new Promise((resolve) => setTimeout(resolve, random() * 30))
        handle.kill()
        return handle.outcome
      }),
    )
    expect(outcomes.every(({ status }) => ['completed', 'failed', 'killed'].includes(status))).toBe(true)
    expect(processesNamed(seconds)).toEqual([])
  })

  test('F58 a hundred commands at once all finish with their own output', async () => {
    const engine = await testEngine()
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, index) => engine.run({ command: `sleep 0.2; echo ${index}` })),
    )
    expect(outcomes.map(({ stdout }) => stdout)).toEqual(outcomes.map((_, index) => `${index}\n`))
  })
})
