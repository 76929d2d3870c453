/** The processes of a command, seen from outside: everything below its watcher but the init that a room gives it. */
import { allProcesses, descendantsOf, hasProc, isMarked } from '../process/proc.js'
import type { Ward } from './launcher.js'

export type Watched = Pick<Ward, 'pid' | 'leaderStart' | 'wardenPid' | 'initPid' | 'mark'>

/** The init is known by the number that its watcher told, never by its name: a command can call itself anything. */
export function processesOf(ward: Watched): number[] {
  if (ward.mark !== null) return besideOthers(ward, ward.mark)
  const found = descendantsOf(ward.wardenPid)
  return ward.initPid === null ? found : found.filter((pid) => pid !== ward.initPid)
}

/**
 * Where one process watches all commands of an engine, what is below it belongs to others too:
 * tree, group and session of the leader tell, and the marks that all of it inherits.
 */
function besideOthers({ pid: leader, leaderStart }: Watched, mark: string): number[] {
  const all = allProcesses().filter(({ state }) => state !== 'Z')
  const isReused = hasProc && all.some(({ pid, start }) => pid === leader && start !== leaderStart)
  const found = new Set<number>()
  for (const { pid, group, session, start } of all)
    if (isReused ? false : pid === leader || group === leader || session === leader) found.add(pid)
    else if (Number(start) >= Number(leaderStart) && isMarked(pid, mark)) found.add(pid)
  // Sets are walked in the order of adding: children of what was found are found as well.
  for (const one of found) for (const { pid, parent } of all) if (parent === one) found.add(pid)
  return [...found]
}
