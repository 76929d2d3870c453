/** Anthropic's typed tool `bash_20250124`: one persistent session, `{command}` or `{restart: true}`. */
import { noteTexts } from '../../contract/note.js'
import { badRequest } from '../../contract/errors.js'
import { defineTool, USUAL_POLICY, type Dialect } from '../dialect.js'
import { RUNS } from '../kinds.js'
import { flag, inputOf, orNull, outputOf, text, whole } from '../schema/schema.js'
import {
  bad,
  bodyOf,
  byExit,
  clippedWords,
  dryRunText,
  endWords,
  errorText,
  good,
  lines,
  noteLines,
  refusalText,
  withoutFile,
} from '../texts.js'
import type { ToolResult } from '../tool.js'
import type { Ran } from '../toolbox.js'

const bash = defineTool({
  ...RUNS,
  name: 'bash',
  describe: ({ shell, timeouts }) =>
    `Run commands in a persistent ${shell} session. A command is ended after ${timeouts.defaultMs} ms; the ` +
    'session is NOT lost by that. No stdin. For what must run on, append & and redirect its output to a file.',
  inputSchema: () =>
    inputOf({
      command: text('The bash command to run; required unless restart'),
      restart: flag('Start over with a new shell'),
    }),
  outputSchema: outputOf({ output: text(), exit_code: orNull(whole()), status: text(), error: text() }, [
    'output',
    'status',
  ]),
  // The model knows this tool by heart; the API takes no schema for it.
  native: { anthropic: { type: 'bash_20250124', name: 'bash' } },
  fail: (error) => bad(errorText(error), { output: '', exit_code: null, status: 'error', error: errorText(error) }),
  call: async (box, { command, restart }, call) => {
    if (restart === true) {
      await (await box.session(call)).restart()
      if (command === undefined)
        return said('The shell was restarted.', { output: '', exit_code: null, status: 'restarted' })
    }
    if (command === undefined)
      throw badRequest("Missing required field: 'command' (string) in bash.", "Give 'command', or restart: true.")
    return renderRan(await box.foreground({ command }, call))
  },
})

function renderRan(ran: Ran): ToolResult {
  const { outcome } = ran
  const clipped = clippedWords(outcome)
  const output = withoutFile(bodyOf(outcome, ''), outcome.outputFile)
  const structured = {
    output,
    exit_code: outcome.exitCode,
    status: outcome.status,
    ...(outcome.truncated && outcome.outputFile !== null ? { output_file: outcome.outputFile } : {}),
    ...(outcome.notes.length > 0 ? { notes: noteTexts(outcome.notes) } : {}),
  }
  const body = lines(clipped === '' ? '' : `[${clipped}]`, noteLines(outcome.notes), output)
  switch (outcome.status) {
    case 'completed':
      return said(body, structured)
    case 'dry_run':
      return said(dryRunText(ran.command), { ...structured, output: dryRunText(ran.command) })
    case 'refused':
      return wrong(refusalText(outcome, ran.command), structured, refusalText(outcome, ran.command))
    case 'timeout': {
      const why =
        `timed out after ${ran.timeoutMs}ms and was ended; the shell and its state are kept; run it with & for ` +
        'longer'
      return wrong(lines(`[${why}]`, body), structured, why)
    }
    case 'killed':
      return wrong(lines('[interrupted; the shell and its state are kept]', body), structured, 'interrupted')
    case 'running':
      return said(lines(`[still running, NOT killed: ${outcome.id}, output in ${outcome.outputFile}]`, body), {
        ...structured,
        id: outcome.id,
      })
    default: {
      const text = lines(body, `[${endWords(outcome)}]`)
      return ran.answeredNo ? said(text, structured) : { ...wrong(text, structured, endWords(outcome)), ...byExit(ran) }
    }
  }
}

function said(text: string, structured: Record<string, unknown>): ToolResult {
  return good(text === '' ? '(no output)' : text, structured)
}

/** `error` says why and not again what was printed: that is in `output`. */
function wrong(text: string, structured: Record<string, unknown>, error: string): ToolResult {
  return bad(text, { ...structured, error })
}

export const anthropic: Dialect = {
  name: 'anthropic',
  summary: "Anthropic's bash_20250124: command or restart, one persistent session.",
  // One output field: both streams in true order.
  policy: { ...USUAL_POLICY, streams: 'merged' },
  tools: [bash],
}
