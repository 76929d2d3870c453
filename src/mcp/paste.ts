/** What to paste where, so that a host finds the server. */

export interface Address {
  readonly url: string
  readonly tokenFile: string
  /** Only right after it was made; later it is read from its file. */
  readonly token: string | null
  readonly client: string
}

export function howToConnect({ url, tokenFile, token, client }: Address): string {
  const read = `$(awk '$1=="${client}"{print $2}' ${quote(tokenFile)})`
  const shown = token ?? 'TOKEN'
  const block = (title: string, text: string): string => `${title}\n${indent(text)}`
  return [
    `cerith speaks MCP at ${url}`,
    token === null ? `The token of client "${client}" is in ${tokenFile} (it was shown when it was made).` : `The token of client "${client}", shown this once and kept in ${tokenFile}:\n  ${token}`,
    block('Claude Code', `claude mcp add --transport http cerith ${url} --header "Authorization: Bearer ${read}"`),
    block('Codex, ~/.codex/config.toml', `[mcp_servers.cerith]\nurl = "${url}"\nbearer_token_env_var = "CERITH_TOKEN"`),
    block('Gemini CLI, ~/.gemini/settings.json', json({ mcpServers: { cerith: { httpUrl: url, headers: { Authorization: `Bearer ${shown}` }, timeout: 60_000 } } })),
    block('VS Code, .vscode/mcp.json', json({ servers: { cerith: { type: 'http', url, headers: { Authorization: `Bearer ${shown}` } } } })),
    block('For those that read the environment', `export CERITH_TOKEN="${read}"`),
    'Or without a port and a token, as a program of the host: cerith mcp',
  ].join('\n\n')
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2)
}

function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n')
}

function quote(path: string): string {
  return /^[\w./@%+:,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}
