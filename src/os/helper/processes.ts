/** The processes of a command, seen from outside: everything below its watcher but the init that a room gives it. */
import { allProcesses, descendantsOf, processFacts } from '../process/proc.js'
import type { Ward } from './launcher.js'

export type Watched = Pick<Ward, 'pid' | 'leaderStart' | 'wardenPid' | 'initPid' | 'sharesWarden'>

/** The init is known by the number that its watcher told, never by its name: a command can call itself anything. */
export function processesOf(ward: Watched): number[] {
  if (ward.sharesWarden) return besideOthers(ward)
  const found = descendantsOf(ward.wardenPid)
  return ward.initPid === null ? found : found.filter((pid) => pid !== ward.initPid)
}

/**
 * Where one process watches all commands of an engine, what is below it belongs to others too:
 * tree, group and session of the leader tell.
 */
function besideOthers({ pid: leader, leaderStart }: Watched): number[] {
  const facts = processFacts(leader)
  if (facts && facts.start !== leaderStart) return []
  const found = new Set(facts ? [leader, ...descendantsOf(leader)] : [])
  for (const { pid, group, session, state } of allProcesses())
    if ((group === leader || session === leader) && state !== 'Z') found.add(pid)
  return [...found]
}
