/** `cerith/mcp`: the shell as an MCP server, on stdio, over HTTP, or inside a server of your own. */
export { serveStdio, type ServedStdio, type StdioOptions } from './stdio.js'
export { DEFAULT_PORT, serveHttp, type HttpOptions, type ServedHttp } from './http.js'
export { createMcpServer, type Connection } from './server.js'
export type { McpOptions, ServeOptions } from './options.js'
export type { EndReason } from './lifecycle.js'
export { howToConnect, type Address } from './paste.js'
export { KEY_IN_META as IDEMPOTENCY_KEY } from './retries.js'
export { outputUri } from './resources.js'
