/** Jobs of an engine: runs that are kept. */
import { ShellError } from '../contract/errors.js'
import type { Job, JobEvent, JobInfo } from '../contract/job.js'
import type { StartRequest } from '../contract/request.js'
import type { Promote } from './fresh.js'
import type { Services } from './services.js'
import type { Sessions } from './sessions.js'

export interface Jobs {
  start(request: StartRequest, sessions: Sessions): Promise<Job>
  get(id: string): Promise<Job>
  list(which?: { readonly all?: boolean }): Promise<readonly JobInfo[]>
  clean(which?: { readonly olderThanMs?: number }): Promise<{ readonly removed: readonly string[] }>
  onEvent(listener: (event: JobEvent) => void): () => void
  readonly promote: Promote | null
  close(): Promise<void>
}

export function createJobs(_services: Services, _remembered: Set<string>): Jobs {
  const missing = (): never => {
    throw new ShellError('JOB_NOT_FOUND', 'Jobs are not there yet', 'Wait for them.')
  }
  return { start: async () => missing(), get: async () => missing(), list: async () => [], clean: async () => ({ removed: [] }), onEvent: () => () => {}, promote: null, close: async () => {} }
}
