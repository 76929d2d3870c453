/** `cerith/mcp`: the shell as an MCP server, on stdio, over HTTP, or inside a server of your own. */
import type { Server } from '@modelcontextprotocol/server'
import type { Engine } from '../contract/engine.js'
import type { HttpOptions, ServedHttp } from './http/serve.js'
import type { McpOptions } from './setup/options.js'

// The protocol's modules are loaded by the first call that needs them: a host that starts us
// waits for every one of them.
export { serveStdio, type ServedStdio, type StdioOptions } from './stdio/serve.js'

/** For embedding: a server over an engine of your own, to be connected to any transport of the SDK. */
export async function createMcpServer(engine: Engine, options: McpOptions = {}): Promise<Server> {
  const server = await import('./server/server.js')
  return server.createMcpServer(engine, options)
}

export async function serveHttp(options: HttpOptions = {}): Promise<ServedHttp> {
  const http = await import('./http/serve.js')
  return http.serveHttp(options)
}

export type { HttpOptions, ServedHttp } from './http/serve.js'
export type { McpOptions, ServeOptions } from './setup/options.js'
export type { EndReason } from './setup/lifecycle.js'
export { KEY_IN_META as IDEMPOTENCY_KEY } from './call/retries.js'
