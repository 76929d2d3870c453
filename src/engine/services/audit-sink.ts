/** Where the engine reports decisions and outcomes; the audit log of `os/` is one such place. */
import type { Decision } from '../../contract/verdict.js'
import type { SandboxPlace } from '../../contract/sandbox.js'
import type { Door } from '../../contract/request.js'

/** What agents did, and what was done to it: `start` when a command begins, the others when they have happened. */
export type AuditKind =
  | 'start'
  | 'run'
  | 'session'
  | 'job'
  | 'refused'
  | 'dry_run'
  | 'approve'
  | 'deny'
  | 'interrupt'
  | 'kill'
  | 'background'
  | 'send'
  | 'attach'
  | 'hook'
  | 'accept'
  | 'discard'

/**
 * One decision and what came of it. Command text has its tokens unresolved; every text is masked before it gets here.
 */
export interface AuditEntry {
  readonly at: number
  readonly engine: string
  readonly door: Door
  readonly kind: AuditKind
  readonly command: string
  readonly cwd: string
  readonly session: string | null
  readonly job: string | null
  readonly decision: Decision
  readonly rule: string | null
  readonly status: string
  readonly exitCode: number | null
  readonly signal: string | null
  readonly bytes: number
  readonly durationMs: number
  /** Who did it, where that is not the agent: a person with process and terminal, or the ask function. */
  readonly by?: string
  /** The client that asked, where the door knows its name. */
  readonly client?: string
  /** How long the question waited for its answer. */
  readonly waitedMs?: number
  /** What confined it. */
  readonly sandbox?: Pick<SandboxPlace, 'profile' | 'network' | 'room'>
  /** The reason that was given for running it outside the sandbox. */
  readonly outside?: string
  /** The place that said so, when it is another one than this machine: a far root can lie. */
  readonly place?: string
}

export interface AuditSink {
  write(entry: AuditEntry): void
  /** A command has begun. The returned function is called when it is over, before its own entry is written. */
  started?(entry: AuditEntry): () => void
  close?(): Promise<void>
}
