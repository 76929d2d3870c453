/**
 * Gemini's `run_shell_command`: a fresh shell per call, a labelled report, processes left behind named by their group.
 */
import type { JobInfo } from '../../contract/job.js'
import { defineTool, USUAL_POLICY, type Dialect } from '../dialect.js'
import { RUNS, runOrStart } from '../kinds.js'
import { flag, inputOf, orNull, outputOf, text, whole } from '../schema/schema.js'
import { bad, bodyOf, clippedWords, dryRunText, errorText, good, lines, refusalText, withoutFile } from '../texts.js'
import type { ToolResult } from '../tool.js'
import type { Ran } from '../toolbox.js'

const runShellCommand = defineTool({
  ...RUNS,
  name: 'run_shell_command',
  describe: ({ shell, timeouts }) =>
    `Executes a command as \`bash -c <command>\` (${shell}) in a fresh shell, without stdin. Ended after ` +
    `${timeouts.defaultMs / 1_000} seconds unless is_background. Returns output, and exit code, signal or ` +
    'process group where they matter.',
  inputSchema: () =>
    inputOf(
      {
        command: text('Exact bash command to execute as `bash -c <command>`'),
        description: text('Brief description of the command for the user'),
        dir_path: text('Directory to run the command in; default is the project root'),
        is_background: flag('Start it in the background and return its pid and output file'),
      },
      ['command'],
    ),
  outputSchema: outputOf({
    output: text(),
    error: text(),
    exit_code: orNull(whole()),
    signal: orNull(text()),
    pid: orNull(whole()),
    pgid: orNull(whole()),
    output_file: text(),
  }),
  aliases: { cwd: 'dir_path', workdir: 'dir_path', directory: 'dir_path', run_in_background: 'is_background' },
  fail: (error) => failed(errorText(error)),
  call: (box, { command, description, dir_path: cwd, is_background: asJob }, call) =>
    runOrStart(box, call, { command, description, cwd, asJob }, { ran: renderRan, started: renderStarted }),
})

function renderRan(ran: Ran): ToolResult {
  const { outcome } = ran
  if (outcome.refused) return failed(refusalText(outcome, ran.command))
  if (outcome.status === 'dry_run') return good(dryRunText(ran.command), { output: dryRunText(ran.command) })
  const clipped = clippedWords(outcome)
  const output = withoutFile(bodyOf(outcome), outcome.outputFile)
  const trouble = troubleOf(ran)
  const report = lines(
    clipped === '' ? '' : `Note: ${clipped}`,
    trouble === null ? '' : `Error: ${trouble}`,
    outcome.status === 'running' || outcome.status === 'completed'
      ? ''
      : outcome.signal === null
        ? `Exit Code: ${outcome.exitCode ?? '(none)'}`
        : `Signal: ${outcome.signal}`,
    outcome.status === 'running'
      ? `Process Group PGID: ${outcome.pgid} (still running, NOT killed; output in ${outcome.outputFile})`
      : '',
    ...outcome.notes.map(({ text }) => `Note: ${text}`),
    `Output: ${output === '' ? '(empty)' : output}`,
  )
  return {
    text: report,
    structured: {
      output: report,
      ...(trouble === null ? {} : { error: trouble }),
      exit_code: outcome.exitCode,
      ...(outcome.signal === null ? {} : { signal: outcome.signal }),
      ...(outcome.status === 'running' ? { pid: outcome.pid, pgid: outcome.pgid } : {}),
    },
    isError: trouble !== null,
  }
}

function troubleOf({ outcome, timeoutMs }: Ran): string | null {
  if (outcome.status === 'timeout')
    return `Command timed out after ${timeoutMs}ms and was ended. Below is the output before that.`
  if (outcome.status === 'killed') return 'Command was cancelled. Below is the output before that.'
  return null
}

function renderStarted(info: JobInfo): ToolResult {
  const text =
    `Command started in background, PID: ${info.pid}, Process Group PGID: ${info.pgid}. Output goes to ` +
    `${info.outputFile}; stop it with: kill -- -${info.pgid}`
  return good(text, { output: text, pid: info.pid, pgid: info.pgid, output_file: info.outputFile })
}

function failed(message: string): ToolResult {
  return bad(message, { error: message })
}

export const gemini: Dialect = {
  name: 'gemini',
  summary: "Gemini's run_shell_command: a fresh shell per call, a labelled report.",
  policy: {
    ...USUAL_POLICY,
    state: 'fresh',
    streams: 'merged',
    timeouts: { defaultMs: 300_000, maxMs: 600_000, slowMs: 600_000 },
  },
  tools: [runShellCommand],
}
