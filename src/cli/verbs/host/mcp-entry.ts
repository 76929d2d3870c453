/**
 * The entry of this server in a host's settings: the program by its absolute path, because
 * `npx` takes half a second more.
 */
import { ownProgram } from '../../verb/own-program.js'

export interface McpEntry {
  /** The file that the entry belongs into, as a person is told. */
  readonly file: string
  readonly text: string
}

/** Hosts, by the word after `--print-config`. */
export const HOSTS = ['claude-code', 'codex', 'gemini', 'vscode', 'cursor'] as const
export type HostName = (typeof HOSTS)[number]

export function entryFor(host: HostName, flags: readonly string[], program = ownProgram()): McpEntry {
  const [command, ...first] = program
  const args = [...first, 'mcp', ...flags]
  const json = (key: string, entry: object): string => `${JSON.stringify({ [key]: { cerith: entry } }, null, 2)}\n`
  switch (host) {
    case 'claude-code':
      return { file: '.mcp.json of a project', text: json('mcpServers', { type: 'stdio', command, args }) }
    case 'codex':
      return {
        file: '~/.codex/config.toml',
        text: `[mcp_servers.cerith]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`,
      }
    case 'gemini':
      return { file: '~/.gemini/settings.json', text: json('mcpServers', { command, args }) }
    case 'vscode':
      return { file: '.vscode/mcp.json of a project', text: json('servers', { type: 'stdio', command, args }) }
    case 'cursor':
      return { file: '~/.cursor/mcp.json', text: json('mcpServers', { command, args }) }
  }
}
