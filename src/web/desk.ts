/** What a page and the door need of the process behind them. */
import type { WebSocket } from 'ws'
import type { JobsView } from '../contract/engine.js'
import type { EngineWatch } from '../engine/live/watch.js'
import type { Feed } from './feed.js'
import type { Keys, LinkOptions, Session } from './keys.js'
import type { Records } from './records.js'

export const MAX_PAGES = 32

export interface Desk {
  readonly keys: Keys
  readonly watch: EngineWatch
  readonly feed: Feed
  readonly jobs: JobsView
  readonly records: Records
  readonly stateDir: string
  /** For the audit log. */
  readonly who: string
  /** How many pages are open. */
  readonly pages: number
  warn(message: string): void
  linkToLook(options: LinkOptions): string
  /** A page that has shown a good key; gives what takes its messages. */
  admit(socket: WebSocket, session: Session, key: string): { message(message: Record<string, unknown>): Promise<void> }
  presenceChanged(): void
  follow(id: string, on: boolean): void
}
