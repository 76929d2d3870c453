/** Makes Outcomes: one place that knows what every field means for every way a request can come out. */
import type { Note } from '../../contract/note.js'
import type { End, Outcome, PlanSummary, Refusal } from '../../contract/outcome.js'
import { statusOf } from '../../contract/outcome.js'

const NOTHING: Outcome = {
  status: 'error',
  end: null,
  exitCode: null,
  signal: null,
  stdout: '',
  stderr: '',
  output: null,
  truncated: false,
  omittedBytes: 0,
  outputFile: null,
  droppedBytes: 0,
  durationMs: 0,
  usage: null,
  cwd: '',
  pid: null,
  pgid: null,
  id: null,
  session: null,
  pipeStatus: null,
  notes: [],
  refused: null,
  plan: null,
  waitingForInput: null,
  approvalId: null,
  sandbox: null,
}

export function refusedOutcome(
  refused: Refusal,
  about: { cwd: string; session: string | null; approvalId?: string | null },
): Outcome {
  const { cwd, session, approvalId = null } = about
  return { ...NOTHING, status: 'refused', refused, cwd, session, approvalId }
}

export function dryRunOutcome(plan: PlanSummary): Outcome {
  return {
    ...NOTHING,
    status: 'dry_run',
    plan,
    cwd: plan.cwd,
    session: plan.session,
    stdout: `[Dry Run] Would execute: ${plan.command}`,
  }
}

export function abortedOutcome(about: { cwd: string; session: string | null }): Outcome {
  return {
    ...NOTHING,
    status: 'killed',
    end: { kind: 'kill', forced: false, by: 'caller' },
    cwd: about.cwd,
    session: about.session,
    notes: [{ code: 'not-run', text: 'The request was cancelled before it started; nothing was run.' }],
  }
}

/** What is known of a command that ran; what is left out is as it would be for one that printed nothing. */
export type Ran = Pick<Outcome, 'durationMs' | 'cwd' | 'pid' | 'pgid'> &
  Partial<
    Omit<Outcome, 'status' | 'exitCode' | 'signal' | 'droppedBytes' | 'refused' | 'plan' | 'approvalId' | 'sandbox'>
  >

export function endedOutcome(ran: Ran & { readonly end: End }): Outcome {
  const { end } = ran
  // Written out and not spread: every quick call ends here.
  return {
    status: statusOf(end),
    end,
    exitCode: end.kind === 'exit' ? end.code : null,
    signal: end.kind === 'signal' ? end.signal : null,
    stdout: ran.stdout ?? '',
    stderr: ran.stderr ?? '',
    output: ran.output ?? null,
    truncated: ran.truncated ?? false,
    omittedBytes: ran.omittedBytes ?? 0,
    outputFile: ran.outputFile ?? null,
    droppedBytes: 0,
    durationMs: ran.durationMs,
    usage: ran.usage ?? null,
    cwd: ran.cwd,
    pid: ran.pid,
    pgid: ran.pgid,
    id: ran.id ?? null,
    session: ran.session ?? null,
    pipeStatus: ran.pipeStatus ?? null,
    notes: ran.notes ?? [],
    refused: null,
    plan: null,
    waitingForInput: ran.waitingForInput ?? null,
    approvalId: null,
    sandbox: null,
  }
}

const QUIET: Outcome = { ...NOTHING, status: 'completed', exitCode: 0 }

/** A command that did what it should and said nothing. */
export function quietOutcome(ran: Pick<Outcome, 'durationMs' | 'cwd' | 'pid' | 'pgid' | 'session'>): Outcome {
  const { durationMs, cwd, pid, pgid, session } = ran
  // A copy of one shape, and not `endedOutcome`: most short calls end here, and that one takes more than twice as long.
  // What a caller may change is made anew: the next outcome must not show it.
  return { ...QUIET, end: { kind: 'exit', code: 0 }, notes: [], durationMs, cwd, pid, pgid, session }
}

export function runningOutcome(running: Ran): Outcome {
  return { ...NOTHING, ...running, status: 'running', end: null, usage: null }
}

export const LOST_NOTE: Note = {
  code: 'lost',
  text:
    'The process that watched the command was destroyed from outside, and the command with it; how far it got is ' +
    'not known.',
}

/** A command of which nothing more is known; by default because its watcher was gone before it said that it started. */
export function lostOutcome(
  about: { cwd: string; session: string | null },
  durationMs: number,
  end: Extract<End, { kind: 'lost' }> = { kind: 'lost', reason: 'its watcher was destroyed' },
  note = LOST_NOTE,
): Outcome {
  const { cwd, session } = about
  return { ...NOTHING, status: 'failed', end, cwd, session, durationMs: Math.round(durationMs), notes: [note] }
}

/** Says what a reader of the stream lost because it was too slow. */
export function withDrops(outcome: Outcome, droppedBytes: number): Outcome {
  const text =
    `The reader of the stream was too slow: ${droppedBytes} bytes were dropped before it took ` +
    `them${outcome.outputFile === null ? '' : `; the output is in ${outcome.outputFile}`}.`
  return { ...outcome, droppedBytes, notes: [...outcome.notes, { code: 'output-lost', text }] }
}
