/** `cerith serve`: the tools over HTTP for MCP clients on this machine. */
import { ownProgram } from '../../verb/own-program.js'
import { readPort } from '../../verb/option-rows.js'
import { withCallLines } from './call-lines.js'
import { defineVerb } from '../../verb/verb.js'
import { welcome } from './welcome.js'
import { MCP_OPTIONS, mcpOptions } from './mcp.js'

export const verb = defineVerb({
  options: [
    { flags: '--port <N>', about: 'listen on this port; 0 takes any free port (default: 7737)', read: readPort },
    { flags: '--host <ADDRESS>', about: 'listen on this address (default: 127.0.0.1)' },
    { flags: '--allow-remote', about: 'needed for an address that other machines can reach' },
    { flags: '--client <NAME>', about: 'a client with a token and shells of its own (repeatable)', many: true },
    ...MCP_OPTIONS,
  ],
  examples: [
    ['cerith serve', 'says the address, the token and what to paste'],
    ['cerith serve --port 0 --client alice --client bob', 'two clients, apart from each other'],
  ],
  details: 'Prints a line for each call. Ctrl-C ends it and everything that was started through it.',
  async run({ options }, io) {
    const { port, host, allowRemote, client, ...rest } = options
    const { serveHttp } = await import('../../../mcp/index.js')
    const settings = await mcpOptions(rest, io)
    const served = await serveHttp({
      ...settings,
      engine: { ...settings.engine, audit: withCallLines(settings.engine.audit, io) },
      port,
      host,
      allowRemote,
      clients: client,
    })
    const { url, tokenFile, tokens } = served
    io.out.write(welcome({ url, tokenFile, clients: [...tokens.keys()], program: ownProgram() }))
    return (await served.ended).exitCode
  },
})
