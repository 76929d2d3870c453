/** Watches a foreground command on a terminal for the moment in which it waits for input. */
import { readStartRecord } from '../os/job-record.js'
import { AGREE_MS, SILENCE_MS, waitsForInput, type Waiting } from './input-wait.js'

export interface WatchedRun {
  readonly dir: string
  /** When the last byte came (performance.now). */
  lastByteAt(): number
  /** It ended, or somebody ends it. */
  isOver(): boolean
  mask(text: string): string
}

/** Reports once the kernel has seen it wait for input twice in a row, with no output in between. */
export async function watchInput(run: WatchedRun, report: (waiting: Waiting) => void): Promise<void> {
  const started = readStartRecord(run.dir)
  if (!started) return
  let seen = -1
  while (!run.isOver()) {
    const quiet = performance.now() - run.lastByteAt()
    if (quiet < SILENCE_MS) {
      await pause(SILENCE_MS - quiet + 1)
      continue
    }
    const waiting = await waitsForInput({ dir: run.dir, started, pty: true, openStdin: true, mask: run.mask }).catch(() => null)
    if (!waiting) seen = -1
    else if (seen === run.lastByteAt()) return run.isOver() ? undefined : report(waiting)
    else seen = run.lastByteAt()
    await pause(AGREE_MS)
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
