/** What the model reads about the lango tools (document 000). */
import type { Facts } from '../../dialect.js'

export const exec = ({ shell, timeouts }: Facts): string =>
  `Execute a shell command (${shell}, a fresh shell per call) and return stdout, stderr and the exit code. Ended after ${timeouts.defaultMs} ms unless timeout says otherwise. {{secret:name}} and {{decrypt:id}} are resolved at execution and never shown.`
export const execBg =
  'Start a shell command in the background and return its id at once. Nothing ends it but exec_stop, its own end, or the end of the host.'
export const execStatus = 'State and whole output of a background process. Asking never stops it.'
export const execStop = 'Stop a background process and everything it started.'
