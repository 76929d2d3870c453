/** Client libraries that people use, against a real server: what they hand to a model holds the facts. */
import { experimental_createMCPClient as createMCPClient } from '@ai-sdk/mcp'
import { Experimental_StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio'
import { getAllMcpTools, MCPServerStdio } from '@openai/agents'
import { randomInt } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { bundled } from './bundle.js'
import { processesWith, scratch, serverEnv } from './harness.js'
import { until } from '../fixtures/until.js'

const place = scratch()

const server = async (options: object = {}) => ({
  command: process.execPath,
  args: [await bundled('stdio'), JSON.stringify(options)],
  env: serverEnv(place.dir),
  cwd: place.dir,
})

/** The five things that a model must be able to tell apart from what it is shown. */
const SCENES = [
  { what: 'success', args: { command: 'echo good' }, facts: [/exit 0/, /good/] },
  { what: 'failure', args: { command: 'echo half; (exit 7)' }, facts: [/exit 7/, /half/] },
  { what: 'refusal', args: { command: 'rm -rf /' }, facts: [/blocked/i] },
  {
    what: 'timeout',
    args: { command: 'echo until; sleep 60', timeout: 1_500 },
    facts: [/timed out/, /1500ms/, /until/],
  },
  {
    what: 'yield',
    args: { command: 'echo begun; sleep 60', session: 'slow' },
    facts: [/NOT killed/, /shell_[0-9a-f]{8}/, /begun/],
  },
] as const

const yields = { yieldMs: 3_000 }

describe('AI SDK', () => {
  test('tools, and results of every kind', async () => {
    const client = await createMCPClient({ transport: new Experimental_StdioMCPTransport(await server(yields)) })
    try {
      const tools = await client.tools()
      expect(Object.keys(tools)).toContain('Bash')
      const call = { toolCallId: '1', messages: [] }
      for (const { what, args, facts } of SCENES) {
        const result = JSON.stringify(await tools['Bash']!.execute!(args, call as never))
        for (const fact of facts) expect(result, what).toMatch(fact)
      }
    } finally {
      await client.close()
    }
  })

  test('it never cancels: the command ends by its own timeout, and with the client', async () => {
    const client = await createMCPClient({ transport: new Experimental_StdioMCPTransport(await server()) })
    const sleeping = `984.${randomInt(1e6, 1e7)}`
    const tools = await client.tools()
    const aborted = new AbortController()
    const call = Promise.resolve(
      tools['Bash']!.execute!({ command: `sleep ${sleeping}` }, {
        toolCallId: '1',
        messages: [],
        abortSignal: aborted.signal,
      } as never),
    ).catch(() => {})
    await until(() => processesWith(sleeping).length > 0)
    aborted.abort()
    await client.close()
    await call
    await until(() => processesWith(sleeping).length === 0)
  })
})

describe('OpenAI Agents', () => {
  test('tools survive the strict rewrite, results of every kind hold the facts, and an abort ends the command', async () => {
    const { command, args, env, cwd } = await server(yields)
    const mcp = new MCPServerStdio({ command, args, env, cwd, name: 'cerith' })
    await mcp.connect()
    try {
      const strict = await getAllMcpTools({ mcpServers: [mcp], convertSchemasToStrict: true } as never)
      expect(strict.map(({ name }) => name)).toContain('Bash')
      for (const { what, args: input, facts } of SCENES) {
        const result = JSON.stringify(await mcp.callTool('Bash', input))
        for (const fact of facts) expect(result, what).toMatch(fact)
      }
      const sleeping = `983.${randomInt(1e6, 1e7)}`
      const stop = new AbortController()
      const call = mcp.callTool('Bash', { command: `sleep ${sleeping}` }, null, { signal: stop.signal }).catch(() => {})
      await until(() => processesWith(sleeping).length > 0)
      stop.abort()
      await call
      await until(() => processesWith(sleeping).length === 0)
    } finally {
      await mcp.close()
    }
  })
})
