/** Document 001: one tool `bash` with modes; combined output; background jobs that outlive the agent. */
import { noteTexts } from '../../contract/note.js'
import type { JobInfo } from '../../contract/job.js'
import type { Outcome } from '../../contract/outcome.js'
import { AS_IT_CAME, defineTool, USUAL_POLICY, type Dialect } from '../dialect.js'
import { RUNS, runOrStart } from '../kinds.js'
import { flag, inputOf, oneOf, orNull, outputOf, text, whole } from '../schema/schema.js'
import { bad, bodyOf, dryRunText, errorText, failureWords, good, lines, noteLines, refusalText } from '../texts.js'
import type { ToolResult } from '../tool.js'
import type { Ran } from '../toolbox.js'

const bash = defineTool({
  ...RUNS,
  name: 'bash',
  describe: ({
    cwd,
    shell,
    timeouts,
  }) => `Executes shell commands via bash -c (${shell}), returning combined stdout/stderr. Each call is a new shell: state does NOT persist. No TTY, stdin is empty.

Modes: default (${timeouts.defaultMs / 1_000} seconds), slow (${timeouts.slowMs / 60_000} minutes), background (detached; returns pid and output file at once, is never timed out). After a timeout the process group is ended and the output so far returned.

<pwd>${cwd}</pwd>`,
  inputSchema: () =>
    inputOf(
      {
        command: text('The shell command to execute'),
        mode: oneOf(['default', 'slow', 'background'], 'Execution mode'),
      },
      ['command'],
    ),
  outputSchema: outputOf({
    output: text(),
    exit_code: orNull(whole()),
    timed_out: flag(),
    truncated: flag(),
    pid: whole(),
    pgid: whole(),
    output_file: text(),
    error: outputOf({ kind: text(), message: text() }, ['kind', 'message']),
  }),
  aliases: { cmd: 'command' },
  fail: (error) => failed('system', errorText(error)),
  call: (box, { command, mode = 'default' }, call) => {
    const timeoutMs = { default: box.timeouts.defaultMs, slow: box.timeouts.slowMs, background: null }[mode]
    return runOrStart(
      box,
      call,
      { command, timeoutMs, asJob: mode === 'background' },
      { ran: renderRan, started: renderStarted },
    )
  },
})

function renderRan(ran: Ran): ToolResult {
  const { outcome } = ran
  if (outcome.status === 'refused') return failed('blocked', refusalText(outcome, ran.command))
  const output = bodyOf(outcome)
  const structured = {
    output,
    exit_code: outcome.exitCode,
    timed_out: outcome.status === 'timeout',
    truncated: outcome.truncated,
    ...(outcome.truncated && outcome.outputFile !== null ? { output_file: outcome.outputFile } : {}),
    ...(outcome.signal === null ? {} : { signal: outcome.signal }),
    ...(outcome.notes.length === 0 ? {} : { notes: noteTexts(outcome.notes) }),
  }
  const body = lines(noteLines(outcome.notes), output)
  switch (outcome.status) {
    case 'completed':
      return good(body === '' ? '[no output]' : body, structured)
    case 'dry_run':
      return good(dryRunText(ran.command), { ...structured, output: dryRunText(ran.command), dry_run: true })
    case 'timeout':
      return bad(
        lines(`[command timed out after ${seconds(ran.timeoutMs)}, showing output until timeout]`, body),
        structured,
      )
    case 'killed':
      return bad(lines('[command cancelled]', body), structured)
    case 'running':
      return good(
        lines(`[command still running, NOT killed: pid ${outcome.pid}, stop it with kill -9 -${outcome.pgid}]`, body),
        { ...structured, ...background(outcome) },
      )
    default:
      return good(lines(`[command failed: ${failureWords(outcome)}]`, body), structured)
  }
}

function renderStarted(info: JobInfo): ToolResult {
  const text =
    `<pid>${info.pid}</pid>\n<output_file>${info.outputFile}</output_file>\n` +
    `<reminder>To stop: kill -9 -${info.pgid}</reminder>`
  return good(text, background(info))
}

function background({ pid, pgid, outputFile }: Pick<Outcome, 'pid' | 'pgid' | 'outputFile'>): Record<string, unknown> {
  return { pid: pid ?? 0, pgid: pgid ?? 0, output_file: outputFile ?? '' }
}

/** `system` when it could not run, `blocked` when it was not allowed to: neither is a command that failed. */
function failed(kind: 'system' | 'blocked', message: string): ToolResult {
  const words = kind === 'system' ? `[system error, the command did not run] ${message}` : message
  return bad(words, { error: { kind, message } })
}

function seconds(ms: number | null): string {
  return ms !== null && ms >= 1_000 && ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`
}

export const phoenix: Dialect = {
  name: 'phoenix',
  summary: 'Document 001: one tool bash with modes default, slow and background; fresh shells, combined output.',
  policy: {
    ...USUAL_POLICY,
    state: 'fresh',
    streams: 'merged',
    clip: { kind: 'middle', maxBytes: 131_072, endBytes: 4_096 },
    ...AS_IT_CAME,
    timeouts: { defaultMs: 30_000, maxMs: 900_000, slowMs: 900_000 },
    // Together with the drain of the pipes this stays under the 15 seconds of the document.
    graceMs: 10_000,
    owner: 'detached',
  },
  tools: [bash],
}
