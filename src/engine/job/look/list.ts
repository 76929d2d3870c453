/** Lists jobs fast: what has ended does not change any more, so its answer is remembered. */
import { attempt } from '../../../contract/attempt.js'
import type { JobInfo } from '../../../contract/job.js'
import { findJobDirectory, jobIds } from '../../../os/job/directory.js'
import type { StartRecord } from '../../../os/job/record.js'
import { infoOf, jobState } from './info.js'

/** `startOf`: what an engine knows of the start of its own jobs before it is on disk. Oldest first. */
export function createJobList(stateDir: string, startOf: (id: string) => StartRecord | null): () => JobInfo[] {
  const ended = new Map<string, { made: string; info: JobInfo }>()
  const look = (id: string): JobInfo | null => {
    const found = findJobDirectory(stateDir, id)
    if (!found) return null
    const known = ended.get(id)
    // An id may come back after a clean-up: the directory tells.
    if (known?.made === found.made) return known.info
    // Null also where it was removed while we looked.
    return attempt(() => {
      const state = jobState(found.dir, id, startOf(id))
      const info = state && infoOf(found.dir, state)
      if (info && !info.isRunning && !state.busy) ended.set(id, { made: found.made, info })
      return info
    }, null)
  }
  return () => {
    const ids = jobIds(stateDir)
    const infos = ids.flatMap((id) => look(id) ?? [])
    if (ended.size > ids.length + 100) {
      const there = new Set(ids)
      for (const id of ended.keys()) if (!there.has(id)) ended.delete(id)
    }
    return infos.sort((a, b) => a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1))
  }
}
