/** What the model reads about the wave tools (document 004). */
import type { Facts } from '../../dialect.js'

export const bash = ({ shell, timeouts }: Facts): string =>
  `Executes a command in a persistent ${shell} session: environment variables and directory stay for the next call. Prefer the specialized tools (Read, Write, Edit, Grep) where one fits. Foreground commands are ended after the timeout (default ${timeouts.defaultMs} ms) and return what they printed until then. Output over 30000 characters is truncated. Long-running commands: run_in_background.`

export const bashOutput =
  'Returns the accumulated output and the state of a background shell. Reading never stops it, and nothing is lost by reading late.'
export const killBash = 'Ends a background shell with its whole process group.'
