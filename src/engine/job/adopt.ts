/**
 * Looks after what earlier engines left: ends their `manager` jobs, reports the end of the
 * detached ones to listeners. Nothing is written, so two engines cannot fight over a job.
 */
import { attempt } from '../../contract/attempt.js'
import type { JobInfo } from '../../contract/job.js'
import { endStrays, orderKeeper, strayProcesses } from '../../os/job/control.js'
import { findJobDirectory, jobIds } from '../../os/job/directory.js'
import type { StartRecord } from '../../os/job/record.js'
import { isAlive } from '../../os/process/proc.js'
import { whereIs } from '../../os/process/world.js'
import { infoOf, jobState, type JobState } from './look/info.js'
import type { JobNews } from './look/live.js'

const LOOK_EVERY_MS = 250
const LEFTOVER_GRACE_MS = 1_000

/**
 * Ends `manager` jobs whose engine is gone. Their keepers do that by themselves; this is for keepers that could not.
 */
export async function endLeftovers(stateDir: string): Promise<string[]> {
  const ended: string[] = []
  for (const { id, dir, state } of states(stateDir)) {
    const { record, started } = state
    if (record.owner !== 'manager' || whereIs(record) !== 'here' || !started || engineAlive(state)) continue
    if (state.busy) {
      if (orderKeeper(dir, started, `kill 15 ${LEFTOVER_GRACE_MS} close`)) ended.push(id)
    } else if (state.lost !== null && strayProcesses(id, started).length > 0) {
      await endStrays(() => strayProcesses(id, started), LEFTOVER_GRACE_MS)
      ended.push(id)
    }
  }
  return ended
}

/**
 * Tells the end of detached jobs that an earlier engine started. Runs while there is a
 * listener, and keeps no process alive.
 */
export function followAdopted(stateDir: string, isOwn: (id: string) => boolean, news: JobNews): () => void {
  const watched = new Map<string, string>()
  for (const { id, dir, state } of states(stateDir))
    if (!isOwn(id) && state.record.owner === 'detached' && !state.ended && state.lost === null && !engineAlive(state))
      watched.set(id, dir)
  const look = (): void => {
    for (const [id, dir] of watched) {
      const info = infoAt(dir, id)
      if (info?.isRunning) continue
      watched.delete(id)
      if (info) news.tell({ kind: 'ended', info })
    }
    if (watched.size === 0) clearInterval(timer)
  }
  const timer = setInterval(look, LOOK_EVERY_MS).unref()
  return () => clearInterval(timer)
}

/** For news and lists: null also when the files cannot be read just now (cleaned up, out of descriptors). */
export function infoAt(dir: string, id: string, known: StartRecord | null = null): JobInfo | null {
  return attempt(() => {
    const state = jobState(dir, id, known)
    return state && infoOf(dir, state)
  }, null)
}

function engineAlive({ record }: JobState): boolean {
  return isAlive(record.engine.pid, record.engine.start || undefined)
}

function* states(stateDir: string): Iterable<{ id: string; dir: string; state: JobState }> {
  for (const id of jobIds(stateDir)) {
    const found = findJobDirectory(stateDir, id)
    const state = found && jobState(found.dir, id)
    if (state) yield { id, dir: found.dir, state }
  }
}
