/** What a caller withdraws or leaves at once, before anything else has happened, is withdrawn there as well. */
import { expect, test } from 'vitest'
import { linked, until } from './harness.js'

test('a signal that is aborted in the moment of the call ends the command', async () => {
  const { engine } = await linked()
  const session = await engine.session()
  for (const runner of [engine, session]) {
    const stop = new AbortController()
    const running = runner.run({ command: 'sleep 20', signal: stop.signal })
    stop.abort()
    expect((await running).status).toBe('killed')
  }
})

test('a start that is called off while a person thinks, or before, says so and not that nobody answered', async () => {
  const policy = { rules: [{ name: 'ask-touch', decision: 'ask', commands: ['touch *'] }] } as const
  let asked!: () => void
  const isAsked = new Promise<void>((resolve) => (asked = resolve))
  const { engine } = await linked({ policy, ask: () => new Promise(() => asked()) })
  for (const thinks of [false, true]) {
    const stop = new AbortController()
    const starting = engine.start({ command: 'touch x', signal: stop.signal })
    const said = expect(starting).rejects.toThrow('cancelled before it started')
    if (thinks) await isAsked
    stop.abort()
    await said
  }
})

test('a job whose events are left keeps no call open, however silent it is', async () => {
  let isHeld = true
  const { engine } = await linked({}, undefined, (link) => ({
    ...link,
    hold(isNeeded) {
      isHeld = isNeeded
      link.hold(isNeeded)
    },
  }))
  const job = await engine.start({ command: 'echo begun; sleep 60' })
  for await (const { kind } of job.events()) {
    expect(kind).toBe('output')
    break
  }
  await until(() => !isHeld, 'no call is open', 5_000)
  expect((await job.info()).isRunning).toBe(true)
})
