/** The small parts of the MCP door, each on its own. */
import { readFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ApprovalStates, formFor, replyOf } from '../../src/mcp/call/approvals.js'
import { VERSION } from '../../src/mcp/setup/identity.js'
import { LineTransport, mended } from '../../src/mcp/server/line-transport.js'
import { settingsOf } from '../../src/mcp/setup/options.js'
import { lastLine, reportProgress } from '../../src/mcp/call/progress.js'
import { toProtocol } from '../../src/mcp/call/results.js'
import type { ApprovalQuestion } from '../../src/contract/request.js'

test("the version is the package's", () => {
  expect(
    (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version,
  ).toBe(VERSION)
})

describe('the last line', () => {
  test.each([
    ['one\ntwo\n', 'two'],
    ['10%\r20%\r30%', '30%'],
    ['\u001b[31mred\u001b[0m\n\n  \n', 'red'],
    ['a\u0007b\tc', 'a b c'],
    ['', ''],
    ['\n\n', ''],
  ])('of %j is %j', (text, line) => expect(lastLine(text)).toBe(line))

  test('is cut when it is long', () => {
    expect(lastLine('x'.repeat(5_000)).length).toBe(200)
  })
})

describe('messages', () => {
  test.each([
    [
      'params null',
      { jsonrpc: '2.0', id: 1, method: 'tools/list', params: null },
      { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    ],
    [
      '_meta null',
      { jsonrpc: '2.0', id: 1, method: 'm', params: { a: 1, _meta: null } },
      { jsonrpc: '2.0', id: 1, method: 'm', params: { a: 1 } },
    ],
    [
      'a progress token that is none',
      { jsonrpc: '2.0', id: 1, method: 'm', params: { _meta: { progressToken: null, x: 1 } } },
      { jsonrpc: '2.0', id: 1, method: 'm', params: { _meta: { x: 1 } } },
    ],
  ])('%s is put right', (_what, given, mendedMessage) => expect(mended(given).message).toEqual(mendedMessage))

  test.each([
    [null],
    [[]],
    ['x'],
    [{}],
    [{ jsonrpc: '1.0', method: 'm' }],
    [{ jsonrpc: '2.0', id: 1 }],
    [{ jsonrpc: '2.0', id: null, method: 'm' }],
    [{ jsonrpc: '2.0', id: 1.5, method: 'm' }],
    [{ jsonrpc: '2.0', id: 1, method: 'm', params: [] }],
  ])('%j is none', (given) => {
    expect(mended(given).problem).toBeTypeOf('string')
  })

  test('are found however the bytes arrive, and a request that cannot be read is answered', async () => {
    const [input, output] = [new PassThrough(), new PassThrough()]
    const transport = new LineTransport(input, output)
    const seen: unknown[] = []
    transport.onmessage = (message) => seen.push(message)
    await transport.start()
    const text =
      '{"jsonrpc":"2.0","id":1,"method":"é😀"}\r\n\n[{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","method":"b"}]\nnot json\n{"jsonrpc":"2.0","id":"q","method":"m","params":[]}\n'
    for (const byte of Buffer.from(text)) input.write(Buffer.from([byte]))
    input.write(text)
    input.end()
    await new Promise<void>((resolve) => (transport.onclose = resolve))
    const once = [
      { jsonrpc: '2.0', id: 1, method: 'é😀' },
      { jsonrpc: '2.0', method: 'a' },
      { jsonrpc: '2.0', method: 'b' },
    ]
    expect(seen).toEqual([...once, ...once])
    expect(JSON.parse(String(output.read()).split('\n')[0]!)).toMatchObject({ id: 'q', error: { code: -32600 } })
    await expect(transport.send({ jsonrpc: '2.0', method: 'late' })).rejects.toThrow('closed')
  })
})

describe('progress', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('at most one per interval however much is printed, one per heartbeat when nothing is', () => {
    const sent: [number, string][] = []
    const progress = reportProgress((...one) => sent.push(one), { everyMs: 500, heartbeatMs: 10_000 })
    for (let at = 0; at < 100; at++) {
      progress.push(`line ${at}\n`)
      vi.advanceTimersByTime(20)
    }
    expect(sent.length).toBeGreaterThanOrEqual(4)
    expect(sent.length).toBeLessThanOrEqual(5)
    vi.advanceTimersByTime(500)
    const before = sent.length
    expect(sent.at(-1)![1]).toContain('line 99')
    vi.advanceTimersByTime(30_000)
    expect(sent.length - before).toBe(3)
    expect(sent.every(([value], at) => at === 0 || value > sent[at - 1]![0])).toBe(true)
    progress.stop()
    progress.push('late\n')
    vi.advanceTimersByTime(60_000)
    expect(sent.length - before).toBe(3)
  })
})

describe('results', () => {
  const settings = settingsOf({ maxResultBytes: 50_000 })
  const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

  test('what fits passes untouched', () => {
    const result = { text: 'a', structured: { status: 'completed', exit_code: 0 }, isError: false }
    expect(toProtocol(result, settings)).toEqual({
      content: [{ type: 'text', text: 'a' }],
      structuredContent: result.structured,
    })
  })

  test.each([
    ['control characters, six bytes each', '\u0001'.repeat(400_000)],
    ['surrogate pairs', '😀'.repeat(200_000)],
    ['quotes and backslashes', '"\\'.repeat(200_000)],
  ])('%s are bounded in both channels, and nothing is cut in half', (_what, output) => {
    const result = toProtocol(
      {
        text: `[exit 0]\n${output}`,
        structured: { status: 'completed', exit_code: 0, stdout: output, truncated: false },
        isError: false,
      },
      settings,
    )
    expect(bytes(result)).toBeLessThanOrEqual(50_000)
    expect(JSON.stringify(result)).not.toMatch(/\\ud83d(?!\\ude00)/i)
    expect(result.structuredContent).toMatchObject({ status: 'completed', exit_code: 0, truncated: true })
    expect((result.content[0] as { text: string }).text).toMatch(/^\[exit 0\][^]*omitted/)
  })

  test('a list of ten thousand shells keeps the newest and says how many are missing', () => {
    const shells = Array.from({ length: 10_000 }, (_, at) => ({ id: `shell_${at}`, command: 'x'.repeat(50) }))
    const result = toProtocol(
      { text: shells.map(({ id }) => id).join('\n'), structured: { shells }, isError: false },
      settings,
    )
    expect(bytes(result)).toBeLessThanOrEqual(50_000)
    const { shells: kept, shells_omitted: omitted } = result.structuredContent as {
      shells: { id: string }[]
      shells_omitted: number
    }
    expect(kept.at(-1)!.id).toBe('shell_9999')
    expect(kept.length + omitted).toBe(10_000)
  })
})

describe('approvals', () => {
  const question = {
    id: 'ask_1',
    command: 'touch x',
    cwd: '/srv',
    session: 'main',
    verdict: { reason: 'why' },
  } as unknown as ApprovalQuestion
  const call = ['Bash', { command: 'touch x' }]

  test('a state is good once, for its question, its call, its client, its server and its time', () => {
    const states = new ApprovalStates('a', 60_000)
    const sealed = states.seal(question, call)
    expect(states.open(sealed).use({ ...question, cwd: '/' }, call)).toBe(false)
    expect(states.open(sealed).use({ ...question, id: 'ask_2' }, call)).toBe(false)
    expect(states.open(sealed).use(question, ['Bash', { command: 'touch x', env: [] }])).toBe(false)
    expect(states.open(sealed).use(question, call)).toBe(true)
    expect(states.open(sealed).use(question, call)).toBe(false)
    expect(() => new ApprovalStates('a', 60_000).open(sealed)).toThrow()
    const short = new ApprovalStates('a', -1)
    expect(short.open(short.seal(question, call)).use(question, call)).toBe(false)
  })

  test.each([
    [{ action: 'accept', content: { decision: 'allow once' } }, 'once'],
    [{ action: 'accept', content: { decision: 'allow exactly this for the session' } }, 'session'],
    [{ action: 'accept', content: { decision: 'deny' } }, 'deny'],
    [{ action: 'accept', content: { decision: 'toString' } }, 'declined or cannot ask'],
    [{ action: 'accept' }, 'declined or cannot ask'],
    [{ action: 'decline' }, 'declined or cannot ask'],
    [{ action: 'cancel', content: { decision: 'allow once' } }, 'declined or cannot ask'],
    [null, 'declined or cannot ask'],
    ['accept', 'declined or cannot ask'],
  ])('%j means %j', (result, reply) => expect(replyOf(result)).toBe(reply))

  test('the form shows the command masked and not endlessly', () => {
    const { message } = formFor({ ...question, command: `echo hunter2 ${'x'.repeat(9_000)}` }, (text) =>
      text.replaceAll('hunter2', '***'),
    )
    expect(message).toContain('echo ***')
    expect(message).not.toContain('hunter2')
    expect(message.length).toBeLessThan(5_000)
    expect(message).toContain('9013 characters'.replace('9013', String('echo *** '.length + 9_000)))
  })
})
