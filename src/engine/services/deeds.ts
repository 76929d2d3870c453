/**
 * Writes to the audit log what a person or another client did to an agent's command: answers,
 * interrupts, kills, attaching, typing.
 */
import type { AuditEntry, AuditKind } from './audit-sink.js'
import type { Services } from './services.js'

type Deed = Pick<AuditEntry, 'command' | 'cwd' | 'session' | 'status'> &
  Partial<Pick<AuditEntry, 'job' | 'decision' | 'rule' | 'by' | 'client' | 'waitedMs' | 'signal' | 'bytes'>>

export function auditDeed(
  {
    audit,
    id,
    door,
    secrets,
  }: Pick<Services, 'audit' | 'id' | 'door'> & { readonly secrets: Pick<Services['secrets'], 'mask'> },
  kind: AuditKind,
  deed: Deed,
): void {
  if (!audit) return
  const { session, status, by, client, waitedMs } = deed
  const [command, cwd] = [secrets.mask(deed.command), secrets.mask(deed.cwd)]
  const { job = null, rule = null, signal = null, bytes = 0, decision = kind === 'deny' ? 'deny' : 'allow' } = deed
  const done = { command, cwd, session, status, job, rule, signal, bytes, by, client, waitedMs, decision }
  audit.write({ at: Date.now(), engine: id, door, kind, exitCode: null, durationMs: 0, ...done })
}
