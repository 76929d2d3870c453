/** A retried request does not run its command twice. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { Retries } from '../../../src/mcp/call/retries.js'
import { http, scratch, structuredOf, type Connected, type HttpServerProcess } from '../harness.js'
import { until } from '../../fixtures/until.js'

const never = new AbortController().signal
const plain = { signal: never, returnMs: 0, isFinal: () => true }

describe('the ledger', () => {
  test('the same key gives the first answer, at the same time and later', async () => {
    const retries = new Retries<number>()
    let runs = 0
    const run = async (): Promise<number> => ++runs
    expect(await Promise.all([retries.once('k', 'a', run, plain), retries.once('k', 'a', run, plain)])).toEqual([1, 1])
    expect(await retries.once('k', 'a', run, plain)).toBe(1)
    expect(await retries.once('other', 'a', run, plain)).toBe(2)
  })

  test('the same key for another command is an error', async () => {
    const retries = new Retries<number>()
    await retries.once('k', 'a', async () => 1, plain)
    await expect(retries.once('k', 'b', async () => 2, plain)).rejects.toThrow(/used for another call/)
    await expect(retries.once('k'.repeat(500), 'b', async () => 2, plain)).rejects.toThrow(/longer than/)
  })

  test('a failure and a step on the way are not remembered', async () => {
    const retries = new Retries<string>()
    await expect(retries.once('k', 'a', () => Promise.reject(new Error('no')), plain)).rejects.toThrow('no')
    expect(
      await retries.once('k', 'a', async () => 'question', { ...plain, isFinal: (answer) => answer !== 'question' }),
    ).toBe('question')
    expect(await retries.once('k', 'a', async () => 'done', plain)).toBe('done')
  })

  test('the command is stopped when the last who waits has left, not before', async () => {
    const retries = new Retries<string>()
    const [first, second] = [new AbortController(), new AbortController()]
    const run = (signal: AbortSignal): Promise<string> =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve('stopped')))
    const answers = [
      retries.once('k', 'a', run, { ...plain, signal: first.signal }),
      retries.once('k', 'a', run, { ...plain, signal: second.signal }),
    ]
    first.abort()
    expect(await Promise.race([answers[1], new Promise((resolve) => setTimeout(resolve, 30, 'still running'))])).toBe(
      'still running',
    )
    second.abort()
    expect(await Promise.all(answers)).toEqual(['stopped', 'stopped'])
  })

  test('a client that comes back in time keeps the command alive', async () => {
    vi.useFakeTimers()
    const retries = new Retries<string>()
    const gone = new AbortController()
    let finish!: (value: string) => void
    let stopped = false
    const run = (signal: AbortSignal): Promise<string> => {
      signal.addEventListener('abort', () => (stopped = true))
      return new Promise((resolve) => (finish = resolve))
    }
    const dropped = retries.once('k', 'a', run, { ...plain, signal: gone.signal, returnMs: 60 })
    gone.abort()
    const back = retries.once('k', 'a', run, { ...plain, returnMs: 60 })
    await vi.advanceTimersByTimeAsync(120)
    expect(stopped).toBe(false)
    vi.useRealTimers()
    finish('done')
    expect(await Promise.all([dropped, back])).toEqual(['done', 'done'])
  })

  test('it does not keep more than fits, however large the answers are', async () => {
    const retries = new Retries<string>()
    const large = 'x'.repeat(3 * 1_048_576)
    for (let at = 0; at < 14; at++) await retries.once(`k${at}`, 'a', async () => large, plain)
    expect((await retries.once('k13', 'a', async () => 'again', plain)).length).toBe(large.length)
    expect(await retries.once('k0', 'a', async () => 'again', plain)).toBe('again')
  })

  test('it forgets the oldest when there are too many', async () => {
    const retries = new Retries<number>()
    for (let at = 0; at < 600; at++) await retries.once(`k${at}`, 'a', async () => at, plain)
    expect(await retries.once('k599', 'a', async () => -1, plain)).toBe(599)
    expect(await retries.once('k0', 'a', async () => -1, plain)).toBe(-1)
  })
})

describe('over the wire', () => {
  const place = scratch()
  let server: HttpServerProcess
  let host: Connected
  beforeAll(async () => {
    server = await http(place.dir)
    host = await server.connect('modern')
  })

  test('two requests with one key in _meta run one command', async () => {
    const count = join(place.dir, 'count')
    const request = {
      name: 'Bash',
      arguments: { command: `echo x >> ${count}` },
      _meta: { 'cerith/idempotency-key': 'abc' },
    }
    const answers = await Promise.all([host.client.callTool(request), host.client.callTool(request)])
    answers.push(await host.client.callTool(request))
    expect(answers.map((answer) => structuredOf(answer as never)['status'])).toEqual([
      'completed',
      'completed',
      'completed',
    ])
    expect(readFileSync(count, 'utf8')).toBe('x\n')
    await expect(host.client.callTool({ ...request, arguments: { command: 'true' } })).rejects.toThrow(/another call/)
  })

  test('a stream that breaks does not end a command that comes back for its answer', async () => {
    const count = join(place.dir, 'dropped')
    const request = {
      name: 'Bash',
      arguments: { command: `echo x >> ${count}; sleep 1; echo done` },
      _meta: { 'cerith/idempotency-key': 'dropped' },
    }
    const broken = new AbortController()
    const first = expect(host.client.callTool(request, { signal: broken.signal })).rejects.toThrow()
    await until(() => existsSync(count))
    broken.abort()
    await first
    expect(structuredOf((await host.client.callTool(request)) as never)).toMatchObject({
      status: 'completed',
      stdout: 'done\n',
    })
    expect(readFileSync(count, 'utf8')).toBe('x\n')
  })
})
