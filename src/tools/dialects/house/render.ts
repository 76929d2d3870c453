/** How the house dialect tells what happened: one line of facts in brackets, then the output, nothing else. */
import type { SessionInfo } from '../../../contract/engine.js'
import type { ShellError } from '../../../contract/errors.js'
import type { JobInfo, KillResult, WaitResult } from '../../../contract/job.js'
import { outcomeToJson } from '../../../contract/outcome.js'
import type { Reading } from '../../reading.js'
import {
  bodyOf,
  bodyOfParts,
  dryRunText,
  duration,
  endWords,
  errorText,
  jobWords,
  lines,
  noteLines,
  refusalText,
} from '../../texts.js'
import type { ToolResult } from '../../tool.js'
import type { Ran } from '../../toolbox.js'

export function renderRan(ran: Ran): ToolResult {
  const { outcome } = ran
  const structured = outcomeToJson(outcome)
  if (ran.description !== null) structured['description'] = ran.description
  // Exit 1 of a grep that found nothing is news, not a failure of the tool.
  const isError = !['completed', 'running', 'dry_run'].includes(outcome.status) && !ran.answeredNo
  return { text: ranText(ran), structured, isError }
}

function ranText(ran: Ran): string {
  const { outcome } = ran
  if (outcome.status === 'refused') return refusalText(outcome, ran.command)
  if (outcome.status === 'dry_run') return lines(dryRunText(ran.command), `[cwd: ${outcome.plan?.cwd ?? outcome.cwd}]`)
  const body = bodyOf(outcome)
  // A clip of the head-and-tail kind names the file inside the text; this line is for output that was cut elsewhere.
  const cut =
    outcome.truncated && outcome.outputFile !== null && !body.includes(outcome.outputFile)
      ? `[clipped, whole output: ${outcome.outputFile}]`
      : ''
  return lines(headline(ran), cut, noteLines(outcome.notes), body === '' ? noOutput(ran) : body)
}

function headline({ outcome, timeoutMs }: Ran): string {
  const took = duration(outcome.durationMs)
  switch (outcome.status) {
    case 'running':
      return runningLine(outcome.id, outcome.pid, took, outcome.waitingForInput?.prompt ?? null)
    case 'timeout':
      return `[timed out after ${outcome.end?.kind === 'timeout' ? outcome.end.afterMs : timeoutMs}ms and was ended; output until then:]`
    case 'killed':
      return `[stopped after ${took}${outcome.end?.kind === 'kill' && outcome.end.by === 'limit' ? ', over a limit' : ''}]`
    default:
      return `[${outcome.end?.kind === 'lost' ? `lost: ${outcome.end.reason}` : endWords(outcome)}, ${took}]`
  }
}

function runningLine(id: string | null, pid: number | null, took: string, prompt: string | null): string {
  const who = `${id ?? 'no id'}, pid ${pid ?? 'unknown'}, ${took}`
  if (prompt !== null)
    return `[waiting for input: ${JSON.stringify(prompt)}; ${who}; answer with SendInput, stop with KillShell]`
  return `[running, NOT killed: ${who}; read or wait with BashOutput, stop with KillShell]`
}

function noOutput({ outcome }: Ran): string {
  return outcome.status === 'running' ? '' : '(no output)'
}

export function renderStarted(info: JobInfo, timeoutMs: number | null): ToolResult {
  const limit = timeoutMs === null ? '' : `, ended after ${duration(timeoutMs)}`
  const text = `[running in background: ${info.id}, pid ${info.pid ?? 'unknown'}${limit}; read with BashOutput, stop with KillShell]`
  return {
    text: lines(text, noteLines(info.notes)),
    structured: { ...jobJson(info), truncated: false, omitted_bytes: 0 },
    isError: false,
  }
}

export function renderReading(reading: Reading, waited: WaitResult | null = null): ToolResult {
  const { info } = reading
  const body = bodyOfParts(reading.parts)
  const stderr = reading.parts.find((part) => part.stream === 'stderr')?.text ?? ''
  const matched = waited?.reason === 'until' ? `, matched ${JSON.stringify(waited.match ?? '')}` : ''
  const empty = reading.filtered ? '(no new line matches the filter)' : '(no new output)'
  return {
    text: lines(`[${info.id} ${jobWords(info)}${matched}]`, noteLines(info.notes), body === '' ? empty : body),
    structured: {
      ...jobJson(info),
      is_running: info.isRunning,
      cursor: reading.cursor,
      truncated: reading.omittedBytes > 0,
      omitted_bytes: reading.omittedBytes,
      text: body,
      ...(stderr === '' ? {} : { stderr }),
      ...(waited ? { waited_for: waited.reason } : {}),
    },
    isError: false,
  }
}

export function renderKilled({ info, alreadyStopped, forced, notes }: KillResult): ToolResult {
  const said = alreadyStopped
    ? `${info.id} already stopped: ${jobWords(info)}`
    : `${info.id} terminated after ${duration(info.durationMs)}${forced ? ', by force' : ''}`
  return {
    text: lines(`[${said}]`, noteLines(notes)),
    structured: { ...jobJson(info), notes: [...info.notes, ...notes], already_stopped: alreadyStopped, forced },
    isError: false,
  }
}

/** Everything that runs, and the latest of what has ended: a long life must not make a long list. */
const LISTED_ENDED = 20

export function renderList(all: readonly JobInfo[], sessions: readonly SessionInfo[]): ToolResult {
  const ended = all.filter((info) => !info.isRunning)
  const older = Math.max(0, ended.length - LISTED_ENDED)
  const hidden = new Set(ended.slice(0, older))
  const jobs = all.filter((info) => !hidden.has(info))
  const rows = jobs.map((info) => `${info.id}  ${jobWords(info)}  ${oneLine(info.command)}`)
  const rooms = sessions.map(
    (session) =>
      `session ${session.name}  ${session.busy ? 'busy' : 'idle'}  ${session.cwd}${session.leftovers.map((left) => `  [still running: ${left.pid} ${oneLine(left.command)}]`).join('')}`,
  )
  return {
    text: lines(
      rows.length > 0 ? rows.join('\n') : 'No background shells.',
      older > 0 ? `[${older} older ended shells not listed]` : '',
      rooms.join('\n'),
    ),
    structured: {
      shells: jobs.map((info) => jobJson(info)),
      older,
      sessions: sessions.map(({ name, pid, cwd, busy, calls, restarts, leftovers }) => ({
        name,
        pid,
        cwd,
        busy,
        calls,
        restarts,
        leftovers,
      })),
    },
    isError: false,
  }
}

export function renderError(error: ShellError, extra: Record<string, unknown> = {}): ToolResult {
  return {
    text: `[error ${error.code}] ${errorText(error)}`,
    structured: { status: 'error', ...extra, error: { code: error.code, message: error.message, hint: error.hint } },
    isError: true,
  }
}

function jobJson(info: JobInfo): Record<string, unknown> {
  return {
    status: info.status,
    exit_code: info.exitCode,
    signal: info.signal,
    id: info.id,
    command: info.command,
    ...(info.description === null ? {} : { description: info.description }),
    cwd: info.cwd,
    pid: info.pid,
    pgid: info.pgid,
    duration_ms: info.durationMs,
    output_file: info.outputFile,
    notes: info.notes,
  }
}

function oneLine(command: string): string {
  const flat = command.replace(/\s+/g, ' ').trim()
  return flat.length > 80 ? `${flat.slice(0, 77)}...` : flat
}
