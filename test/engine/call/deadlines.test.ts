import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { RunRequest } from '../../../src/contract/request.js'
import { temporaryFolder, testEngine } from '../harness.js'

/**
 * Holds the event loop up, as a host does that computes something, until the command has ended and the deadline has
 * passed.
 */
function holdUpUntil(ended: () => boolean, ms: number): void {
  const began = performance.now()
  while ((!ended() || performance.now() - began < ms) && performance.now() - began < 30_000);
  // Its end still has to be told.
  for (const told = performance.now() + 1_000; performance.now() < told;);
}

test.each([
  ['a fresh run', false, {}],
  ['a session', true, {}],
  ['a terminal', false, { pty: true }],
] as const)(
  'EXEC-06 %s that ended while its host was busy past the deadline did not time out',
  async (_, inSession, more: Partial<RunRequest>) => {
    const engine = await testEngine()
    const place = inSession ? await engine.session() : engine
    if (inSession) await place.run({ command: ':' })
    const dir = temporaryFolder()
    const running = place.stream({
      command: `echo $$ >${dir}/began; sleep 0.2; echo in time; : >${dir}/ended`,
      timeoutMs: 3_000,
      ...more,
    })
    const shell = (): string => (existsSync(join(dir, 'began')) ? readFileSync(join(dir, 'began'), 'utf8').trim() : '')
    while (shell() === '') await new Promise((resolve) => setTimeout(resolve, 5))
    // Behind the part of a turn that reads pipes: the timers come next.
    await new Promise((resolve) => setImmediate(resolve))
    const pid = shell()
    holdUpUntil(() => existsSync(join(dir, 'ended')) && (inSession || !existsSync(`/proc/${pid}`)), 3_200)
    const outcome = await running.outcome
    expect(outcome.status).toBe('completed')
    expect(`${outcome.output ?? ''}${outcome.stdout}`).toContain('in time')
  },
)
