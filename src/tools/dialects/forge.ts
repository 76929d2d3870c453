/** Documents 002 and 003: Bash, BashOutput, KillShell with `{success, output, error, metadata}`. */
import type { ShellError } from '../../contract/errors.js'
import type { JobInfo, KillResult } from '../../contract/job.js'
import { clipHead } from '../../output/clip.js'
import { AS_IT_CAME, defineTool, USUAL_POLICY, type Dialect } from '../dialect.js'
import { bashCall, endsJob, readsJob, RUNS } from '../kinds.js'
import { BY_SWITCH } from '../schema/outside.js'
import type { Reading } from '../reading/read.js'
import { flag, inputOf, orNull, outputOf, text, whole } from '../schema/schema.js'
import {
  bad,
  bodyOf,
  bodyOfParts,
  byExit,
  dryRunText,
  endWords,
  errorText,
  failureWords,
  good,
  lines,
  noteLines,
  refusalText,
} from '../texts.js'
import type { ToolResult } from '../tool.js'
import type { Ran } from '../toolbox.js'

const OUTPUT = outputOf({ success: flag(), output: text(), error: orNull(text()), metadata: { type: 'object' } }, [
  'success',
  'output',
  'error',
  'metadata',
])

const bash = defineTool({
  ...RUNS,
  name: 'Bash',
  describe: ({
    shell,
    timeouts,
  }) => `Executes a given bash command in a persistent shell session (${shell}): directory and variables stay for the next call.

For terminal operations like git, npm, docker. Do NOT use it for file operations: use the specialized file tools instead.

- The command argument is required
- Timeout defaults to ${timeouts.defaultMs}ms, max ${timeouts.maxMs}ms; then the command is ended and its output so far returned
- Output exceeding 30000 characters will be truncated
- Use run_in_background=true for long-running commands
- Quote file paths with spaces using double quotes
- Use && to chain dependent commands, ; when you don't care if earlier commands fail`,
  inputSchema: ({ timeouts }) =>
    inputOf(
      {
        command: text('The command to execute'),
        description: text('Clear, concise description of what this command does (5-10 words)'),
        timeout: whole(`Timeout in milliseconds (max ${timeouts.maxMs})`, { minimum: 1_000, maximum: timeouts.maxMs }),
        run_in_background: flag('Run command in background, use BashOutput to read output'),
      },
      ['command'],
    ),
  outputSchema: OUTPUT,
  fail: failed,
  outside: BY_SWITCH,
  call: bashCall({ ran: renderRan, started: renderStarted }),
})

const bashOutput = defineTool({
  ...readsJob('bash_id'),
  name: 'BashOutput',
  describe: () => `Retrieves output from a running or completed background bash shell.

- Takes the bash_id of the shell
- Returns only new output since last check, stderr under [stderr], along with shell status
- Supports optional regex filtering; lines filtered out count as read
- Reading never stops the shell`,
  inputSchema: () =>
    inputOf(
      {
        bash_id: text('The ID of the background shell to retrieve output from'),
        filter: text('Optional regex to filter output lines'),
      },
      ['bash_id'],
    ),
  outputSchema: OUTPUT,
  fail: failed,
  call: async (box, { bash_id, filter }) => renderReading(await box.read(bash_id, { filter })),
})

const killShell = defineTool({
  ...endsJob('shell_id'),
  name: 'KillShell',
  describe: () => `Kills a running background bash shell, with every process it started, by its ID.

- Takes a shell_id parameter identifying the shell to kill
- A shell that has already stopped is not an error`,
  inputSchema: () => inputOf({ shell_id: text('The ID of the background shell to kill') }, ['shell_id']),
  outputSchema: OUTPUT,
  fail: failed,
  call: async (box, { shell_id }, call) => renderKilled(await box.kill(shell_id, call)),
})

function renderRan(ran: Ran): ToolResult {
  const { outcome } = ran
  const clipped = clipHead(bodyOf(outcome), { maxChars: 30_000 })
  const truncated = clipped.truncated || outcome.truncated
  const output = lines(clipped.text, noteLines(outcome.notes))
  const metadata: Record<string, unknown> = {
    command: ran.command,
    exit_code: outcome.exitCode,
    truncated,
    duration_ms: outcome.durationMs,
    cwd: outcome.cwd,
  }
  if (ran.description !== null) metadata['description'] = ran.description
  if (truncated && outcome.outputFile !== null) metadata['output_file'] = outcome.outputFile
  switch (outcome.status) {
    case 'completed':
      return ok(output, metadata)
    case 'dry_run':
      return ok(dryRunText(ran.command), { ...metadata, dry_run: true })
    case 'refused':
      return no(refusalText(outcome, ran.command), '', { ...metadata, rule: outcome.refused?.rule })
    case 'timeout': {
      const afterMs = outcome.end?.kind === 'timeout' ? outcome.end.afterMs : ran.timeoutMs
      return no(lines(`Command timed out after ${afterMs}ms`, output), output, {
        ...metadata,
        timeout_ms: afterMs,
        status: 'timeout',
      })
    }
    case 'killed':
      return no(lines('Command was interrupted', output), output, { ...metadata, status: 'killed' })
    case 'running':
      return ok(
        lines(
          `Command is still running as background shell: ${outcome.id} (NOT killed; read it with BashOutput, ` +
            'stop it with KillShell)',
          output,
        ),
        {
          ...metadata,
          bash_id: outcome.id,
          status: 'running',
          is_running: true,
        },
      )
    default: {
      const more = outcome.signal === null ? metadata : { ...metadata, signal: outcome.signal }
      return { ...no(lines(`Command failed with ${failureWords(outcome)}`, output), output, more), ...byExit(ran) }
    }
  }
}

function renderStarted(info: JobInfo): ToolResult {
  return ok(
    `Started background shell: ${info.id}\nCommand: ${info.command}\n` +
      `Use BashOutput tool with bash_id='${info.id}' to read output.`,
    {
      bash_id: info.id,
      command: info.command,
      ...(info.description === null ? {} : { description: info.description }),
      status: info.status,
      is_running: info.isRunning,
    },
  )
}

function renderReading(reading: Reading): ToolResult {
  const { info } = reading
  const body = bodyOfParts(reading.parts)
  const exit = info.isRunning ? '' : `, ${info.exitCode === null ? endWords(info) : `Exit code: ${info.exitCode}`}`
  const state = `Status: ${info.status}${exit}, Duration: ${Math.round(info.durationMs)}ms\n\n`
  return ok(`${state}${body === '' ? '(no new output since last check)' : body}`, {
    bash_id: info.id,
    status: info.status,
    exit_code: info.exitCode,
    is_running: info.isRunning,
    duration_ms: info.durationMs,
    ...(reading.omittedBytes > 0 ? { truncated: true, output_file: info.outputFile } : {}),
  })
}

function renderKilled({ info, alreadyStopped, notes }: KillResult): ToolResult {
  const said = alreadyStopped
    ? `Shell ${info.id} already stopped (status: ${info.status})`
    : `Shell ${info.id} terminated`
  return ok(lines(said, noteLines(notes)), {
    shell_id: info.id,
    command: info.command,
    duration_ms: info.durationMs,
    status: info.status,
    ...(alreadyStopped ? { already_stopped: true } : {}),
  })
}

function ok(output: string, metadata: Record<string, unknown>): ToolResult {
  return good(output === '' ? '(no output)' : output, { success: true, output, error: null, metadata })
}

function no(error: string, output: string, metadata: Record<string, unknown>): ToolResult {
  return bad(error, { success: false, output, error, metadata })
}

function failed(error: ShellError): ToolResult {
  return no(errorText(error), '', { code: error.code })
}

export const forge: Dialect = {
  name: 'forge',
  summary: 'Documents 002 and 003: Bash, BashOutput, KillShell with success, output, error and metadata.',
  policy: {
    ...USUAL_POLICY,
    jobStreams: 'separate',
    // stdout and stderr share one limit, so the clip is made over both, in the renderer.
    clip: { kind: 'none' },
    ...AS_IT_CAME,
  },
  tools: [bash, bashOutput, killShell],
}
