/** Whether a person could be asked: a process without a controlling terminal cannot open /dev/tty. */
import { closeSync, openSync } from 'node:fs'

export function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}
