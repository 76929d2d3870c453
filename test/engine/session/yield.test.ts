/** A session's command that takes too long becomes a job; the session does not wait for it. */
import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../fixtures/folder.js'
import { makeGate } from '../../fixtures/gate.js'
import { testEngine } from '../harness.js'

describe('a session that yields', () => {
  test('its command goes on as a job with every byte and its true exit code, and the session goes on at once with its state', async () => {
    const engine = await testEngine()
    const session = await engine.session()
    await session.run({ command: 'x=5; cd /tmp; f() { echo f; }' })
    const gate = makeGate()
    const command = `for i in 1 2 3 4 5 6 7 8; do echo line $i; echo err $i >&2; [ $i != 4 ] || { ${gate.wait}; }; done; exit 7`
    const outcome = await session.run({ command, yieldMs: 250 })
    expect(outcome.status).toBe('running')
    expect(outcome.notes.map(({ text }) => text).join(' ')).toContain('NOT killed')
    expect((await session.run({ command: 'echo $x $PWD; f' })).stdout).toBe('5 /tmp\nf\n')
    gate.open()
    const job = await engine.job(outcome.id as string)
    await job.wait({ exit: true, timeoutMs: 20_000 })
    expect(await job.info()).toMatchObject({ status: 'failed', exitCode: 7 })
    expect((await job.read()).text).toBe([1, 2, 3, 4, 5, 6, 7, 8].map((at) => `line ${at}\n`).join(''))
    expect((await job.read({ stream: 'stderr' })).text).toBe(
      [1, 2, 3, 4, 5, 6, 7, 8].map((at) => `err ${at}\n`).join(''),
    )
  })

  test('merged streams keep their order across the move', async () => {
    const engine = await testEngine()
    const session = await engine.session()
    const gate = makeGate()
    const outcome = await session.run({
      command: `for i in 1 2 3 4 5 6; do echo o$i; echo e$i >&2; [ $i != 3 ] || { ${gate.wait}; }; done`,
      streams: 'merged',
      yieldMs: 200,
    })
    gate.open()
    const job = await engine.job(outcome.id as string)
    await job.wait({ exit: true, timeoutMs: 20_000 })
    expect(await job.info()).toMatchObject({ status: 'completed', exitCode: 0 })
    expect((await job.read()).text).toBe([1, 2, 3, 4, 5, 6].map((at) => `o${at}\ne${at}\n`).join(''))
  })

  test.each(['sleep 1.2', 'x=1; sleep 1.2; (exit 3)'])(
    'what the shell says as it leaves is not the output of %s',
    async (command) => {
      const engine = await testEngine()
      const session = await engine.session()
      await session.run({ command })
      const outcome = await session.run({ command, yieldMs: 50 })
      const job = await engine.job(outcome.id as string)
      await job.wait({ exit: true, timeoutMs: 20_000 })
      expect(await job.info()).toMatchObject({ exitCode: command.includes('3)') ? 3 : 0 })
      expect((await job.read({ stream: 'stderr' })).text).toBe('')
    },
  )

  test('killing the job ends the shell and its command, not the session', async () => {
    const engine = await testEngine()
    const session = await engine.session()
    const outcome = await session.run({ command: 'y=1; sleep 600', yieldMs: 150 })
    const job = await engine.job(outcome.id as string)
    expect((await job.kill()).info.status).toBe('killed')
    expect((await session.run({ command: 'echo alive' })).stdout).toBe('alive\n')
  })

  test.each(
    (['auto', 'plain'] as const).flatMap((tier) =>
      ['sleep 600; touch late', 'uname; sleep 600 | cat; touch late', 'y=1; sleep 600; : >late'].map(
        (command) => [tier, command] as const,
      ),
    ),
  )('nothing of its list begins when the job is killed (%s): %s', async (tier, command) => {
    const cwd = temporaryFolder()
    const engine = await testEngine({ cwd, tier })
    const session = await engine.session()
    await session.run({ command: ':' })
    const job = await engine.job((await session.run({ command, yieldMs: 150 })).id as string)
    expect((await job.kill()).info).toMatchObject({ status: 'killed', end: { kind: 'kill', forced: false } })
    expect(readdirSync(cwd)).toEqual([])
  })
})
