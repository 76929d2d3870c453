/** What `cerith serve` says first: what this is, where it is, and what to paste into which client. At most 25 lines. */
import { ownVersion } from '../../../os/package/file.js'
import { quoteWord } from '../../../contract/quote.js'
import { shortPath } from '../../io/table.js'

export interface Welcome {
  readonly url: string
  readonly tokenFile: string
  readonly clients: readonly string[]
  /** How a client starts cerith itself, without a port and a token. */
  readonly program: readonly string[]
}

export function welcome({ url, tokenFile, clients, program }: Welcome): string {
  const client = clients[0] ?? 'default'
  const bearer = 'Authorization: Bearer $CERITH_TOKEN'
  const [command, ...args] = [...program, 'mcp']
  const rows: [string, string[]][] = [
    ['Claude Code', [`claude mcp add --transport http cerith ${url} \\`, `  --header "${bearer}"`]],
    [
      'Codex',
      [
        'in ~/.codex/config.toml:',
        '  [mcp_servers.cerith]',
        `  url = "${url}"`,
        '  bearer_token_env_var = "CERITH_TOKEN"',
      ],
    ],
    ['Gemini CLI', ['gemini mcp add --transport http cerith \\', `  ${url} --header "${bearer}"`]],
    [
      'VS Code',
      [
        `code --add-mcp '{"name":"cerith","type":"http","url":"${url}",`,
        `  "headers":{"Authorization":"Bearer '$CERITH_TOKEN'"}}'`,
      ],
    ],
    ['any other', [JSON.stringify({ mcpServers: { cerith: { command, args } } })]],
  ]
  return [
    `cerith ${ownVersion()} - the shell your agent runs in`,
    '',
    `  MCP over HTTP  ${url}`,
    `  tokens         ${shortPath(tokenFile)} (${clients.length === 1 ? 'client' : 'clients'} ${clients.join(', ')})`,
    '',
    `  export CERITH_TOKEN=$(awk '$1=="${client}"{print $2}' ${quoteWord(tokenFile)})`,
    '',
    ...rows.flatMap(([name, lines]) => lines.map((line, i) => `  ${(i === 0 ? name : '').padEnd(13)}${line}`)),
    '',
    'Ctrl-C ends this and everything that was started through it.',
    '',
  ].join('\n')
}
