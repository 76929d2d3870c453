/** Reports every request and its outcome to the audit sink, masked, with tokens unresolved. */
import { ShellError } from '../../contract/errors.js'
import type { Outcome } from '../../contract/outcome.js'
import type { RunRequest } from '../../contract/request.js'
import type { SandboxFacts } from '../../contract/sandbox.js'
import type { AuditEntry } from '../services/audit-sink.js'
import type { Services } from '../services/services.js'

export function auditOutcome(
  services: Services,
  request: RunRequest,
  kind: AuditEntry['kind'],
  session: string | null,
  outcome: Promise<Outcome>,
  cwd: string = services.cwd,
): void {
  const { audit } = services
  if (!audit) return
  const at = Date.now()
  const startedAt = performance.now()
  const command = typeof request.command === 'string' ? request.command : JSON.stringify(request.command)
  const masked = services.secrets.mask(command)
  const door = request.door ?? services.door
  const client = request.client === undefined ? undefined : { client: request.client }
  const outside =
    request.outside === undefined || !services.sandbox ? undefined : { outside: services.secrets.mask(request.outside) }
  /** While there is no outcome. */
  const entryOf = (entryKind: AuditEntry['kind'], rule: string | null, status: string, durationMs: number) => ({
    at,
    engine: services.id,
    door,
    command: masked,
    session,
    kind: entryKind,
    cwd: services.secrets.mask(request.cwd ?? cwd),
    job: null,
    decision: 'allow' as const,
    rule,
    status,
    exitCode: null,
    signal: null,
    bytes: 0,
    durationMs,
    ...client,
    ...outside,
  })
  const over = audit.started?.(entryOf('start', null, 'running', 0))
  outcome.then(
    (result) => {
      over?.()
      // Written out: this happens before the caller hears of the outcome, and copying an
      // object into a larger one costs ten times as much.
      const entry: AuditEntry = {
        at,
        engine: services.id,
        door,
        command: masked,
        session,
        kind: result.status === 'refused' ? 'refused' : result.status === 'dry_run' ? 'dry_run' : kind,
        cwd: services.secrets.mask(result.cwd),
        job: result.id,
        decision: result.status === 'refused' ? 'deny' : 'allow',
        rule: result.refused?.rule ?? result.plan?.verdict.rule ?? null,
        status: result.status,
        exitCode: result.exitCode,
        signal: result.signal,
        bytes: Buffer.byteLength(result.output ?? result.stdout + result.stderr) + result.omittedBytes,
        durationMs: result.durationMs,
      }
      const { sandbox } = result
      audit.write(client || sandbox || outside ? { ...entry, ...client, ...outside, ...confined(sandbox) } : entry)
    },
    (error: unknown) => {
      over?.()
      const rule = ShellError.is(error) ? error.code : null
      audit.write(entryOf(kind, rule, 'error', Math.round(performance.now() - startedAt)))
    },
  )
}

function confined(sandbox: SandboxFacts | null): Pick<AuditEntry, 'sandbox'> | undefined {
  if (!sandbox) return undefined
  const { profile, network, room } = sandbox
  return { sandbox: { profile, network, room } }
}
