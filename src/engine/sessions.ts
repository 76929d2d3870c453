/** The sessions of an engine by name. */
import type { Session, SessionInfo } from '../contract/engine.js'
import type { Jobs } from './jobs.js'
import type { Surroundings } from './plan.js'
import type { Services } from './services.js'

export interface Sessions {
  open(name?: string): Promise<Session>
  list(): Promise<readonly SessionInfo[]>
  surroundings(name: string): Promise<Surroundings>
  /** Bash code that gives a fresh shell the state of this session. */
  restoreScript(name: string): Promise<string>
  close(): Promise<void>
}

export function createSessions(_services: Services, _remembered: Set<string>, _jobs: Jobs): Sessions {
  throw new Error('not yet')
}
