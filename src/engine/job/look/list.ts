/** Lists jobs fast: what has ended does not change any more, so its answer is remembered. */
import { attempt } from '../../../contract/attempt.js'
import type { JobInfo } from '../../../contract/job.js'
import { findJobDirectory, jobIds } from '../../../os/job/directory.js'
import type { StartRecord } from '../../../os/job/record.js'
import { infoOf, jobState } from './info.js'

export class JobList {
  readonly #stateDir: string
  readonly #known: (id: string) => StartRecord | null
  readonly #ended = new Map<string, { made: string; info: JobInfo }>()

  constructor(stateDir: string, known: (id: string) => StartRecord | null) {
    this.#stateDir = stateDir
    this.#known = known
  }

  all(): JobInfo[] {
    const infos: JobInfo[] = []
    const ids = jobIds(this.#stateDir)
    for (const id of ids) {
      const info = this.#info(id)
      if (info) infos.push(info)
    }
    if (this.#ended.size > ids.length + 100) {
      const there = new Set(ids)
      for (const id of this.#ended.keys()) if (!there.has(id)) this.#ended.delete(id)
    }
    return infos.sort((a, b) => a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1))
  }

  #info(id: string): JobInfo | null {
    const found = findJobDirectory(this.#stateDir, id)
    if (!found) return null
    const known = this.#ended.get(id)
    // An id may come back after a clean-up: the directory tells.
    if (known?.made === found.made) return known.info
    // Null also where it was removed while we looked.
    return attempt(() => {
      const state = jobState(found.dir, id, this.#known(id))
      const info = state && infoOf(found.dir, state)
      if (info && !info.isRunning && !state.busy) this.#ended.set(id, { made: found.made, info })
      return info
    }, null)
  }
}
