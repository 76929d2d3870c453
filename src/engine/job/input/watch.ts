/**
 * Watches a command for the moment in which it waits for input: the kernel must have seen it
 * twice in a row, with silence around.
 */
import { storedSize } from '../../../os/job/output.js'
import { readStartRecord } from '../../../os/job/record.js'
import { AGREE_MS, SILENCE_MS, waitsForInput, type Waiting } from './prompt.js'
import { pause } from '../../../os/process/clock.js'

export interface WatchedJob {
  readonly dir: string
  readonly pty: boolean
  readonly openStdin: boolean
  mask(text: string): string
}

/** A look to be taken again and again. `again` says in how many milliseconds the next one is worth it. */
export function createInputLook(job: WatchedJob): () => Promise<{ waiting: Waiting | null; again: number }> {
  const size = (): number => storedSize(job.dir, 'output.log').total + storedSize(job.dir, 'stderr.log').total
  let seen = -1
  let since = performance.now()
  let agreed = false
  return async () => {
    const now = size()
    if (now !== seen) {
      seen = now
      since = performance.now()
      agreed = false
      return { waiting: null, again: SILENCE_MS }
    }
    const quiet = performance.now() - since
    if (quiet < SILENCE_MS) return { waiting: null, again: SILENCE_MS - quiet + 1 }
    const started = readStartRecord(job.dir)
    const waiting = started
      ? await waitsForInput({ ...job, started, mask: (text) => job.mask(text) }).catch(() => null)
      : null
    // Output that came meanwhile makes it a new question.
    const certain = waiting !== null && agreed && size() === seen
    agreed = waiting !== null
    since = Math.max(since, performance.now() - SILENCE_MS - 1)
    return { waiting: certain ? waiting : null, again: AGREE_MS }
  }
}

/** Reports once, unless it is over before. */
export async function watchInput(
  job: WatchedJob & { isOver(): boolean },
  report: (waiting: Waiting) => void,
): Promise<void> {
  const look = createInputLook(job)
  while (!job.isOver()) {
    const { waiting, again } = await look()
    if (job.isOver()) return
    if (waiting) return report(waiting)
    await pause(again)
  }
}
