/** The default dialect: everything the engine can do in five tools whose list stays under 3 KB. */
import { ShellError } from '../../../contract/errors.js'
import { ANNOTATIONS, idAliases, type Dialect, type ToolSpec } from '../../dialect.js'
import type { ToolInput } from '../../input.js'
import { flag, inputOf, list, outputOf, text, whole } from '../../schema.js'
import type { Wish } from '../../toolbox.js'
import * as descriptions from './descriptions.js'
import { renderError, renderKilled, renderList, renderRan, renderReading, renderStarted } from './render.js'

// What there is depends on the status, so the schemas name only what a reader looks for first.
const ANY = outputOf()

const bash: ToolSpec = {
  name: 'Bash',
  title: 'Run a command',
  annotations: ANNOTATIONS.runs,
  describe: descriptions.bash,
  inputSchema: ({ timeouts }) =>
    inputOf(
      {
        command: text(),
        description: text('5-10 words'),
        timeout: whole('ms', { minimum: 1, maximum: timeouts.maxMs }),
        run_in_background: flag('Return an id at once'),
        cwd: text(),
        session: text('Session name'),
        pty: flag('On a terminal'),
      },
      ['command'],
    ),
  outputSchema: outputOf({ status: text(), exit_code: {} }, ['status']),
  aliases: { cmd: 'command', workdir: 'cwd', dir_path: 'cwd', timeout_ms: 'timeout', is_background: 'run_in_background', tty: 'pty' },
  argv: ['command'],
  fail: (error) => renderError(error, { exit_code: null }),
  call: async (box, input, call) => {
    const wish = wishOf(input)
    if (input['run_in_background'] !== true) return renderRan(await box.foreground(wish, call))
    const started = await box.background(wish, call)
    return started.kind === 'started' ? renderStarted(started.info, wish.timeoutMs ?? null) : renderRan(started.ran)
  },
}

function wishOf(input: ToolInput): Wish {
  const { command, description, timeout, cwd, session, pty } = input as { command: string } & Record<string, never>
  return {
    command,
    ...(description === undefined ? {} : { description }),
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(session === undefined ? {} : { session }),
    ...(pty === true ? { pty: true } : {}),
  }
}

const bashOutput: ToolSpec = {
  name: 'BashOutput',
  title: 'Read a shell',
  annotations: ANNOTATIONS.reads,
  describe: () => descriptions.bashOutput,
  inputSchema: () =>
    inputOf(
      {
        bash_id: text(),
        filter: text('Regex: matching lines'),
        wait_ms: whole('Wait so long for its end'),
        until: text('Regex: wait for a line'),
        since: whole('Cursor to read again from'),
      },
      ['bash_id'],
    ),
  outputSchema: outputOf({ status: text(), text: text(), cursor: whole() }, ['status']),
  aliases: idAliases('bash_id'),
  ids: ['bash_id'],
  fail: (error) => renderError(error),
  call: async (box, input, call) => {
    const { bash_id, filter, wait_ms, until, since } = input as { bash_id: string; filter?: string; wait_ms?: number; until?: string; since?: number }
    const waits = wait_ms !== undefined || until !== undefined
    const waited = waits ? await box.wait(bash_id, { ...(until === undefined ? {} : { until }), waitMs: wait_ms ?? UNTIL_MS, ...(call.signal ? { signal: call.signal } : {}) }) : null
    const wish = { ...(filter === undefined ? {} : { filter }), ...(since === undefined ? {} : { since: Math.max(0, since) }), ansi: box.options.ansi ?? box.policy.ansi }
    return renderReading(await box.read(bash_id, wish), waited)
  },
}

/** With `until` alone: long enough for a server to come up, short enough for any host. */
const UNTIL_MS = 30_000

const killShell: ToolSpec = {
  name: 'KillShell',
  title: 'End a shell',
  annotations: ANNOTATIONS.stops,
  describe: () => descriptions.killShell,
  inputSchema: () => inputOf({ shell_id: text() }, ['shell_id']),
  outputSchema: ANY,
  aliases: idAliases('shell_id'),
  ids: ['shell_id'],
  fail: (error) => renderError(error),
  call: async (box, { shell_id }) => renderKilled(await box.kill(shell_id as string)),
}

const listShells: ToolSpec = {
  name: 'ListShells',
  title: 'List shells',
  annotations: ANNOTATIONS.reads,
  describe: () => descriptions.listShells,
  inputSchema: () => inputOf({}),
  outputSchema: outputOf({ shells: list({ type: 'object' }) }, ['shells']),
  fail: (error) => renderError(error, { shells: [] }),
  call: async (box) => renderList(await box.engine.jobs({ all: true }), await box.engine.sessions()),
}

const sendInput: ToolSpec = {
  name: 'SendInput',
  title: 'Type into a shell',
  annotations: ANNOTATIONS.types,
  describe: () => descriptions.sendInput,
  inputSchema: () => inputOf({ shell_id: text(), text: text(), keys: list(text()), enter: flag('Then press Return') }, ['shell_id']),
  outputSchema: ANY,
  aliases: idAliases('shell_id'),
  ids: ['shell_id'],
  fail: (error) => renderError(error),
  call: async (box, input) => {
    const { shell_id, text, keys, enter } = input as { shell_id: string; text?: string; keys?: string[]; enter?: boolean }
    if (text === undefined && keys === undefined && enter !== true) {
      throw new ShellError('BAD_REQUEST', "SendInput needs 'text', 'keys' or 'enter'.", 'To press Return alone, give enter: true.')
    }
    await box.send(shell_id, { ...(text === undefined ? {} : { text }), ...(keys === undefined ? {} : { keys }), ...(enter === true ? { enter } : {}) })
    return renderReading(await box.read(shell_id, { ansi: box.options.ansi ?? box.policy.ansi }))
  },
}

export const house: Dialect = {
  name: 'house',
  summary: 'The default: a session that remembers, jobs, terminals; Bash, BashOutput, KillShell, ListShells, SendInput.',
  policy: {
    state: 'session',
    streams: 'separate',
    jobStreams: 'merged',
    clip: { kind: 'ends', maxChars: 30_000 },
    ansi: 'strip',
    timeouts: { defaultMs: 120_000, maxMs: 600_000, slowMs: 600_000 },
    graceMs: 2_000,
    owner: 'manager',
    newId: null,
    automation: () => [],
  },
  tools: [bash, bashOutput, killShell, listShells, sendInput],
}
