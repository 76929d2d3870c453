/**
 * In every dialect: the list is a valid tools/list, and every structured result satisfies the tool's output schema,
 * whatever came of the call.
 */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { InMemoryTransport, type CallToolResult, type Client } from '@modelcontextprotocol/client'
import { specTypeSchemas } from '@modelcontextprotocol/server'
import { createEngine, type Engine } from '../../../src/index.js'
import { createMcpServer } from '../../../src/mcp/server/server.js'
import { DIALECTS, type DialectName } from '../../../src/tools/index.js'
import { clientFor, scratch } from '../harness.js'

const place = scratch()

/** What to try on a tool that runs commands, by the name its input has for the command. */
const COMMANDS = ['echo fine', '(exit 3)', 'rm -rf /', 'echo to-err >&2; kill -SEGV $$', 'sleep 5', '']
const RUNS: Readonly<Record<string, (command: string) => Record<string, unknown>>> = {
  Bash: (command) => ({ command, timeout: 300 }),
  exec: (command) => ({ command, timeout: 1 }),
  exec_bg: (command) => ({ command }),
  bash: (command) => ({ command }),
  exec_command: (command) => ({ cmd: command, yield_time_ms: 300 }),
  run_shell_command: (command) => ({ command }),
  shell: (command) => ({ commands: [command], timeout_ms: 300 }),
}

test('every result of every tool in every dialect satisfies its schema and the protocol', async () => {
  const engine = await createEngine({ stateDir: join(place.dir, 'state'), cwd: place.dir })
  try {
    const checked = await Promise.all(
      (Object.keys(DIALECTS) as DialectName[]).map((dialect) => checkDialect(dialect, engine)),
    )
    expect(checked.flat().length).toBeGreaterThan(60)
  } finally {
    await engine.close()
  }
})

/** The way of an embedding host: a server over its own engine, on a transport of its own. */
async function embed(dialect: DialectName, engine: Engine): Promise<Client> {
  const server = createMcpServer(engine, {
    tools: { dialect, session: dialect, timeouts: { defaultMs: 300 } },
    yieldMs: 400,
  })
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  const client = clientFor('legacy')
  await Promise.all([server.connect(theirs), client.connect(ours)])
  return client
}

async function checkDialect(dialect: DialectName, engine: Engine): Promise<string[]> {
  const ajv = new Ajv2020({ strict: false })
  const client = await embed(dialect, engine)
  const { tools } = await client.listTools()
  const checked: string[] = []
  for (const tool of tools) {
    expect(valid('Tool', tool), `${dialect} ${tool.name}`).toEqual([])
    expect(tool.name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/)
    expect(ajv.validateSchema(tool.inputSchema), `${dialect} ${tool.name}`).toBe(true)
    const check = ajv.compile(tool.outputSchema!)
    const runs = RUNS[tool.name]
    const inputs = runs ? COMMANDS.map(runs) : [{}]
    inputs.push(
      {},
      { nonsense: 1 },
      { bash_id: 'nothing', shell_id: 'nothing', id: 'nothing' },
      { bash_id: 7 },
      { command: 7 },
      { command: 'echo in background', run_in_background: true },
    )
    const results = await Promise.all(
      inputs.map((input) => client.callTool({ name: tool.name, arguments: input }) as Promise<CallToolResult>),
    )
    for (const [at, result] of results.entries()) {
      const about = `${dialect} ${tool.name} ${JSON.stringify(inputs[at])}`
      expect(result.structuredContent, about).toBeTypeOf('object')
      check(result.structuredContent)
      expect(check.errors ?? [], about).toEqual([])
      expect(valid('CallToolResult', result), about).toEqual([])
      expect(result.content[0], about).toMatchObject({ type: 'text', text: expect.stringMatching(/./) })
      checked.push(about)
    }
  }
  await client.close()
  return checked
}

function valid(type: 'Tool' | 'CallToolResult', value: unknown): readonly unknown[] {
  const result = specTypeSchemas[type]['~standard'].validate(value)
  return 'issues' in result && result.issues ? result.issues : []
}
