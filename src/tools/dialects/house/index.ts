/** The default dialect: everything the engine can do in five tools whose list stays under 3 KB. */
import { ShellError } from '../../../contract/errors.js'
import { USUAL_POLICY, type Dialect, type ToolSpec } from '../../dialect.js'
import { endsJob, READS, readsJob, RUNS, runOrStart, typesIntoJob } from '../../kinds.js'
import { flag, inputOf, list, outputOf, text, whole } from '../../schema.js'
import type { Wish } from '../../toolbox.js'
import * as descriptions from './descriptions.js'
import { renderError, renderKilled, renderList, renderRan, renderReading, renderStarted } from './render.js'

// What there is depends on the status, so the schemas name only what a reader looks for first.
const ANY = outputOf()

const bash: ToolSpec = {
  ...RUNS,
  name: 'Bash',
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
  aliases: {
    cmd: 'command',
    workdir: 'cwd',
    dir_path: 'cwd',
    timeout_ms: 'timeout',
    is_background: 'run_in_background',
    tty: 'pty',
  },
  fail: (error) => renderError(error, { exit_code: null }),
  call: (box, input, call) => {
    const {
      command,
      description,
      cwd,
      session,
      pty,
      timeout: timeoutMs,
      run_in_background: asJob,
    } = input as unknown as BashInput
    return runOrStart(
      box,
      call,
      { command, description, cwd, session, pty, timeoutMs, asJob },
      { ran: renderRan, started: (info) => renderStarted(info, timeoutMs ?? null) },
    )
  },
}

interface BashInput extends Pick<Wish, 'command' | 'description' | 'cwd' | 'session' | 'pty'> {
  readonly timeout?: number
  readonly run_in_background?: boolean
}

const bashOutput: ToolSpec = {
  ...readsJob('bash_id'),
  name: 'BashOutput',
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
  fail: (error) => renderError(error),
  call: async (box, input, call) => {
    const { bash_id, filter, wait_ms, until, since } = input as {
      bash_id: string
      filter?: string
      wait_ms?: number
      until?: string
      since?: number
    }
    const waits = wait_ms !== undefined || until !== undefined
    const waited = waits ? await box.wait(bash_id, { until, waitMs: wait_ms ?? UNTIL_MS, signal: call.signal }) : null
    return renderReading(
      await box.read(bash_id, { filter, since: since === undefined ? undefined : Math.max(0, since), ansi: box.ansi }),
      waited,
    )
  },
}

/** With `until` alone: long enough for a server to come up, short enough for any host. */
const UNTIL_MS = 30_000

const killShell: ToolSpec = {
  ...endsJob('shell_id'),
  name: 'KillShell',
  describe: () => descriptions.killShell,
  inputSchema: () => inputOf({ shell_id: text() }, ['shell_id']),
  outputSchema: ANY,
  fail: (error) => renderError(error),
  call: async (box, { shell_id }) => renderKilled(await box.kill(shell_id as string)),
}

const listShells: ToolSpec = {
  name: 'ListShells',
  title: 'List shells',
  annotations: READS,
  describe: () => descriptions.listShells,
  inputSchema: () => inputOf({}),
  outputSchema: outputOf({ shells: list({ type: 'object' }) }, ['shells']),
  fail: (error) => renderError(error, { shells: [] }),
  call: async (box) => renderList(await box.engine.jobs({ all: true }), await box.engine.sessions()),
}

const sendInput: ToolSpec = {
  ...typesIntoJob('shell_id'),
  name: 'SendInput',
  describe: () => descriptions.sendInput,
  inputSchema: () =>
    inputOf({ shell_id: text(), text: text(), keys: list(text()), enter: flag('Then press Return') }, ['shell_id']),
  outputSchema: ANY,
  fail: (error) => renderError(error),
  call: async (box, input) => {
    const { shell_id, text, keys, enter } = input as {
      shell_id: string
      text?: string
      keys?: string[]
      enter?: boolean
    }
    if (text === undefined && keys === undefined && enter !== true) {
      throw new ShellError(
        'BAD_REQUEST',
        "SendInput needs 'text', 'keys' or 'enter'.",
        'To press Return alone, give enter: true.',
      )
    }
    await box.send(shell_id, { text, keys, enter })
    return renderReading(await box.read(shell_id, { ansi: box.ansi }))
  },
}

export const house: Dialect = {
  name: 'house',
  summary:
    'The default: a session that remembers, jobs, terminals; Bash, BashOutput, KillShell, ListShells, SendInput.',
  policy: USUAL_POLICY,
  tools: [bash, bashOutput, killShell, listShells, sendInput],
}
