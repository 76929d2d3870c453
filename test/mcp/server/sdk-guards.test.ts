/** What the SDK is spared must not change what it says. */
import {
  InMemoryTransport,
  RELATED_TASK_META_KEY,
  specTypeSchemas,
  type JSONRPCMessage,
} from '@modelcontextprotocol/server'
import { describe, expect, test } from 'vitest'
import { quickenGuards, SIGHTS } from '../../../src/mcp/server/sdk-guards.js'
import { ToolServer } from '../../../src/mcp/server/short-way.js'

const ids: unknown[] = [undefined, 1, 0, -1, 'a', '', 1.5, null, true, 2 ** 53, {}]
const params: unknown[] = [
  undefined,
  {},
  { a: 1 },
  [],
  null,
  'x',
  { _meta: {} },
  { _meta: null },
  { _meta: [] },
  { _meta: { progressToken: 1, x: null } },
  { _meta: { progressToken: null } },
  { _meta: { progressToken: 1.5 } },
  { _meta: { [RELATED_TASK_META_KEY]: { taskId: 't' } } },
  { _meta: { [RELATED_TASK_META_KEY]: 1 } },
]
const results: unknown[] = [
  undefined,
  {},
  null,
  [],
  'x',
  { a: 1 },
  { _meta: {} },
  { _meta: 1 },
  { _meta: { 'io.modelcontextprotocol/serverInfo': 1 } },
]

const messages: Record<string, unknown>[] = []
for (const head of [{}, { jsonrpc: '2.0' }, { jsonrpc: '1.0' }, { jsonrpc: '2.0', more: 1 }]) {
  for (const id of ids) {
    const start = { ...head, ...(id === undefined ? {} : { id }) }
    for (const method of ['m', 1])
      for (const each of params) messages.push({ ...start, method, ...(each === undefined ? {} : { params: each }) })
    for (const each of results) messages.push({ ...start, ...(each === undefined ? {} : { result: each }) })
    for (const error of [{}, { code: 1, message: 'm' }, { code: 1.5, message: 'm' }, null])
      messages.push({ ...start, error }, { ...start, error, result: {} })
  }
}

describe.each(Object.keys(SIGHTS) as (keyof typeof SIGHTS)[])('%s', (name) => {
  const saysTheSchema = (value: unknown): boolean =>
    (specTypeSchemas[name]['~standard'].validate(value) as { issues?: unknown }).issues === undefined

  test('at sight is what the schema says, or nothing', () => {
    const wrong = messages.filter((message) => ![null, saysTheSchema(message)].includes(SIGHTS[name](message)))
    expect(wrong).toEqual([])
  })

  test('the guard says the same as before, also to what is no object', () => {
    quickenGuards()
    const guard = specTypeSchemas[name] as unknown as { safeParse(value: unknown): { success: boolean } }
    const wrong = [...messages, null, undefined, 1, 'x', []].filter(
      (message) => guard.safeParse(message).success !== saysTheSchema(message),
    )
    expect(wrong).toEqual([])
  })
})

test('a plain message is known at sight', () => {
  expect(
    SIGHTS.JSONRPCRequest({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'Bash', arguments: {}, _meta: { progressToken: 1 } },
    }),
  ).toBe(true)
  expect(SIGHTS.JSONRPCResultResponse({ jsonrpc: '2.0', id: 1, result: { content: [] } })).toBe(true)
})

describe.each([true, false])('a server whose calls go directly: %s', (direct) => {
  async function answerTo(given: object): Promise<{ result?: unknown; error?: { code: number; message: string } }> {
    const [ours, theirs] = InMemoryTransport.createLinkedPair()
    const server = new ToolServer({ capabilities: { tools: {} } })
    server.serveCalls(async (call) => ({ content: [{ type: 'text', text: JSON.stringify(call.arguments) }] }), {
      direct,
    })
    await server.connect(ours)
    const answer = new Promise<JSONRPCMessage>((resolve) => (theirs.onmessage = resolve))
    await theirs.start()
    await theirs.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: given } as JSONRPCMessage)
    const got = await answer
    await server.close()
    return got as never
  }

  test('answers', async () => {
    expect(await answerTo({ name: 'Bash', arguments: { command: ':' }, _meta: { progressToken: 1 } })).toMatchObject({
      result: { content: [{ type: 'text', text: '{"command":":"}' }] },
    })
  })

  test.each([
    [{}],
    [{ name: 1 }],
    [{ name: 'Bash', arguments: [] }],
    [{ name: 'Bash', arguments: 'x' }],
    [{ name: 'Bash', task: 1 }],
  ])('%j gets the error of the SDK', async (given) => {
    const { error } = await answerTo(given)
    expect(error?.code).toBe(-32_602)
    expect(error?.message).toMatch(/^Invalid tools\/call request/)
  })
})

test('a handler that an embedder puts in the place of ours is the one that answers', async () => {
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  const server = new ToolServer({ capabilities: { tools: {} } })
  server.serveCalls(async () => ({ content: [{ type: 'text', text: 'ours' }] }), { direct: true })
  server.setRequestHandler('tools/call', () => ({ content: [{ type: 'text', text: 'theirs' }] }))
  await server.connect(ours)
  const answer = new Promise<JSONRPCMessage>((resolve) => (theirs.onmessage = resolve))
  await theirs.start()
  await theirs.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'Bash', arguments: {} } })
  expect(await answer).toMatchObject({ result: { content: [{ text: 'theirs' }] } })
  await server.close()
})
