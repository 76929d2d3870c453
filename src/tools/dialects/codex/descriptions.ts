/** What the model reads about the codex tools. */
import type { Facts } from '../../dialect.js'

export const execCommand = ({ shell }: Facts): string =>
  `Runs a command (${shell}), returning output, or a session ID while it is still running. Yielding is NOT a timeout: the command goes on.`
export const writeStdin =
  'Writes characters to a running session (start it with tty=true) and returns new output; empty chars only poll. \\u0003 interrupts.'
