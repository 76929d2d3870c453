/** Whether a person could be asked: a process without a controlling terminal cannot open /dev/tty. */
import { closeSync, openSync } from 'node:fs'
import { attempt } from '../../contract/attempt.js'

export function hasTerminal(): boolean {
  return attempt(() => closeSync(openSync('/dev/tty', 'r')) === undefined, false)
}
