/**
 * The jobs that this engine started and still watches, and the news about them: told as it comes, the end exactly once.
 */
import type { JobEvent, JobInfo } from '../../../contract/job.js'
import type { StartRecord } from '../../../os/job/record.js'
import type { Ward } from '../../../os/helper/launcher.js'
import { attempt } from '../../../contract/attempt.js'
import { isAlive } from '../../../os/process/proc.js'

export interface LiveJob {
  readonly id: string
  readonly dir: string
  readonly ward: Ward
  readonly apart: boolean
  readonly owner: 'manager' | 'detached'
  readonly command: string
  /** The end is on disk and every byte before it can be read. */
  readonly ended: Promise<void>
  /** Bytes that it was seen to print. */
  printed(): number
}

/** Asked of the kernel: the news of its end comes a moment after the end. */
export function isRunning({ ward }: LiveJob): boolean {
  return !ward.state.exited && isAlive(ward.pid, ward.leaderStart || undefined)
}

/** What the keeper will have written down about the start. */
export function startOf({ ward }: Pick<LiveJob, 'ward'>): StartRecord {
  return {
    pid: ward.pid,
    pgid: ward.pgid,
    warden: ward.wardenPid,
    wardenStart: ward.wardenStart,
    leaderStart: ward.leaderStart,
    init: ward.initPid,
    at: null,
    clock: Number.NaN,
  }
}

export class JobNews {
  readonly #listeners = new Set<(event: JobEvent) => void>()
  readonly #changes = new Map<string, Set<() => void>>()

  subscribe(listener: (event: JobEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  get heard(): boolean {
    return this.#listeners.size > 0
  }

  tell(event: JobEvent): void {
    // A copy: listeners come and go while they are told.
    for (const listener of Array.from(this.#listeners)) {
      // A listener's mistake must not cost the others their news.
      attempt(() => listener(event))
    }
    this.wake(event.kind === 'output' ? event.id : event.info.id)
  }

  /** For callers that wait for one job without listening to all of them. */
  wake(id: string): void {
    for (const wake of Array.from(this.#changes.get(id) ?? [])) wake()
  }

  /** Resolves at the next news about a job, or after so long. */
  next(id: string, ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#changes.get(id) ?? new Set()
      this.#changes.set(id, waiting)
      const done = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        waiting.delete(done)
        if (waiting.size === 0 && this.#changes.get(id) === waiting) this.#changes.delete(id)
        resolve()
      }
      const timer = setTimeout(done, ms)
      signal?.addEventListener('abort', done, { once: true })
      waiting.add(done)
      if (signal?.aborted) done()
    })
  }
}

/** Follows a job that this engine started until its end is recorded. */
export function followJob(
  job: Omit<LiveJob, 'ended' | 'printed'>,
  news: JobNews,
  readInfo: () => JobInfo | null,
): LiveJob {
  const { ward, id, apart } = job
  let out = 0
  let err = 0
  const grown = (outTotal: number, errTotal: number): void => {
    if (outTotal > out) {
      out = outTotal
      news.tell({ kind: 'output', id, stream: apart ? 'stdout' : 'output', totalBytes: outTotal })
    }
    if (errTotal > err) {
      err = errTotal
      news.tell({ kind: 'output', id, stream: 'stderr', totalBytes: errTotal })
    }
  }
  ward.onOutput = grown
  const ended = ward.recorded.then(() => {
    ward.onOutput = null
    // Without a listener the record on disk is enough: it is not read here.
    const info = news.heard ? readInfo() : null
    if (info && !info.isRunning) news.tell({ kind: 'ended', info })
    else news.wake(id)
  })
  return { ...job, ended, printed: () => out + err }
}
