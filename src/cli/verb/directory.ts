/** The directory that a verb works in, checked for the one mistake that is not a typing error: it was deleted. */
import { existsSync } from 'node:fs'
import { ShellError } from '../../contract/errors.js'
import type { Io } from '../io/io.js'

/**
 * The same directory. When it is the current one and was deleted, the error says so: the way
 * out is another than for a mistyped one.
 */
export function directoryFor(wanted: string, io: Io): string {
  if (wanted === io.cwd && !existsSync(wanted))
    throw new ShellError(
      'CWD_NOT_FOUND',
      `The directory you are in no longer exists: ${wanted}`,
      'Change to another one, or say where with --cwd DIR.',
    )
  return wanted
}
