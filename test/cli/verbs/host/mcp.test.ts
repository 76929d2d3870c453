/** `cerith mcp` and `cerith serve` as the built program: what their flags change for a real client. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport, type CallToolResult } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../../fixtures/folder.js'

const program = fileURLToPath(new URL('../../../../dist/cli.js', import.meta.url))
const base = temporaryFolder('mcp-flags')
const world = { PATH: process.env['PATH'] ?? '', HOME: base, CERITH_HOME: join(base, 'state') }

/** What the tool list and one call look like to a client of `cerith mcp FLAGS`. */
async function seenWith(
  flags: readonly string[],
  command: string,
  env: Record<string, string> = {},
): Promise<{ hasSchema: boolean; result: CallToolResult }> {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [program, 'mcp', ...flags],
      // A state of its own: a server that its host ended and started again says so in its first answer.
      env: { ...world, CERITH_HOME: mkdtempSync(join(base, 'state-')), ...env },
      cwd: base,
      stderr: 'ignore',
    }),
  )
  try {
    const { tools } = await client.listTools()
    return {
      hasSchema: tools.some(({ outputSchema }) => outputSchema),
      result: (await client.callTool({ name: 'Bash', arguments: { command } })) as CallToolResult,
    }
  } finally {
    await client.close()
  }
}

describe('--no-structured', () => {
  test('results are text alone, and no tool promises anything else; --text-only is its second name', async () => {
    for (const flag of ['--no-structured', '--text-only']) {
      const { hasSchema, result } = await seenWith([flag], 'echo hi')
      expect(hasSchema).toBe(false)
      expect(result).toMatchObject({ content: [{ type: 'text', text: expect.stringMatching(/^\[exit 0.*\]\nhi/) }] })
      expect(result).not.toHaveProperty('structuredContent')
    }
    expect((await seenWith([], 'echo hi')).result.structuredContent).toMatchObject({
      status: 'completed',
      stdout: 'hi\n',
    })
  })

  test('serve has it too', async () => {
    const child = spawn(process.execPath, [program, 'serve', '--port', '0', '--no-structured'], {
      env: world,
      cwd: base,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    try {
      const url = await new Promise<string>((resolve, reject) => {
        let seen = ''
        child.stdout.on('data', (chunk: Buffer) => {
          const found = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec((seen += chunk.toString()))
          if (found && seen.includes('Ctrl-C')) resolve(found[0])
        })
        child.once('exit', () => reject(new Error(`ended: ${seen}`)))
      })
      const token = /^default\s+(\S+)/m.exec(readFileSync(join(world.CERITH_HOME, 'http-tokens'), 'utf8'))?.[1]
      const client = new Client({ name: 'test', version: '1' })
      await client.connect(
        new StreamableHTTPClientTransport(new URL(url), {
          requestInit: { headers: { authorization: `Bearer ${token}` } },
        }),
      )
      const result = await client.callTool({ name: 'Bash', arguments: { command: 'echo over http' } })
      await client.close()
      expect(result).not.toHaveProperty('structuredContent')
      expect(JSON.stringify(result.content)).toContain('over http')
    } finally {
      child.kill('SIGTERM')
      await ended
    }
  })
})

describe('--no-failed-is-error', () => {
  const FAILED = 'echo before; (exit 3)'
  const facts = {
    content: [{ type: 'text', text: expect.stringMatching(/^\[exit 3.*\]\nbefore/) }],
    structuredContent: { status: 'failed', exit_code: 3 },
  }

  test('an exit code is an error result by default, and a plain result with the flag, the setting or the variable; the facts are the same', async () => {
    expect((await seenWith([], FAILED)).result).toMatchObject({ ...facts, isError: true })
    for (const [flags, env] of [
      [['--no-failed-is-error'], {}],
      [['--set', 'mcp.failedIsError=false'], {}],
      [[], { CERITH_MCP_FAILED_IS_ERROR: 'off' }],
    ] as const) {
      const { result } = await seenWith(flags, FAILED, env)
      expect(result).toMatchObject(facts)
      expect(result.isError ?? false).toBe(false)
    }
  })

  test('what was refused stays an error', async () => {
    const { result } = await seenWith(['--no-failed-is-error'], 'cerith approve ask_0')
    expect(result).toMatchObject({ isError: true, structuredContent: { status: 'refused' } })
  })
})

test('the project may choose both in its configuration', async () => {
  writeFileSync(join(base, 'cerith.config.json'), '{"mcp": {"structured": false, "failedIsError": false}}')
  try {
    const { hasSchema, result } = await seenWith([], 'exit 3')
    expect(hasSchema).toBe(false)
    expect(result).toEqual({ content: [{ type: 'text', text: expect.stringMatching(/^\[exit 3/) }] })
  } finally {
    rmSync(join(base, 'cerith.config.json'))
  }
})

describe('--print-config', () => {
  test('writes the entry of each host with absolute paths and the other flags, and the entry starts', async () => {
    const print = (host: string) => printed(['mcp', '--dialect', 'codex', '--print-config', host])
    const args = [realpathSync(program), 'mcp', '--dialect', 'codex']
    const entry = { command: process.execPath, args }
    expect(JSON.parse(print('gemini'))).toEqual({ mcpServers: { cerith: entry } })
    expect(JSON.parse(print('cursor'))).toEqual({ mcpServers: { cerith: entry } })
    expect(JSON.parse(print('claude-code'))).toEqual({ mcpServers: { cerith: { type: 'stdio', ...entry } } })
    expect(JSON.parse(print('vscode'))).toEqual({ servers: { cerith: { type: 'stdio', ...entry } } })
    expect(print('codex')).toBe(
      `[mcp_servers.cerith]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify(args)}\n`,
    )
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(new StdioClientTransport({ ...entry, env: world, cwd: base, stderr: 'ignore' }))
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('exec_command')
    await client.close()
  })

  test('keeps the place, the sandbox and the settings that the server would have had', () => {
    const flags = ['--sandbox', 'strict', '--network', 'all', '--write', 'out', '--set', 'sandbox.hide=/srv']
    const words = ['--at', 'ssh://build', 'mcp', ...flags, '--print-config', 'gemini']
    const { args } = JSON.parse(printed(words)).mcpServers.cerith
    const settings = ['profile=strict', 'network=all', `write=["${join(base, 'out')}"]`, 'hide=/srv']
    const kept = settings.flatMap((each) => ['--set', `sandbox.${each}`])
    expect(args.slice(1)).toEqual(['mcp', '--at', 'ssh://build', ...kept])
  })
})

function printed(words: readonly string[]): string {
  return spawnSync(process.execPath, [program, ...words], { env: world, cwd: base, encoding: 'utf8' }).stdout
}
