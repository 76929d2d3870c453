/** Where the engine reports decisions and outcomes; the audit log of `os/` is one such place. */
import type { Decision } from '../../contract/verdict.js'
import type { Door } from '../../contract/request.js'

/** One decision and what came of it. Command text has its tokens unresolved; every text is masked before it gets here. */
export interface AuditEntry {
  readonly at: number
  readonly engine: string
  readonly door: Door
  readonly kind: 'run' | 'session' | 'job' | 'kill' | 'send' | 'refused' | 'dry_run'
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
}

export interface AuditSink {
  write(entry: AuditEntry): void
  close?(): Promise<void>
}
