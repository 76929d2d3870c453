/** What a page and the door need of the process behind them. */
import type { WebSocket } from 'ws'
import type { Engine } from '../contract/engine.js'
import type { EngineWatch } from '../engine/live/watch.js'
import type { Feed } from './feed.js'
import type { Keys, Session } from './keys.js'

export const MAX_PAGES = 32

export interface Desk {
  readonly keys: Keys
  readonly watch: EngineWatch
  readonly feed: Feed
  readonly engine: Engine
  readonly auditFile: string
  readonly headCopy: string | undefined
  /** For the audit log. */
  readonly who: string
  /** How many pages are open. */
  readonly pages: number
  warn(message: string): void
  linkToLook(label: string, livesMs: number): string
  /** A page that has shown a good key; gives what takes its messages. */
  admit(socket: WebSocket, session: Session, key: string): { message(message: Record<string, unknown>): Promise<void> }
  presenceChanged(): void
  follow(id: string, on: boolean): void
}
