/** The directory that a verb works in, checked for the one mistake that is not a typing error: it was deleted. */
import { existsSync } from 'node:fs'
import { ShellError } from '../contract/errors.js'
import type { Io } from './io.js'

/** The same directory, unless it is ours and was deleted under us: that has another way out than a mistyped one. */
export function directoryFor(wanted: string, io: Io): string {
  if (wanted === io.cwd && !existsSync(wanted))
    throw new ShellError(
      'CWD_NOT_FOUND',
      `The directory you are in no longer exists: ${wanted}`,
      'Change to another one, or say where with --cwd DIR.',
    )
  return wanted
}
