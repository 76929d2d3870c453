/** Document 004: Bash, BashOutput, KillBash with `{success, content, error, bash_id}`. */
import type { ShellError } from '../../contract/errors.js'
import type { JobInfo } from '../../contract/job.js'
import { clipHead } from '../../output/clip.js'
import { defineTool, USUAL_POLICY, type Dialect } from '../dialect.js'
import { bashCall, endsJob, readsJob, RUNS } from '../kinds.js'
import { BY_SWITCH } from '../schema/outside.js'
import type { Reading } from '../reading/read.js'
import { flag, inputOf, outputOf, text, whole } from '../schema/schema.js'
import {
  bad,
  bodyOf,
  bodyOfParts,
  byExit,
  dryRunText,
  endWords,
  errorText,
  good,
  lines,
  noteLines,
  refusalText,
} from '../texts.js'
import type { ToolResult } from '../tool.js'
import type { Ran } from '../toolbox.js'

const OUTPUT = outputOf({ success: flag(), content: text(), error: text(), bash_id: text() }, ['success', 'content'])

const bash = defineTool({
  ...RUNS,
  name: 'Bash',
  describe: ({ shell, timeouts }) =>
    `Executes a command in a persistent ${shell} session: environment variables and directory stay for the ` +
    'next call. Prefer the specialized tools (Read, Write, Edit, Grep) where one fits. Foreground commands are ' +
    `ended after the timeout (default ${timeouts.defaultMs} ms) and return what they printed until then. ` +
    'Output over 30000 characters is truncated. Long-running commands: run_in_background.',
  inputSchema: ({ timeouts }) =>
    inputOf(
      {
        command: text('The command to execute'),
        timeout: whole(`Timeout in milliseconds (max ${timeouts.maxMs})`, { minimum: 1, maximum: timeouts.maxMs }),
        description: text('What the command does, in 5-10 words'),
        run_in_background: flag('Return a bash_id at once; read with BashOutput'),
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
  describe: () =>
    'Returns the accumulated output and the state of a background shell. Reading never stops it, and nothing ' +
    'is lost by reading late.',
  inputSchema: () =>
    inputOf(
      {
        bash_id: text('The ID of the background shell'),
        filter: text('Regular expression; only matching lines are returned'),
      },
      ['bash_id'],
    ),
  outputSchema: OUTPUT,
  fail: failed,
  call: async (box, { bash_id, filter }) => renderReading(await box.readAll(bash_id, { filter })),
})

const killBash = defineTool({
  ...endsJob('shell_id'),
  name: 'KillBash',
  describe: () => 'Ends a background shell with its whole process group.',
  inputSchema: () => inputOf({ shell_id: text('The ID of the background shell') }, ['shell_id']),
  outputSchema: OUTPUT,
  fail: failed,
  call: async (box, { shell_id }, call) => {
    const { info, alreadyStopped, notes } = await box.kill(shell_id, call)
    if (alreadyStopped)
      return no(`Background shell ${info.id} is not running (status: ${info.status})`, '', { bash_id: info.id })
    return ok(lines(`Background shell ${info.id} has been killed`, noteLines(notes)), { bash_id: info.id })
  },
})

function renderRan(ran: Ran): ToolResult {
  const { outcome } = ran
  const clipped = clipHead(bodyOf(outcome, ''), { maxChars: 30_000, marker: '\n\n... (output truncated)' })
  const content = lines(clipped.text, noteLines(outcome.notes))
  switch (outcome.status) {
    case 'completed':
      return ok(content === '' ? 'Command executed with exit code: 0' : content)
    case 'dry_run':
      return ok(dryRunText(ran.command))
    case 'refused':
      return no(refusalText(outcome, ran.command), '')
    case 'timeout':
      return no('Command timed out', content)
    case 'killed':
      return no('Command execution was aborted', content)
    case 'running':
      return ok(
        lines(
          `Command is still running in background with ID: ${outcome.id} (NOT killed; read it with BashOutput, ` +
            'stop it with KillBash)',
          content,
        ),
        { bash_id: outcome.id ?? '' },
      )
    default: {
      const how = outcome.signal === null ? `exit code: ${outcome.exitCode}` : endWords(outcome)
      return { ...no(`Command failed with ${how}`, content), ...byExit(ran) }
    }
  }
}

function renderStarted({ id }: JobInfo): ToolResult {
  return ok(
    `Command started in background with ID: ${id}. Use BashOutput tool with bash_id="${id}" to monitor output.`,
    { bash_id: id },
  )
}

function renderReading(reading: Reading): ToolResult {
  const { info } = reading
  const body = bodyOfParts(reading.parts, '')
  const state = info.isRunning
    ? `${info.id}: ${info.status}`
    : `${info.id}: ${info.status} (${info.exitCode ?? endWords(info)})`
  return good(lines(state, body === '' ? 'No output available' : body), {
    success: true,
    content: body === '' ? 'No output available' : body,
    bash_id: info.id,
    status: info.status,
    exit_code: info.exitCode,
  })
}

function ok(content: string, more: Record<string, unknown> = {}): ToolResult {
  return good(content, { success: true, content, ...more })
}

function no(error: string, content: string, more: Record<string, unknown> = {}): ToolResult {
  return bad(lines(error, content), { success: false, content, error, ...more })
}

function failed(error: ShellError): ToolResult {
  return no(errorText(error), '')
}

export const wave: Dialect = {
  name: 'wave',
  summary: 'Document 004: Bash, BashOutput (accumulated), KillBash with success, content and error.',
  policy: {
    ...USUAL_POLICY,
    jobStreams: 'separate',
    clip: { kind: 'none' },
    newId: { make: (count) => `bash_${count}`, counts: /^bash_(\d+)$/ },
  },
  tools: [bash, bashOutput, killBash],
}
