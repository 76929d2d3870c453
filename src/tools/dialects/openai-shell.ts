/** OpenAI's `shell` action: a list of commands in, one `{stdout, stderr, outcome}` per command out. */
import { badRequest, ShellError } from '../../contract/errors.js'
import { defineTool, USUAL_POLICY, type Dialect } from '../dialect.js'
import { outcomeNumber } from '../reading/exit-number.js'
import { RUNS } from '../kinds.js'
import { inputOf, list, outputOf, text, whole } from '../schema/schema.js'
import { clipEnds } from '../../output/clip.js'
import {
  asShellError,
  bad,
  clippedWords,
  dryRunText,
  errorText,
  good,
  lines,
  noteLines,
  refusalText,
} from '../texts.js'
import type { ToolResult } from '../tool.js'
import type { Ran } from '../toolbox.js'

/** As the Responses API wants it back, one per command. */
export interface ShellOutput {
  readonly stdout: string
  readonly stderr: string
  readonly outcome: { readonly type: 'exit'; readonly exit_code: number } | { readonly type: 'timeout' }
}

/** The entries of a result. Where nothing ran, one that says why: the model has to hear it, and has no other place. */
export function shellOutputs({ structured, text: stderr }: ToolResult): ShellOutput[] {
  const output = structured['output'] as ShellOutput[]
  return output.length > 0 ? output : [{ stdout: '', stderr, outcome: { type: 'exit', exit_code: 125 } }]
}

const shell = defineTool({
  name: 'shell',
  title: 'Run commands',
  annotations: RUNS.annotations,
  describe: ({ shell: name, timeouts }) =>
    `Runs commands one after the other in a persistent ${name} session; returns stdout, stderr and outcome of ` +
    `each. Each is ended after timeout_ms (default ${timeouts.defaultMs}); the session is NOT lost by that.`,
  inputSchema: ({ timeouts }) =>
    inputOf(
      {
        commands: list(text(), 'Commands to run, in order'),
        timeout_ms: whole('For each command', { minimum: 1, maximum: timeouts.maxMs }),
        max_output_length: whole('Characters per stream', { minimum: 1 }),
      },
      ['commands'],
    ),
  outputSchema: outputOf({ output: list({ type: 'object' }), max_output_length: whole(), error: text() }, ['output']),
  native: {
    'openai-responses': { type: 'shell', environment: { type: 'local' } },
    'openai-responses-strict': { type: 'shell', environment: { type: 'local' } },
  },
  aliases: { timeoutMs: 'timeout_ms', maxOutputLength: 'max_output_length' },
  fail: (error) => bad(errorText(error), { output: [], error: errorText(error) }),
  call: async (box, { commands, timeout_ms, max_output_length }, call) => {
    if (commands.length === 0)
      throw badRequest("'commands' must hold at least one command.", 'Give the commands to run, in order.')
    const output: ShellOutput[] = []
    const texts: string[] = []
    for (const command of commands) {
      const ran = await box.foreground({ command, timeoutMs: timeout_ms }, call).catch((error: unknown) => {
        if (output.length === 0) throw error
        return asShellError(error)
      })
      // What ran before it has its effects: a model that heard of the error alone would run all of it again.
      if (ShellError.is(ran)) return stoppedAt(ran, commands, output, texts)
      const entry = entryOf(ran, max_output_length)
      output.push(entry)
      texts.push(
        lines(
          `[${[howItEnded(ran), clippedWords(ran.outcome)].filter(Boolean).join('; ')}]${commands.length > 1 ? ` ${command}` : ''}`,
          entry.stdout,
          entry.stderr === '' ? '' : `[stderr]\n${entry.stderr}`,
        ),
      )
      // After an interrupt the rest was not meant to run either.
      if (call.signal?.aborted) break
    }
    return good(texts.join('\n'), { output, ...(max_output_length === undefined ? {} : { max_output_length }) })
  },
})

/** The commands before this one ran; it could not be started, and those after it were not. */
function stoppedAt(
  error: ShellError,
  commands: readonly string[],
  output: readonly ShellOutput[],
  texts: readonly string[],
): ToolResult {
  const why = `[not run] ${errorText(error)}`
  const missed = commands.slice(output.length).map((command, i) => ({
    command,
    entry: {
      stdout: '',
      stderr: i === 0 ? why : '[not run] A command before it could not be started.',
      outcome: { type: 'exit', exit_code: 125 },
    } satisfies ShellOutput,
  }))
  return bad([...texts, ...missed.map(({ command, entry }) => `${entry.stderr} ${command}`.trimEnd())].join('\n'), {
    output: [...output, ...missed.map(({ entry }) => entry)],
    error: errorText(error),
  })
}

function entryOf(ran: Ran, maxChars: number | undefined): ShellOutput {
  const { outcome } = ran
  const clip = (stream: string): string =>
    maxChars === undefined ? stream : clipEnds(stream, { maxChars, wholeAt: outcome.outputFile }).text
  const stdout = outcome.status === 'dry_run' ? dryRunText(ran.command) : clip(outcome.output ?? outcome.stdout)
  const remark = outcome.refused
    ? refusalText(outcome, ran.command)
    : outcome.status === 'running'
      ? `[still running, NOT killed: ${outcome.id}, output in ${outcome.outputFile}]`
      : ''
  const stderr = lines(clip(outcome.stderr), remark, noteLines(outcome.notes))
  // The action knows two outcomes. A command that goes on has no exit code yet, and 0 would be a lie.
  if (outcome.status === 'timeout' || outcome.status === 'running')
    return { stdout, stderr, outcome: { type: 'timeout' } }
  return { stdout, stderr, outcome: { type: 'exit', exit_code: outcomeNumber(outcome) } }
}

function howItEnded({ outcome }: Ran): string {
  if (outcome.status === 'running') return 'still running'
  return outcome.status === 'timeout' ? 'timed out' : `exit ${outcomeNumber(outcome)}`
}

export const openaiShell: Dialect = {
  name: 'openai-shell',
  summary: "OpenAI's shell action: commands[], one stdout, stderr and outcome for each.",
  policy: { ...USUAL_POLICY, timeouts: { defaultMs: 120_000, maxMs: 900_000, slowMs: 900_000 } },
  tools: [shell],
}
