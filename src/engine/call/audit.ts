/** Reports every request and what came of it to the audit sink, masked, with tokens unresolved. */
import { ShellError } from '../../contract/errors.js'
import type { Outcome } from '../../contract/outcome.js'
import type { RunRequest } from '../../contract/request.js'
import type { AuditEntry } from '../services/audit-sink.js'
import type { Services } from '../services/services.js'

export function auditOutcome(
  services: Services,
  request: RunRequest,
  kind: AuditEntry['kind'],
  session: string | null,
  outcome: Promise<Outcome>,
): void {
  const { audit } = services
  if (!audit) return
  const at = Date.now()
  const command = typeof request.command === 'string' ? request.command : JSON.stringify(request.command)
  const masked = services.secrets.mask(command)
  const door = request.door ?? services.door
  outcome.then(
    (result) =>
      // Written out, twice: this happens before the caller hears of the outcome, and copying an object into a larger one costs ten times as much.
      audit.write({
        at,
        engine: services.id,
        door,
        command: masked,
        session,
        kind: result.status === 'refused' ? 'refused' : result.status === 'dry_run' ? 'dry_run' : kind,
        cwd: result.cwd,
        job: result.id,
        decision: result.status === 'refused' ? 'deny' : 'allow',
        rule: result.refused?.rule ?? result.plan?.verdict.rule ?? null,
        status: result.status,
        exitCode: result.exitCode,
        signal: result.signal,
        bytes: Buffer.byteLength(result.output ?? result.stdout + result.stderr) + result.omittedBytes,
        durationMs: result.durationMs,
      }),
    (error: unknown) =>
      audit.write({
        at,
        engine: services.id,
        door,
        command: masked,
        session,
        kind,
        cwd: request.cwd ?? services.cwd,
        job: null,
        decision: 'allow',
        rule: ShellError.is(error) ? error.code : null,
        status: 'error',
        exitCode: null,
        signal: null,
        bytes: 0,
        durationMs: Date.now() - at,
      }),
  )
}
