/**
 * Jobs of a state directory for a process that looks and steps in but starts nothing: no
 * launcher, no shell, no run directory.
 */
import { randomBytes } from 'node:crypto'
import type { JobsView } from '../../contract/engine.js'
import { LIMITS } from '../../contract/limits.js'
import type { Door } from '../../contract/request.js'
import { findJobDirectory } from '../../os/job/directory.js'
import { checkProc } from '../../os/process/proc.js'
import { ensurePrivateDirectory } from '../../os/files/state-dir.js'
import type { AuditSink } from '../services/audit-sink.js'
import { SecretStore } from '../services/secret-store.js'
import { JobHandle, type HandleServices } from './handle.js'
import { jobState } from './look/info.js'
import { notFound } from './jobs.js'
import { createJobList } from './look/list.js'
import { JobNews } from './look/live.js'

export interface ReaderOptions {
  readonly stateDir: string
  readonly door: Door
  /** Kills, input and attachments are written there. */
  readonly audit: AuditSink | null
}

export interface JobsReader extends JobsView {
  close(): Promise<void>
}

/** Output was masked before it was stored, so nothing here knows a secret. */
export function openJobsReader({ stateDir, door, audit }: ReaderOptions): JobsReader {
  // Without it every job would seem to have ended.
  checkProc()
  ensurePrivateDirectory(stateDir)
  const services: HandleServices = {
    id: randomBytes(5).toString('hex'),
    door,
    audit,
    secrets: new SecretStore([]),
    limits: { ...LIMITS },
    // The timers of a wait keep the process alive by themselves.
    launcher: { hold: () => () => {} },
  }
  const news = new JobNews()
  const list = createJobList(stateDir, () => null)
  return {
    id: services.id,
    async job(id) {
      const found = findJobDirectory(stateDir, id)
      if (found && jobState(found.dir, id)) return new JobHandle(id, found.dir, services, news, null)
      throw notFound(id, list())
    },
    async jobs(which) {
      const infos = list()
      return which?.all ? infos : infos.filter((info) => info.isRunning)
    },
    // Those of this machine are told by their own engines.
    sessions: async () => [],
    place: null,
    close: async () => audit?.close?.(),
  }
}
