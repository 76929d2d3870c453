/**
 * A caller's ask function that fails, or answers with something that is no answer: nothing runs, and the reason is that
 * one.
 */
import { expect, test } from 'vitest'
import type { AskFunction } from '../../../src/contract/request.js'
import { testEngine } from '../harness.js'

const POLICY = { policy: { rules: [{ name: 'ask-touch', decision: 'ask', commands: ['touch *'] }] } } as const

test.each<[string, unknown, string]>([
  ['throws', () => { throw new Error('the dialog is gone') }, 'The ask function failed: the dialog is gone.'],
  ['rejects', () => Promise.reject(new Error('no network')), 'The ask function failed: no network.'],
  ['rejects with a text', () => Promise.reject('closed'), 'The ask function failed: "closed".'],
  ["answers 'yes'", () => 'yes', 'The ask function answered "yes", which is none of once, session, deny and null.'],
  ['answers true', async () => true, 'The ask function answered true'],
  ['answers nothing', async () => {}, 'The ask function answered undefined'],
])('one that %s', async (_, ask, said) => {
  const engine = await testEngine({ ...POLICY, ask: ask as AskFunction })
  const session = await engine.session()
  for (const run of [engine, session]) {
    const outcome = await run.run({ command: 'touch made; echo made' })
    expect(outcome).toMatchObject({ status: 'refused', stdout: '' })
    expect(outcome.refused?.reason).toContain(said)
    expect(outcome.refused?.reason).not.toContain('Nobody could be asked')
  }
  await expect(engine.start({ command: 'touch made' })).rejects.toMatchObject({
    code: 'REFUSED',
    message: expect.stringContaining(said),
  })
}) // prettier-ignore

test('an answer is an answer', async () => {
  const engine = await testEngine({ ...POLICY, ask: async () => 'once' })
  expect((await engine.run({ command: 'touch made' })).status).toBe('completed')
})

test('nobody is asked about a call that is called off in its own moment, and nobody waits for an answer', async () => {
  const asked: string[] = []
  const ask: AskFunction = async ({ command }) => {
    asked.push(command)
    return null
  }
  const engine = await testEngine({ ...POLICY, ask, approvalWaitMs: 60_000 })
  const session = await engine.session()
  const calls = [
    (signal: AbortSignal) => engine.run({ command: 'touch made', signal }),
    (signal: AbortSignal) => session.run({ command: 'touch made', signal }),
    (signal: AbortSignal) => engine.start({ command: 'touch made', signal }).catch((error: Error) => error),
  ]
  for (const call of calls) {
    const stop = new AbortController()
    const ending = call(stop.signal)
    stop.abort()
    expect(JSON.stringify(await ending, ['status', 'code'])).toMatch(/killed|REFUSED/)
  }
  expect(asked).toEqual([])
})
