/** Used where the typed tool is not understood, e.g. over MCP. */
import type { Facts } from '../../dialect.js'

export const shell = ({ shell: name, timeouts }: Facts): string =>
  `Runs commands one after the other in a persistent ${name} session; returns stdout, stderr and outcome of each. Each is ended after timeout_ms (default ${timeouts.defaultMs}); the session is NOT lost by that.`
