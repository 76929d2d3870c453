/** What leaves the command line as JSON: snake_case, every field always there. */
import type { Accepted, Changes, TryInfo } from '../../contract/changes.js'
import { noteTexts } from '../../contract/note.js'
import { messageOf, ShellError } from '../../contract/errors.js'
import type { JobInfo } from '../../contract/job.js'
import { usageToJson } from '../../contract/outcome.js'
import { UsageError } from './io.js'

/** An Outcome that never came to be. */
export function errorToJson(error: unknown): Record<string, unknown> {
  const told = ShellError.is(error)
    ? { code: error.code, message: error.message, hint: error.hint }
    : {
        code: error instanceof UsageError ? 'USAGE' : 'INTERNAL',
        message: messageOf(error),
        hint: error instanceof UsageError ? (error.hint ?? '') : 'This is a mistake in cerith; please report it.',
      }
  return { status: 'error', exit_code: null, signal: null, error: told }
}

export function jobToJson(info: JobInfo): Record<string, unknown> {
  return {
    id: info.id,
    status: info.status,
    is_running: info.isRunning,
    command: info.command,
    description: info.description,
    cwd: info.cwd,
    owner: info.owner,
    pid: info.pid,
    pgid: info.pgid,
    exit_code: info.exitCode,
    signal: info.signal,
    started_at: new Date(info.startedAt).toISOString(),
    ended_at: info.endedAt === null ? null : new Date(info.endedAt).toISOString(),
    duration_ms: info.durationMs,
    usage: usageToJson(info.usage),
    killed_by: info.end?.kind === 'kill' ? (info.end.who ?? info.end.by) : null,
    output_file: info.outputFile,
    streams: info.streams,
    pty: info.pty,
    total_bytes: info.bytes.total,
    omitted_bytes: info.bytes.omitted,
    output_complete: info.outputComplete,
    notes: noteTexts(info.notes),
    labels: info.labels,
    engine: info.engine,
    session: info.session,
  }
}

export function tryToJson(info: TryInfo): Record<string, unknown> {
  return {
    id: info.id,
    roots: info.roots,
    started_at: new Date(info.startedAt).toISOString(),
    used_at: new Date(info.usedAt).toISOString(),
    kept_until: new Date(info.keptUntil).toISOString(),
    in_use: info.inUse,
  }
}

export function changesToJson({ id, roots, startedAt, keptUntil, digest, changes }: Changes): Record<string, unknown> {
  return {
    id,
    roots,
    started_at: new Date(startedAt).toISOString(),
    kept_until: new Date(keptUntil).toISOString(),
    digest,
    changes: changes.map((change) => ({ ...change, diff: change.diff ?? null })),
  }
}

export function acceptedToJson({ approvalId, ...accepted }: Accepted): Record<string, unknown> {
  return { ...accepted, approval_id: approvalId }
}
