/**
 * Removes what is left of finished jobs: on request, when they are old, and when all of them together are too large.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn } from '../../os/files/quietly.js'
import { findJobDirectory, jobIds, removeJobDirectory, removeLeftAside } from '../../os/job/directory.js'
import type { JobInfo } from '../../contract/job.js'
import { infoOf, jobState, type JobState } from './look/info.js'

/** A directory without a record may be in the making: only an old one is rubbish. */
const IN_THE_MAKING_MS = 60_000

interface Finished {
  readonly id: string
  readonly dir: string
  readonly endedAt: number
}

export function cleanJobs(stateDir: string, olderThanMs: number): { removed: string[] } {
  const now = Date.now()
  const removed: string[] = []
  for (const { id, dir, endedAt } of finishedJobs(stateDir))
    if (now - endedAt >= olderThanMs && removeJobDirectory(dir)) removed.push(id)
  removeLeftAside(stateDir)
  return { removed }
}

/** Old ones first by age, then the oldest while all together are too large. */
export function cleanByLimits(
  stateDir: string,
  limits: { keepFinishedMs: number; totalStoredBytes: number },
): string[] {
  const { removed } = cleanJobs(stateDir, limits.keepFinishedMs)
  const finished = finishedJobs(stateDir)
    .map((job) => ({ ...job, bytes: sizeOf(job.dir) }))
    .sort((a, b) => a.endedAt - b.endedAt)
  let total = finished.reduce((sum, { bytes }) => sum + bytes, 0)
  for (const { id, dir, bytes } of finished) {
    if (total <= limits.totalStoredBytes) break
    if (removeJobDirectory(dir)) removed.push(id)
    total -= bytes
  }
  return removed
}

function finishedJobs(stateDir: string): Finished[] {
  const found: Finished[] = []
  for (const id of jobIds(stateDir)) {
    const at = findJobDirectory(stateDir, id)
    if (!at) continue
    const state = jobState(at.dir, id)
    if (!state) {
      const changed = statSync(at.dir, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
      if (Date.now() - changed > IN_THE_MAKING_MS) found.push({ id, dir: at.dir, endedAt: changed })
      continue
    }
    // What it left running still writes here.
    if (state.busy) continue
    const info = infoUnlessRemoved(at.dir, state)
    if (info && !info.isRunning) found.push({ id, dir: at.dir, endedAt: info.endedAt ?? info.startedAt })
  }
  return found
}

/** Null: another engine cleans up too, and was quicker. */
function infoUnlessRemoved(dir: string, state: JobState): JobInfo | null {
  try {
    return infoOf(dir, state)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

function sizeOf(dir: string): number {
  const sizes = namesIn(dir).map((name) => statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0)
  return sizes.reduce((sum, size) => sum + size, 0)
}
