/**
 * Codex's unified exec: `exec_command` yields, `write_stdin` types and polls; what is alive
 * after the yield has a session id.
 */
import type { ShellError } from '../../contract/errors.js'
import { noteTexts } from '../../contract/note.js'
import type { Job, JobInfo } from '../../contract/job.js'
import { defineTool, USUAL_POLICY, type Dialect } from '../dialect.js'
import { exitNumber } from '../reading/exit-number.js'
import { RUNS, typesIntoJob } from '../kinds.js'
import { BY_PERMISSION } from '../schema/outside.js'
import { flag, inputOf, list, outputOf, text, whole } from '../schema/schema.js'
import {
  bad,
  bodyOf,
  bodyOfParts,
  doingWords,
  dryRunText,
  endWords,
  errorText,
  good,
  lines,
  noteLines,
  refusalText,
  withoutFile,
} from '../texts.js'
import type { CallOptions, ToolResult } from '../tool.js'
import type { Ran, Toolbox } from '../toolbox.js'

const EXEC_YIELD_MS = 10_000
const WRITE_YIELD_MS = 250
const POLL_YIELD_MS = 5_000
const MAX_YIELD_MS = 30_000
const MAX_POLL_MS = 300_000
const MIN_YIELD_MS = 250
const DEFAULT_TOKENS = 10_000
/** What the model's own tool takes a token to be. */
const CHARS_PER_TOKEN = 4

const YIELD_FIELDS = {
  yield_time_ms: whole('How long to wait for output before yielding; yielding never kills', { minimum: 0 }),
  max_output_tokens: whole('More output than this is cut in the middle', { minimum: 1 }),
}
const OUTPUT = outputOf(
  {
    output: text(),
    exit_code: whole(),
    session_id: whole(),
    wall_time_seconds: { type: 'number' },
    original_token_count: whole(),
    state: text(),
    notes: list(text()),
    error: text(),
  },
  ['output'],
)

const execCommand = defineTool({
  ...RUNS,
  name: 'exec_command',
  describe: ({ shell }) =>
    `Runs a command (${shell}), returning output, or a session ID while it is still running. Yielding is NOT a ` +
    'timeout: the command goes on.',
  inputSchema: () =>
    inputOf(
      {
        cmd: text('Shell command to execute'),
        workdir: text('Directory to run in'),
        tty: flag('Give it a terminal; needed to write to it'),
        ...YIELD_FIELDS,
      },
      ['cmd'],
    ),
  outputSchema: OUTPUT,
  aliases: { command: 'cmd', cwd: 'workdir', dir_path: 'workdir', pty: 'tty' },
  argv: ['cmd'],
  outside: BY_PERMISSION,
  fail: failed,
  call: async (box, { cmd, workdir, tty, yield_time_ms, max_output_tokens }, call) => {
    if (box.engine.sandbox && call.outside !== undefined)
      return renderRan(await box.foreground({ command: cmd, cwd: workdir }, call))
    const started = await box.background({ command: cmd, cwd: workdir, pty: tty }, call)
    if (started.kind === 'started')
      return collect(box, started.job, yieldOf(yield_time_ms, EXEC_YIELD_MS, MAX_YIELD_MS), call, max_output_tokens)
    return renderRan(started.ran)
  },
})

/**
 * A command that did not become a session: refused, looked at only, or outside the sandbox,
 * where it ends before the answer.
 */
function renderRan({ outcome, command }: Ran): ToolResult {
  if (outcome.refused) return bad(refusalText(outcome, command), { output: '', error: refusalText(outcome, command) })
  if (outcome.status === 'dry_run') return good(dryRunText(command), { output: dryRunText(command) })
  const { exitCode, notes, durationMs } = outcome
  const state = exitCode === null ? `Process ended: ${endWords(outcome)}` : `Process exited with code ${exitCode}`
  const facts = exitCode === null ? {} : { exit_code: exitCode }
  return report(durationMs / 1_000, [state, noteLines(notes)], bodyOf(outcome, ''), facts)
}

/** How long the command took, its state, and what it printed. */
function report(seconds: number, state: readonly string[], output: string, facts: Record<string, unknown>): ToolResult {
  const text = lines(`Wall time: ${seconds.toFixed(4)} seconds`, ...state, `Output:\n${output}`)
  return good(text, { output, wall_time_seconds: seconds, ...facts })
}

const writeStdin = defineTool({
  ...typesIntoJob('session_id'),
  name: 'write_stdin',
  title: 'Type into a session',
  annotations: RUNS.annotations,
  describe: () =>
    'Writes characters to a running session (start it with tty=true) and returns new output; empty chars only ' +
    'poll. \\u0003 interrupts.',
  inputSchema: () =>
    inputOf(
      {
        session_id: whole('The id that exec_command returned'),
        chars: text('What to type; empty to poll'),
        ...YIELD_FIELDS,
      },
      ['session_id'],
    ),
  outputSchema: OUTPUT,
  fail: failed,
  call: async (box, { session_id, chars = '', yield_time_ms, max_output_tokens }, call) => {
    const id = String(session_id)
    const job = await box.job(id)
    if (chars === '\u0003') await box.send(id, { keys: ['C-c'] })
    else if (chars !== '') await job.send({ text: chars })
    const yieldMs =
      chars === ''
        ? yieldOf(yield_time_ms, POLL_YIELD_MS, MAX_POLL_MS)
        : yieldOf(yield_time_ms, WRITE_YIELD_MS, MAX_YIELD_MS)
    return collect(box, job, yieldMs, call, max_output_tokens)
  },
})

/** Waits for the end or the yield, whichever is first, and reads what is new. */
async function collect(
  box: Toolbox,
  job: Job,
  yieldMs: number,
  call: CallOptions,
  tokens = DEFAULT_TOKENS,
): Promise<ToolResult> {
  const begun = performance.now()
  await job.wait({ exit: true, timeoutMs: box.patience(yieldMs), signal: call.signal })
  const { reading, look } = await box.look(job.id, { maxChars: tokens * CHARS_PER_TOKEN, signal: call.signal })
  const { info } = reading
  const output = withoutFile(look.screen ?? bodyOfParts(reading.parts), info.outputFile)
  const doing = doingWords(info, look)
  const seconds = (performance.now() - begun) / 1_000
  const original = reading.omittedBytes > 0 ? Math.ceil((reading.omittedBytes + output.length) / CHARS_PER_TOKEN) : null
  const exitCode = info.isRunning ? null : exitNumber(info)
  const clipped = original === null ? '' : `Original token count: ${original} (clipped; whole in ${info.outputFile})`
  return report(seconds, [[stateOf(info), ...doing].join(', '), clipped, noteLines(info.notes)], output, {
    ...(exitCode === null ? { session_id: Number(info.id) || 0 } : { exit_code: exitCode }),
    ...(doing.length === 0 ? {} : { state: doing.join(', ') }),
    ...(info.notes.length === 0 ? {} : { notes: noteTexts(info.notes) }),
    ...(original === null ? {} : { original_token_count: original }),
  })
}

function stateOf(info: JobInfo): string {
  if (info.isRunning) return `Process running with session ID ${info.id}`
  if (info.exitCode !== null) return `Process exited with code ${info.exitCode}`
  if (info.end?.kind === 'kill') return `Process was killed, ${endWords(info)}`
  return info.signal === null ? `Process ended: ${info.status}` : `Process ended by signal ${info.signal}`
}

function yieldOf(wanted: number | undefined, usualMs: number, mostMs: number): number {
  return Math.min(mostMs, Math.max(MIN_YIELD_MS, wanted ?? usualMs))
}

function failed(error: ShellError): ToolResult {
  const text = errorText(error).replace('with pty (or openStdin)', 'with tty')
  return bad(text, { output: '', error: text })
}

export const codex: Dialect = {
  name: 'codex',
  summary: "Codex's exec_command and write_stdin: everything yields, nothing is killed by waiting.",
  policy: {
    ...USUAL_POLICY,
    state: 'fresh',
    terminal: 'tty',
    streams: 'merged',
    clip: { kind: 'ends', maxChars: DEFAULT_TOKENS * CHARS_PER_TOKEN },
    timeouts: { defaultMs: EXEC_YIELD_MS, maxMs: MAX_POLL_MS, slowMs: MAX_POLL_MS },
    newId: { make: () => String(1_000 + Math.floor(Math.random() * 99_000)) },
  },
  tools: [execCommand, writeStdin],
}
