/**
 * A command can open the input of the server that runs it (`/proc/PID/fd/0`, where the host made a pipe) and write
 * answers there. They are known by the number of the question, which nobody but the client was told.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createEngine } from '../../../src/index.js'
import { createMcpServer } from '../../../src/mcp/index.js'
import { scratch } from '../harness.js'

const place = scratch()
const engine = await createEngine({
  cwd: place.dir,
  stateDir: join(place.dir, 'state'),
  policy: { rules: [{ decision: 'ask', commands: ['touch *'] }] },
})
afterAll(async () => {
  await engine.close()
})

interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly result?: { readonly structuredContent?: { readonly status?: string } }
}

test('a question that the server asks its client has a number that cannot be guessed', async () => {
  const server = await createMcpServer(engine)
  const sent: Message[] = []
  let wake = (): void => {}
  const transport = {
    start: async () => {},
    close: async () => {},
    send: async (message: unknown) => {
      sent.push(message as Message)
      wake()
    },
    onmessage: undefined as ((message: unknown) => void) | undefined,
  }
  const comes = async (is: (message: Message) => boolean): Promise<Message> => {
    for (;;) {
      const found = sent.find(is)
      if (found) return found
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }
  await server.connect(transport as never)
  const tell = (message: object): void => transport.onmessage?.({ jsonrpc: '2.0', ...message })
  const clientInfo = { name: 'host', version: '1' }
  tell({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: { elicitation: {} }, clientInfo },
  })
  await comes(({ id }) => id === 1)
  tell({ method: 'notifications/initialized' })
  const numbers: number[] = []
  for (const round of [2, 3]) {
    const made = join(place.dir, `made-${round}`)
    tell({ id: round, method: 'tools/call', params: { name: 'Bash', arguments: { command: `touch ${made}` } } })
    const question = await comes(({ id, method }) => method === 'elicitation/create' && !numbers.includes(id as number))
    const yes = { action: 'accept', content: { decision: 'allow once' } }
    for (let id = 0; id < 1_000; id++) tell({ id, result: yes })
    for (const before of numbers) tell({ id: before + 1, result: yes })
    tell({ id: question.id, result: { action: 'accept', content: { decision: 'deny' } } })
    const answer = await comes(({ id, method }) => id === round && method === undefined)
    expect(answer.result?.structuredContent?.status).toBe('refused')
    expect(existsSync(made)).toBe(false)
    numbers.push(question.id as number)
  }
  await server.close()
})
