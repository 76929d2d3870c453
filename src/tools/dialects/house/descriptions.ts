/** What the model reads about the house tools. Short, and it says what is NOT done. */
import type { Facts } from '../../dialect.js'

export const bash = ({ shell, timeouts, yieldMs }: Facts): string =>
  [
    `Run a command in ${shell}; cwd, variables and functions stay. Default timeout ${timeouts.defaultMs} ms: ended, with its output so far.`,
    ...(yieldMs === null ? [] : [`After ${yieldMs} ms it goes on with an id, NOT killed.`]),
    'No stdin without pty. Long output is clipped, whole in a file.',
  ].join(' ')

export const bashOutput = 'New output and state of a background shell. Waiting never kills it.'
export const killShell = 'End a background shell and all it started.'
export const listShells = 'Background shells and sessions.'
export const sendInput = 'Type into a pty shell: text, keys (C-c, Up, Tab). C-c interrupts any shell.'
