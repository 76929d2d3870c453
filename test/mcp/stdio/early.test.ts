/** The first answers of a server come before its engine and the SDK are loaded, and are the same as later ones. */
import { spawn, spawnSync } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { DIALECTS } from '../../../src/tools/index.js'
import { temporaryFolder } from '../../fixtures/folder.js'

const program = fileURLToPath(new URL('../../../dist/cli.cjs', import.meta.url))
let home: string
beforeAll(() => void (home = temporaryFolder('early')))

interface Answer {
  readonly id: number
  readonly result: Record<string, unknown>
}

function startServer(...flags: readonly string[]) {
  const env = { ...process.env, CERITH_HOME: home }
  const server = spawn(process.execPath, [program, 'mcp', ...flags], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const answers: Answer[] = []
  const waiting = new Map<number, (answer: Answer) => void>()
  createInterface({ input: server.stdout }).on('line', (line) => {
    const answer = JSON.parse(line) as Answer
    answers.push(answer)
    waiting.get(answer.id)?.(answer)
  })
  const ended = new Promise<number | null>((resolve) => server.on('exit', resolve))
  const tell = (message: object): unknown => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const ask = (id: number, method: string, params?: object): Promise<Record<string, unknown>> =>
    new Promise((resolve) => {
      waiting.set(id, ({ result }) => resolve(result))
      tell({ id, method, params })
    })
  return { answers, ask, tell, server, ended }
}

const hello = (protocolVersion: string) => ({
  protocolVersion,
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
})

test.each(Object.keys(DIALECTS))('the early answers of %s are those that the SDK gives later', async (dialect) => {
  const { answers, ask, tell, server, ended } = startServer('--dialect', dialect)
  const first = await ask(1, 'initialize', hello('2025-06-18'))
  tell({ method: 'notifications/initialized' })
  const early = await ask(2, 'tools/list')
  // The engine and the SDK are there when this is answered.
  await ask(3, 'resources/list')
  expect(await ask(4, 'tools/list')).toEqual(early)
  expect(answers.filter(({ id }) => id === 1)).toHaveLength(1)
  server.stdin.end()
  expect(await ended).toBe(0)

  // A version that the early answers do not know is negotiated by the SDK.
  const other = startServer('--dialect', dialect)
  const { protocolVersion: _, ...late } = await other.ask(1, 'initialize', hello('2099-01-01'))
  const { protocolVersion, ...rest } = first
  expect(protocolVersion).toBe('2025-06-18')
  expect(rest).toEqual(late)
  other.server.stdin.end()
  expect(await other.ended).toBe(0)
})

test('calls that come before the engine is there are answered in their order', async () => {
  const { ask, tell, server, ended } = startServer()
  const all = [
    ask(1, 'initialize', hello('2025-11-25')),
    ask(2, 'ping'),
    ask(3, 'tools/call', { name: 'Bash', arguments: { command: 'x=1; echo one' } }),
    ask(4, 'tools/list'),
    ask(5, 'tools/call', { name: 'Bash', arguments: { command: 'echo two $x' } }),
  ]
  tell({ method: 'notifications/initialized' })
  const [, pong, one, list, two] = await Promise.all(all)
  expect(pong).toEqual({})
  expect(JSON.stringify(one)).toContain('one')
  expect((list as { tools: unknown[] }).tools.length).toBeGreaterThan(0)
  expect(JSON.stringify(two)).toContain('two 1')
  server.stdin.end()
  expect(await ended).toBe(0)
})

test('a client that asks everything at once and closes its side has its answers', async () => {
  const { answers, ask, server, ended } = startServer()
  void ask(1, 'initialize', hello('2025-06-18'))
  void ask(2, 'tools/list')
  server.stdin.end()
  expect(await ended).toBe(0)
  expect(answers.map(({ id }) => id)).toEqual([1, 2])
})

test('a client that leaves before the engine is there ends the server', async () => {
  const { ask, server, ended } = startServer()
  await ask(1, 'initialize', hello('2025-06-18'))
  server.stdin.end()
  expect(await ended).toBe(0)
})

test('the names of secrets are told from the first answer on, and are the same later', async () => {
  const env = { ...process.env, CERITH_HOME: home }
  spawnSync(process.execPath, [program, 'secret', 'key'], { env })
  const input = 'a value nobody sees'
  expect(spawnSync(process.execPath, [program, 'secret', 'set', 'DEPLOY'], { env, input }).status).toBe(0)
  const { ask, tell, server, ended } = startServer()
  expect(await ask(1, 'initialize', hello('2025-06-18'))).toMatchObject({
    instructions: expect.stringContaining('Names: DEPLOY.') as string,
  })
  tell({ method: 'notifications/initialized' })
  const early = await ask(2, 'tools/list')
  expect(JSON.stringify(early)).toContain('Names: DEPLOY.')
  await ask(3, 'resources/list')
  expect(await ask(4, 'tools/list')).toEqual(early)
  server.stdin.end()
  expect(await ended).toBe(0)
})
