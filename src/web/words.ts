/** The words that the page and the server behind it share: rows of the world and lines of the record. Types only. */
import type { Tone } from '../audit/blocks.js'
import type { JobInfo } from '../contract/job.js'
import type { WatchedAsk, WatchedCall, WatchedEngine, WatchedSession } from '../engine/live/watch.js'

/** `person` may answer and act; `look` may only look. */
export type Role = 'person' | 'look'

export interface EngineRow extends Readonly<Pick<WatchedEngine, 'pid' | 'door' | 'cwd' | 'state' | 'why'>> {
  readonly name: string
  readonly sessions: readonly Pick<WatchedSession, 'name' | 'cwd' | 'busy' | 'calls'>[]
}

type OfCall = 'run' | 'session' | 'command' | 'description' | 'at' | 'pty' | 'bytes' | 'lastLine'

/** A command under way. */
export interface CallRow extends Readonly<Pick<WatchedCall, OfCall>> {
  readonly engine: string
  readonly client: string
  readonly cpu: number
  readonly memory: number
  readonly ports: readonly number[]
  readonly ask: string | null
}

type OfJob = 'status' | 'command' | 'description' | 'cwd' | 'pty' | 'exitCode' | 'signal' | 'engine' | 'session'

export interface JobRow extends Pick<JobInfo, OfJob> {
  readonly running: boolean
  readonly apart: boolean
  readonly at: number
  readonly end: number | null
  readonly bytes: number
  readonly omitted: number
  readonly complete: boolean
  readonly notes: readonly string[]
  readonly cpu?: number
  readonly memory?: number
  readonly ports?: readonly number[]
}

/** Everything that an approval would bind. */
export interface AskRow extends WatchedAsk {
  readonly door: string
  readonly pid: number
}

/** CPU in percent of one processor and memory in bytes, by second. */
export interface Sample {
  readonly at: number
  readonly cpu: number
  readonly memory: number
}

/** A line of the audit log. */
export interface Line {
  readonly at: number
  readonly kind: string
  readonly engine: string
  readonly client: string | null
  readonly session: string | null
  readonly command: string
  readonly cwd: string
  /** `exit 0`, `SIGTERM`, `refused wipe-root`, `approved`. */
  readonly came: string
  readonly tone: Tone
  readonly job: string | null
  readonly bytes: number
  readonly ms: number
  readonly by: string | null
  readonly waitedMs: number | null
}

export interface Lines {
  readonly lines: readonly Line[]
  /** How many there are that fit, shown or not. */
  readonly total: number
}

/** A command of a session with what people did about it. */
export interface BlockRow extends Line {
  readonly isOpen: boolean
  readonly deeds: readonly Line[]
}

/** A link to look, as the person who made it sees it. */
export interface LookLink {
  readonly id: string
  readonly label: string
  readonly until: number | null
  readonly pages: number
  /** The one job that it shows; null: everything. */
  readonly only: string | null
}

export interface Disk {
  readonly free: number
  readonly isFull: boolean
}
