/** `cerith/mcp`: the shell as an MCP server, on stdio, over HTTP, or inside a server of your own. */
import type { HttpOptions, ServedHttp } from './http.js'

export { serveStdio, type ServedStdio, type StdioOptions } from './stdio.js'

/** Loaded when it is called: a host that starts us on stdio waits for every module. */
export async function serveHttp(options: HttpOptions = {}): Promise<ServedHttp> {
  const http = await import('./http.js')
  return http.serveHttp(options)
}

export type { HttpOptions, ServedHttp } from './http.js'
export { createMcpServer, type Connection } from './server.js'
export type { McpOptions, ServeOptions } from './options.js'
export type { EndReason } from './lifecycle.js'
export { howToConnect, type Address } from './paste.js'
export { KEY_IN_META as IDEMPOTENCY_KEY } from './retries.js'
export { outputUri } from './resources.js'
