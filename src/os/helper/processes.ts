/** The processes of a command, seen from outside: everything below its watcher but the init that a room gives it. */
import { descendantsOf } from '../proc.js'
import type { Ward } from './launcher.js'

/** The init is known by the number that its watcher told, never by its name: a command can call itself anything. */
export function processesOf({ wardenPid, initPid }: Pick<Ward, 'wardenPid' | 'initPid'>): number[] {
  const found = descendantsOf(wardenPid)
  return initPid === null ? found : found.filter((pid) => pid !== initPid)
}
