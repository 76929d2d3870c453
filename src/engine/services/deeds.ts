/**
 * Writes to the audit log what a person or another client did to an agent's command: answers,
 * interrupts, kills, attaching, typing.
 */
import type { AuditEntry, AuditKind } from './audit-sink.js'
import type { Services } from './services.js'

type Deed = Pick<AuditEntry, 'command' | 'cwd' | 'session' | 'status'> &
  Partial<Pick<AuditEntry, 'job' | 'decision' | 'rule' | 'by' | 'client' | 'waitedMs' | 'signal' | 'bytes'>>

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
    decision = kind === 'deny' ? 'deny' : 'allow',
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
    decision,
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
