/** Document 000: exec, exec_bg, exec_status, exec_stop with plain JSON results. */
import type { ShellError } from '../../contract/errors.js'
import type { Outcome } from '../../contract/outcome.js'
import type { AutomationRule } from '../../contract/request.js'
import { AS_IT_CAME, defineTool, USUAL_POLICY, type Dialect } from '../dialect.js'
import { endsJob, readsJob, RUNS } from '../kinds.js'
import { flag, inputOf, list, orNull, outputOf, text, whole } from '../schema/schema.js'
import {
  bad,
  bodyOfParts,
  dryRunText,
  duration,
  endWords,
  errorText,
  failureWords,
  good,
  jobWords,
  lines,
  noteLines,
  refusalText,
} from '../texts.js'
import type { ToolResult } from '../tool.js'
import type { ToolRequest } from '../run-request.js'
import type { Ran } from '../toolbox.js'

const COMMAND_FIELDS = {
  command: text('The shell command to execute'),
  workdir: text('Directory to run in'),
  env: list(inputOf({ name: text(), value: text() }, ['name', 'value']), 'Environment variables for this command'),
  pty: flag('Allocate a terminal'),
}
const RUNS_WITH_ENV = {
  ...RUNS,
  maps: ['env'],
  aliases: { cwd: 'workdir', cmd: 'command', dir_path: 'workdir', tty: 'pty' },
}

const COMMAND_INPUT = inputOf(COMMAND_FIELDS, ['command'])
const ID_INPUT = inputOf({ id: text('The id that exec_bg returned') }, ['id'])

const exec = defineTool({
  ...RUNS_WITH_ENV,
  name: 'exec',
  describe: ({ shell, timeouts }) =>
    `Execute a shell command (${shell}, a fresh shell per call) and return stdout, stderr and the exit code. ` +
    `Ended after ${timeouts.defaultMs} ms unless timeout says otherwise. {{secret:name}} and {{decrypt:id}} ` +
    'are resolved at execution and never shown.',
  inputSchema: ({ timeouts }) =>
    inputOf({ ...COMMAND_FIELDS, timeout: whole('Milliseconds', { minimum: 1, maximum: timeouts.maxMs }) }, [
      'command',
    ]),
  outputSchema: outputOf({
    exitCode: orNull(whole()),
    stdout: text(),
    stderr: text(),
    timedOut: flag(),
    blocked: flag(),
    message: text(),
    error: text(),
  }),
  fail: failed,
  call: async (box, input, call) => renderRan(await box.foreground(requestOf(input), call)),
})

const execBg = defineTool({
  ...RUNS_WITH_ENV,
  name: 'exec_bg',
  title: 'Start a command',
  describe: () =>
    'Start a shell command in the background and return its id at once. Nothing ends it but exec_stop, its own ' +
    'end, or the end of the host.',
  inputSchema: () => COMMAND_INPUT,
  outputSchema: outputOf({ id: text(), blocked: flag(), message: text(), error: text() }),
  fail: failed,
  call: async (box, input, call) => {
    const started = await box.background(requestOf(input), call)
    if (started.kind === 'not') return renderRan(started.ran)
    const { id } = started.info
    return good(`Started background process ${id}. Ask with exec_status, stop with exec_stop.`, { id })
  },
})

const execStatus = defineTool({
  ...readsJob('id'),
  name: 'exec_status',
  title: 'State of a process',
  describe: () => 'State and whole output of a background process. Asking never stops it.',
  inputSchema: () => ID_INPUT,
  outputSchema: outputOf({
    id: text(),
    command: text(),
    done: flag(),
    exitCode: orNull(whole()),
    output: text(),
    startTime: text(),
    error: text(),
  }),
  fail: failed,
  call: async (box, { id }) => {
    const reading = await box.readAll(id, { maxChars: STATUS_CHARS })
    const { info } = reading
    const output = bodyOfParts(reading.parts)
    return good(
      lines(
        `${info.id} ${jobWords(info)}: ${info.command}`,
        noteLines(info.notes),
        output === '' ? '(no output)' : output,
      ),
      {
        id: info.id,
        command: info.command,
        done: !info.isRunning,
        exitCode: info.isRunning ? null : (info.exitCode ?? -1),
        output,
        startTime: new Date(info.startedAt).toISOString(),
        ...(info.signal === null ? {} : { error: `ended by ${endWords(info)}` }),
      },
    )
  },
})

/** The whole output as far as one message can carry it; beyond that both ends and the file's name. */
const STATUS_CHARS = 1_000_000

const execStop = defineTool({
  ...endsJob('id'),
  name: 'exec_stop',
  title: 'Stop a process',
  describe: () => 'Stop a background process and everything it started.',
  inputSchema: () => ID_INPUT,
  outputSchema: outputOf({ id: text(), stopped: flag(), error: text() }),
  fail: failed,
  call: async (box, { id }, call) => {
    const { info, alreadyStopped, notes } = await box.kill(id, call)
    const said = alreadyStopped
      ? `${info.id} had already stopped (${endWords(info)})`
      : `${info.id} stopped after ${duration(info.durationMs)}`
    return good(lines(said, noteLines(notes)), { id: info.id, stopped: true })
  },
})

type CommandInput = NonNullable<(typeof COMMAND_INPUT)['value']> & { readonly timeout?: number }

function requestOf({ command, workdir: cwd, env, pty, timeout: timeoutMs }: CommandInput): ToolRequest {
  return { command, cwd, env: env && Object.fromEntries(env.map(({ name, value }) => [name, value])), pty, timeoutMs }
}

function renderRan(ran: Ran): ToolResult {
  const { outcome } = ran
  if (outcome.refused) {
    const message = refusalText(outcome, ran.command)
    return bad(message, { blocked: true, message })
  }
  if (outcome.status === 'dry_run')
    return good(dryRunText(ran.command), { ...streamsOf(outcome), exitCode: 0, timedOut: false, dryRun: true })
  const timedOut = outcome.status === 'timeout'
  const streams = streamsOf(outcome)
  const both = lines(streams.stdout, streams.stderr)
  const notes = noteLines(outcome.notes)
  const structured = {
    exitCode: outcome.exitCode ?? -1,
    ...streams,
    timedOut,
    ...(outcome.signal === null || timedOut ? {} : { signal: outcome.signal }),
  }
  if (timedOut) return bad(lines(`Command timed out after ${ran.timeoutMs}ms`, notes, 'Output:', both), structured)
  if (outcome.status === 'running') {
    const message = `Command still running, NOT stopped, as ${outcome.id}. Ask with exec_status, stop with exec_stop.`
    return good(lines(message, notes, both), { ...structured, id: outcome.id, message })
  }
  if (outcome.status === 'completed') return good(lines(notes, both) || '(no output)', structured)
  const how = outcome.status === 'killed' ? 'Command was stopped' : `Command failed with ${failureWords(outcome)}`
  return {
    text: lines(how, notes, 'Output:', both === '' ? '(no output)' : both),
    structured,
    isError: outcome.status === 'killed',
  }
}

function streamsOf(outcome: Outcome): { stdout: string; stderr: string } {
  return { stdout: outcome.output ?? outcome.stdout, stderr: outcome.stderr }
}

function failed(error: ShellError): ToolResult {
  return bad(errorText(error), { error: errorText(error) })
}

const AUTOMATION = [
  {
    subcommands: ['cron'],
    feature: 'cron',
    tools: 'cron_add, cron_list, cron_pause, cron_resume, cron_remove, cron_history',
  },
  {
    subcommands: ['bg', 'background'],
    feature: 'background',
    tools: 'bg_submit, bg_status, bg_list, bg_result, bg_cancel',
  },
  {
    subcommands: ['workflow'],
    feature: 'workflow',
    tools: 'workflow_run, workflow_status, workflow_list, workflow_cancel, workflow_save',
  },
] as const

function automation(features: Readonly<Record<string, boolean>>): readonly AutomationRule[] {
  return AUTOMATION.map((row) => ({ program: 'lango', ...row, enabled: features[row.feature] ?? true }))
}

export const lango: Dialect = {
  name: 'lango',
  summary: 'Document 000: exec, exec_bg, exec_status, exec_stop; secret tokens; its own automation is blocked.',
  policy: {
    ...USUAL_POLICY,
    state: 'fresh',
    clip: { kind: 'none' },
    ...AS_IT_CAME,
    timeouts: { defaultMs: 30_000, maxMs: 600_000, slowMs: 600_000 },
    // The time, and a number that keeps two of one millisecond apart.
    newId: { make: (count) => `bg-${Date.now()}${String(count % 1_000).padStart(3, '0')}` },
    automation,
  },
  tools: [exec, execBg, execStatus, execStop],
}
