/**
 * Writes to the audit log what a person or another client did to an agent's command: answers,
 * interrupts, kills, attaching, typing.
 */
import type { AuditEntry, AuditKind } from './audit-sink.js'
import type { Services } from './services.js'

export interface Deed {
  readonly command: string
  readonly cwd: string
  readonly session: string | null
  readonly job?: string | null
  readonly rule?: string | null
  readonly status: string
  readonly by?: string
  readonly client?: string
  readonly waitedMs?: number
  readonly signal?: string | null
  readonly bytes?: number
}

export function auditDeed(
  { audit, id, door }: Pick<Services, 'audit' | 'id' | 'door'>,
  kind: AuditKind,
  deed: Deed,
): void {
  if (!audit) return
  const {
    command,
    cwd,
    session,
    job = null,
    rule = null,
    status,
    by,
    client,
    waitedMs,
    signal = null,
    bytes = 0,
  } = deed
  const entry: AuditEntry = {
    at: Date.now(),
    engine: id,
    door,
    kind,
    command,
    cwd,
    session,
    job,
    decision: kind === 'deny' ? 'deny' : 'allow',
    rule,
    status,
    exitCode: null,
    signal,
    bytes,
    durationMs: 0,
    ...(by === undefined ? {} : { by }),
    ...(client === undefined ? {} : { client }),
    ...(waitedMs === undefined ? {} : { waitedMs }),
  }
  audit.write(entry)
}
