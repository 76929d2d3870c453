/** A plain MCP client: starts `cerith mcp`, lists the tools, runs a command, reads its structured result. */
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

export async function runThroughMcp(
  command: string,
  server = { command: 'npx', args: ['cerith', 'mcp'] },
  env: Record<string, string> = {},
): Promise<{ tools: string[]; text: string; exitCode: number | null | undefined }> {
  const client = new Client({ name: 'example', version: '1.0.0' })
  await client.connect(new StdioClientTransport({ ...server, env }))
  try {
    const { tools } = await client.listTools()
    const result = await client.callTool({ name: 'Bash', arguments: { command } })
    const [first] = result.content
    const structured = result.structuredContent as { exit_code?: number | null } | undefined
    return {
      tools: tools.map(({ name }) => name),
      text: first?.type === 'text' ? first.text : '',
      exitCode: structured?.exit_code,
    }
  } finally {
    await client.close()
  }
}
