/** What came of a request: one value for every way a command can end, be refused, or still be running. */
import { noteTexts, type Note } from './note.js'
import type { SandboxFacts } from './sandbox.js'
import type { Verdict } from './verdict.js'

/** How the process itself ended. One union instead of many flags. */
export type End =
  | { readonly kind: 'exit'; readonly code: number }
  | { readonly kind: 'signal'; readonly signal: string }
  | { readonly kind: 'timeout'; readonly afterMs: number; readonly forced: boolean }
  | {
      readonly kind: 'kill'
      readonly forced: boolean
      readonly by: 'caller' | 'close' | 'limit'
      /** With `caller`: who, as far as it was said (an MCP client, a person at a terminal). */
      readonly who?: string
      /** With `limit`: which one, and how much it used. */
      readonly over?: OverLimit
    }
  | {
      readonly kind: 'lost'
      readonly reason: string
      /** The link was cut: whether it may still run there, and the name for `engine.recover`. */
      readonly link?: { readonly call: string; readonly mayRun: boolean }
    }

/** A limit that a command exceeded: bytes, processes, or milliseconds of CPU time. */
export interface OverLimit {
  readonly limit: 'memoryBytes' | 'processes' | 'cpuSeconds'
  readonly used: number
}

/** What a command used, with everything that it started and waited for. */
export interface Usage {
  readonly cpuMs: number
  /** The most memory that one of its processes had. */
  readonly peakBytes: number
}

export type Status = 'completed' | 'failed' | 'timeout' | 'killed' | 'running' | 'refused' | 'dry_run' | 'error'

export interface Refusal {
  readonly rule: string
  readonly reason: string
  readonly guidance: string
  /** The reason itself names the rule and the command; a door that names them too would repeat it. */
  readonly isWhole?: true
}

/** What the engine would do, as plain data: printed by a dry run, logged, never holding a resolved secret. */
export interface PlanSummary {
  readonly command: string
  readonly cwd: string
  readonly session: string | null
  readonly background: boolean
  readonly pty: boolean
  readonly timeoutMs: number | null
  readonly droppedEnv: readonly string[]
  readonly addedEnv: readonly string[]
  readonly verdict: Verdict
}

export interface Outcome {
  readonly status: Status
  /** Null while running, and when nothing ran. */
  readonly end: End | null
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  /** Set instead of stdout/stderr when the streams were merged or a terminal was used; null otherwise. */
  readonly output: string | null
  readonly truncated: boolean
  readonly omittedBytes: number
  readonly outputFile: string | null
  /** Bytes that the reader of a `stream()` lost because it was too slow; 0 for everything else. */
  readonly droppedBytes: number
  readonly durationMs: number
  /** Null while running, where nothing ran, and for commands of a session that took less than 25 ms. */
  readonly usage: Usage | null
  /** The session's directory after the command; for a fresh run the directory it ran in. */
  readonly cwd: string
  readonly pid: number | null
  readonly pgid: number | null
  /** For anything still running or kept: the job's id. */
  readonly id: string | null
  readonly session: string | null
  readonly pipeStatus: readonly number[] | null
  readonly notes: readonly Note[]
  readonly refused: Refusal | null
  readonly plan: PlanSummary | null
  /** Set when the command is waiting for input (a terminal or stdin prompt). */
  readonly waitingForInput: { readonly prompt: string } | null
  /** Approval that a person can still give for a refused `ask` verdict (`cerith approve ID`). */
  readonly approvalId: string | null
  /** What was in force where the command ran in a sandbox. */
  readonly sandbox: SandboxFacts | null
}

/** The spec's status words from how a run ended. */
export function statusOf(end: End): 'completed' | 'failed' | 'timeout' | 'killed' {
  switch (end.kind) {
    case 'exit':
      return end.code === 0 ? 'completed' : 'failed'
    case 'signal':
    case 'lost':
      return 'failed'
    case 'timeout':
      return 'timeout'
    case 'kill':
      return 'killed'
    default:
      return end satisfies never
  }
}

export function usageToJson(usage: Usage | null): { cpu_ms: number; max_rss_bytes: number } | null {
  return usage && { cpu_ms: usage.cpuMs, max_rss_bytes: usage.peakBytes }
}

/** The Outcome as it leaves a door: snake_case, every field always present. */
export function outcomeToJson(outcome: Outcome): Record<string, unknown> {
  const json: Record<string, unknown> = {
    status: outcome.status,
    exit_code: outcome.exitCode,
    signal: outcome.signal,
    ...(outcome.output === null ? { stdout: outcome.stdout, stderr: outcome.stderr } : { output: outcome.output }),
    truncated: outcome.truncated,
    omitted_bytes: outcome.omittedBytes,
    output_file: outcome.outputFile,
    duration_ms: outcome.durationMs,
    usage: usageToJson(outcome.usage),
    cwd: outcome.cwd,
    pid: outcome.pid,
    pgid: outcome.pgid,
    id: outcome.id,
    session: outcome.session,
    pipe_status: outcome.pipeStatus,
    notes: noteTexts(outcome.notes),
  }
  if (outcome.refused) {
    const { rule, reason, guidance } = outcome.refused
    json['refused'] = { rule, reason, guidance }
  }
  if (outcome.sandbox)
    json['sandbox'] = {
      profile: outcome.sandbox.profile,
      network: outcome.sandbox.network,
      tier: outcome.sandbox.tier,
      room: outcome.sandbox.room,
      ...(outcome.sandbox.try === null ? {} : { try: outcome.sandbox.try }),
      blocked: outcome.sandbox.blocked,
    }
  if (outcome.approvalId) json['approval_id'] = outcome.approvalId
  if (outcome.waitingForInput) json['waiting_for_input'] = outcome.waitingForInput
  if (outcome.plan) {
    json['dry_run'] = {
      command: outcome.plan.command,
      cwd: outcome.plan.cwd,
      session: outcome.plan.session,
      background: outcome.plan.background,
      pty: outcome.plan.pty,
      timeout_ms: outcome.plan.timeoutMs,
      added_env: outcome.plan.addedEnv,
      dropped_env: outcome.plan.droppedEnv,
      decision: outcome.plan.verdict.decision,
      rule: outcome.plan.verdict.rule,
      commands: outcome.plan.verdict.commands,
    }
  }
  return json
}
