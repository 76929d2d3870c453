/** How the house dialect tells what happened: one line of facts in brackets, then the output, nothing else. */
import { noteTexts } from '../../contract/note.js'
import type { SessionInfo } from '../../contract/engine.js'
import type { ShellError } from '../../contract/errors.js'
import type { JobInfo, KillResult, WaitResult } from '../../contract/job.js'
import { outcomeToJson, type Outcome } from '../../contract/outcome.js'
import type { Look } from '../reading/looking.js'
import type { Reading } from '../reading/read.js'
import {
  bad,
  bodyOf,
  bodyOfParts,
  byExit,
  clippedWords,
  doingWords,
  dryRunText,
  duration,
  endWords,
  errorText,
  good,
  jobWords,
  lines,
  noteLines,
  refusalText,
  withoutFile,
} from '../texts.js'
import type { ToolResult } from '../tool.js'
import type { Ran } from '../toolbox.js'

export function renderRan(ran: Ran, maxMs: number): ToolResult {
  const { outcome } = ran
  // Exit 1 of a grep that found nothing is news, not a failure of the tool.
  const isError = !['completed', 'running', 'dry_run'].includes(outcome.status) && !ran.answeredNo
  return { text: ranText(ran, maxMs), structured: ranJson(ran, maxMs), isError, ...byExit(ran) }
}

function ranText(ran: Ran, maxMs: number): string {
  const { outcome } = ran
  if (outcome.status === 'refused') return refusalText(outcome, ran.command)
  if (outcome.status === 'dry_run') return lines(dryRunText(ran.command), `[cwd: ${outcome.plan?.cwd ?? outcome.cwd}]`)
  const body = withoutFile(bodyOf(outcome), outcome.outputFile)
  return lines(
    headline(ran, maxMs),
    noteLines(outcome.notes),
    body === '' && outcome.status !== 'running' ? '(no output)' : body,
  )
}

function headline({ outcome, timeoutMs }: Ran, maxMs: number): string {
  const took = duration(outcome.durationMs)
  const clipped = clippedWords(outcome)
  const more = clipped === '' ? '' : `; ${clipped}`
  switch (outcome.status) {
    case 'running':
      return runningLine(outcome, took)
    case 'timeout': {
      const afterMs = outcome.end?.kind === 'timeout' ? outcome.end.afterMs : (timeoutMs ?? 0)
      const longer = afterMs < maxMs ? `raise timeout (max ${maxMs}) or ` : ''
      return `[timed out after ${afterMs}ms and was ended; ${longer}use run_in_background${more}]`
    }
    case 'killed':
      return (
        '[stopped after ' +
        `${took}${outcome.end?.kind === 'kill' && outcome.end.by === 'limit' ? `, ${endWords(outcome)}` : ''}${more}]`
      )
    default:
      return `[${outcome.end?.kind === 'lost' ? `lost: ${outcome.end.reason}` : endWords(outcome)}, ${took}${more}]`
  }
}

function runningLine({ id, pid, waitingForInput }: Outcome, took: string): string {
  const job = `${id ?? 'no id'}, pid ${pid ?? 'unknown'}, ${took}`
  if (waitingForInput)
    return (
      `[waiting for input: ${JSON.stringify(waitingForInput.prompt)}; ${job}; answer with SendInput, stop with ` +
      'KillShell]'
    )
  return `[running, NOT killed: ${job}; read or wait with BashOutput, stop with KillShell]`
}

/**
 * Only what says something, and always the exit code: hosts show this half to the model too,
 * and every field costs tokens.
 */
function ranJson(ran: Ran, maxMs: number): Record<string, unknown> {
  const { outcome, moved } = ran
  const { stdout, stderr, output, pipeStatus, plan } = outcome
  const json = outcomeToJson(outcome)
  const running = outcome.status === 'running'
  // Some hosts show the model nothing but this half: how to go on with a command that lives on
  // or ran out of time must be here too.
  const facts = running || outcome.status === 'timeout' ? [headline(ran, maxMs).slice(1, -1)] : []
  const notes = [...facts, ...noteTexts(outcome.notes)]
  return saying({
    ...json,
    ...(output === null ? { stdout: stdout || null, stderr: stderr || null } : { output: output || null }),
    truncated: outcome.truncated || null,
    omitted_bytes: outcome.omittedBytes || null,
    output_file: outcome.truncated ? outcome.outputFile : null,
    duration_ms: outcome.durationMs >= 1_000 && !running ? outcome.durationMs : null,
    usage: null,
    cwd: moved ? outcome.cwd : null,
    pid: null,
    pgid: null,
    session: null,
    pipe_status: pipeStatus?.some((code) => code !== 0) ? pipeStatus : null,
    notes: notes.length > 0 ? notes : null,
    dry_run: plan && saying({ decision: plan.verdict.decision, rule: plan.verdict.rule, cwd: plan.cwd }),
  })
}

function saying(json: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(json).filter(([name, value]) => name === 'exit_code' || (value !== null && value !== undefined)),
  )
}

export function renderStarted(info: JobInfo, timeoutMs: number | null): ToolResult {
  const limit = timeoutMs === null ? '' : `, will be ended after ${duration(timeoutMs)}`
  const text =
    `[running in background: ${info.id}, pid ${info.pid ?? 'unknown'}${limit}; read with BashOutput, stop with ` +
    'KillShell]'
  return good(lines(text, noteLines(info.notes)), jobJson(info))
}

export interface Told {
  readonly reading: Reading
  readonly look: Look
  /** How the wait for this job ended; null when it was not waited for. */
  readonly waited?: WaitResult | null
  readonly request?: { readonly until?: string; readonly port?: number; readonly waitMs: number }
}

export function renderReadings(all: readonly Told[]): ToolResult {
  const [only] = all
  if (all.length === 1 && only) return renderReading(only)
  return good(all.map((told) => readingText(told)).join('\n'), {
    status: all.some(({ reading }) => reading.info.isRunning) ? 'running' : 'completed',
    shells: all.map((told) => readingJson(told)),
  })
}

export function renderReading(told: Told): ToolResult {
  return good(readingText(told), readingJson(told))
}

function readingText(told: Told): string {
  const { info, omittedBytes, filtered } = told.reading
  const clipped = omittedBytes > 0 ? `, clipped, whole in ${info.outputFile}` : ''
  const body = withoutFile(bodyTold(told), info.outputFile)
  const empty = filtered ? '(no new line matches the filter)' : '(no new output)'
  return lines(
    `[${info.id} ${jobWords(info)}${clipped}${newsOf(told)}]`,
    noteLines(info.notes),
    body === '' ? empty : body,
  )
}

function bodyTold({ reading, look }: Told): string {
  return look.screen ?? bodyOfParts(reading.parts)
}

/** What the next step depends on: whether the wait came true, where it listens, what it asks. */
function newsOf({ reading: { info }, look, waited, request }: Told): string {
  const news: string[] = []
  if (waited?.reason === 'until') news.push(`matched ${JSON.stringify(waited.match ?? '')}`)
  if (waited?.reason === 'port') news.push(`port ${request?.port} is open`)
  if (waited?.reason === 'timeout' && request) news.push(`waited ${duration(request.waitMs)}: ${notYet(request)}`)
  news.push(...doingWords(info, look))
  if (look.waitingForInput) news.push('answer with SendInput')
  return news.map((one) => `, ${one}`).join('')
}

function notYet({ until, port }: { readonly until?: string; readonly port?: number }): string {
  if (until !== undefined) return `no line matched ${JSON.stringify(until)} yet`
  return port === undefined ? 'not ended yet' : `port ${port} is not open yet`
}

function readingJson(told: Told): Record<string, unknown> {
  const { reading, look, waited } = told
  const { info } = reading
  const stderr = reading.parts.find((part) => part.stream === 'stderr')?.text ?? ''
  return saying({
    ...jobJson(info),
    pid: null,
    is_running: info.isRunning,
    cursor: reading.cursor,
    truncated: reading.omittedBytes > 0 || null,
    output_file: reading.omittedBytes > 0 ? info.outputFile : null,
    text: bodyTold(told),
    stderr: stderr || null,
    waited_for: waited?.reason ?? null,
    listening: look.listening.length > 0 ? look.listening : null,
    waiting_for_input: look.waitingForInput && { prompt: look.waitingForInput.prompt },
  })
}

export function renderKilled({ info, alreadyStopped, forced, notes }: KillResult): ToolResult {
  const said = alreadyStopped
    ? `${info.id} already stopped: ${jobWords(info)}`
    : `${info.id} terminated after ${duration(info.durationMs)}${forced ? ', by force' : ''}`
  return good(
    lines(`[${said}]`, noteLines(notes)),
    saying({
      ...jobJson(info),
      notes: notes.length > 0 ? noteTexts([...info.notes, ...notes]) : (jobJson(info)['notes'] ?? null),
      already_stopped: alreadyStopped,
      forced: forced || null,
    }),
  )
}

/** Everything that runs, and the latest of what has ended: a long life must not make a long list. */
const LISTED_ENDED = 20

export function renderList(
  every: readonly JobInfo[],
  sessions: readonly SessionInfo[],
  ownerOf: (info: JobInfo) => string | null,
): ToolResult {
  const owned = every.map((info) => ({ info, owner: ownerOf(info) }))
  const all = [...owned.filter(({ owner }) => owner === null), ...owned.filter(({ owner }) => owner !== null)]
  const ended = all.filter(({ info }) => !info.isRunning)
  const older = Math.max(0, ended.length - LISTED_ENDED)
  const hidden = new Set(ended.slice(0, older))
  const jobs = all.filter((job) => !hidden.has(job))
  const rows = jobs.map(({ info, owner }) => {
    const whose = owner === null ? '' : `  [of ${owner}, not yours]`
    return `${info.id}  ${jobWords(info)}  ${oneLine(info.command)}${whose}`
  })
  const rooms = sessions.map(
    (session) =>
      `session ${session.name}  ${session.busy ? 'busy' : 'idle'}  ` +
      `${session.cwd}${session.leftovers.map((left) => `  [still running: ${left.pid} ${oneLine(left.command)}]`).join('')}`,
  )
  return good(
    lines(
      rows.length > 0 ? rows.join('\n') : 'No background shells.',
      older > 0 ? `[${older} older ended shells not listed]` : '',
      rooms.join('\n'),
    ),
    {
      shells: jobs.map(({ info, owner }) =>
        saying({ ...jobJson(info), command: oneLine(info.command), description: info.description, owner }),
      ),
      ...(older > 0 ? { older } : {}),
      sessions: sessions.map(({ name, cwd, busy, leftovers }) =>
        saying({ name, cwd, busy, leftovers: leftovers.length > 0 ? leftovers : null }),
      ),
    },
  )
}

export function renderError(error: ShellError, extra: Record<string, unknown> = {}): ToolResult {
  return bad(`[error ${error.code}] ${errorText(error)}`, {
    status: 'error',
    ...extra,
    error: { code: error.code, message: error.message, hint: error.hint },
  })
}

function jobJson(info: JobInfo): Record<string, unknown> {
  return saying({
    status: info.status,
    exit_code: info.exitCode,
    signal: info.signal,
    id: info.id,
    pid: info.isRunning ? info.pid : null,
    duration_ms: info.durationMs >= 1_000 ? info.durationMs : null,
    output_file: info.isRunning ? info.outputFile : null,
    notes: info.notes.length > 0 ? noteTexts(info.notes) : null,
  })
}

function oneLine(command: string): string {
  const flat = command.replace(/\s+/g, ' ').trim()
  return flat.length > 80 ? `${flat.slice(0, 77)}...` : flat
}
