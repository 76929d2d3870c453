/** Which requests a session may answer by giving a command again: a field that is not known to be harmless is looked at in full. */
import { expect, test } from 'vitest'
import type { RunRequest } from '../../../src/contract/request.js'
import { asksForNothingSpecial } from '../../../src/engine/session/call/quick.js'
import { createTools } from '../../../src/tools/index.js'
import { testEngine } from '../harness.js'

test('what a tool call asks for is nothing special', async () => {
  const engine = await testEngine()
  const session = await engine.session('main')
  const seen: RunRequest[] = []
  const watched = new Proxy(session, {
    get(of, name) {
      if (name === 'run') return (request: RunRequest) => (seen.push(request), of.run(request))
      const value: unknown = Reflect.get(of, name, of)
      return typeof value === 'function' ? (value.bind(of) as unknown) : value
    },
  })
  const tools = createTools({ ...engine, session: () => Promise.resolve(watched) }, { dialect: 'house' })
  await tools.execute('Bash', { command: ':' }, { ask: () => Promise.resolve('deny' as const), approvalWaitMs: 10 })
  expect(seen.map((request) => [request.command, asksForNothingSpecial(request)])).toEqual([[':', true]])
})

test.each<[Partial<RunRequest>, boolean]>([
  [{}, true],
  [{ streams: 'separate', pty: false, dryRun: false }, true],
  [{ signal: new AbortController().signal }, true],
  [{ signal: AbortSignal.abort() }, false],
  [{ streams: 'merged' }, false],
  [{ pty: true }, false],
  [{ dryRun: true }, false],
  [{ env: { A: '1' } }, false],
  [{ input: 'x' }, false],
  [{ sandbox: { profile: 'strict' } }, false],
  [{ outside: 'because' }, false],
])('%j', (request, plain) => {
  expect(asksForNothingSpecial({ command: ':', ...request })).toBe(plain)
})
