/** Used where the typed tool is not understood, e.g. over MCP. */
import type { Facts } from '../../dialect.js'

export const bash = ({ shell, timeouts }: Facts): string =>
  `Run commands in a persistent ${shell} session. A command is ended after ${timeouts.defaultMs} ms; the session is NOT lost by that. No stdin. For what must run on, append & and redirect its output to a file.`
