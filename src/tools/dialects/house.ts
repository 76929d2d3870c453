/** The default dialect: everything the engine can do in five tools whose list stays under 3 KB. */
import { badRequest } from '../../contract/errors.js'
import { defineTool, USUAL_POLICY, type Dialect } from '../dialect.js'
import { endsJob, READS, readsJob, RUNS, runOrStart, typesIntoJob } from '../kinds.js'
import { BY_REASON } from '../schema/outside.js'
import { otherOwner } from '../reading/owners.js'
import { flag, inputOf, list, outputOf, text, whole } from '../schema/schema.js'
import {
  renderError,
  renderKilled,
  renderList,
  renderRan,
  renderReading,
  renderReadings,
  renderStarted,
} from './house-render.js'

// What there is depends on the status, so the schemas name only what a reader looks for first.
const ANY = outputOf()

const bash = defineTool({
  ...RUNS,
  name: 'Bash',
  describe: ({ shell, timeouts, yieldMs }) =>
    [
      `Run a command in ${shell}; cwd, variables and functions stay. Default timeout ${timeouts.defaultMs} ms: ` +
        'ended, with its output so far.',
      ...(yieldMs === null ? [] : [`After ${yieldMs} ms it goes on with an id, NOT killed.`]),
      'No stdin without pty. Long output is clipped, whole in a file.',
    ].join(' '),
  inputSchema: ({ timeouts }) =>
    inputOf(
      {
        command: text(),
        description: text('5-10 words'),
        timeout: whole('Milliseconds', { minimum: 1, maximum: timeouts.maxMs }),
        run_in_background: flag('Returns an id'),
        cwd: text(),
        session: text('Name of another shell'),
        pty: flag('Give it a terminal'),
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
  outside: BY_REASON,
  fail: (error) => renderError(error),
  call: (box, { timeout: timeoutMs, run_in_background: asJob, ...request }, call) =>
    runOrStart(
      box,
      call,
      { ...request, timeoutMs, asJob },
      { ran: (ran) => renderRan(ran, box.timeouts.maxMs), started: (info) => renderStarted(info, timeoutMs ?? null) },
    ),
})

const bashOutput = defineTool({
  ...readsJob('shell_id'),
  name: 'BashOutput',
  describe: () => 'New output and state of a background shell. Waiting never kills it.',
  inputSchema: () =>
    inputOf(
      {
        shell_id: text('Id, or ids a,b'),
        filter: text('Only lines matching this'),
        wait_ms: whole('ms to wait'),
        until: text('Regex to wait for'),
        port: whole('Wait for a port'),
        since: whole('From this cursor'),
      },
      ['shell_id'],
    ),
  outputSchema: outputOf({ status: text(), text: text() }, ['status']),
  fail: (error) => renderError(error),
  call: async (box, { shell_id, filter, wait_ms, until, port, since }, call) => {
    const ids = shell_id.split(',').flatMap((id) => id.trim() || [])
    const waits = wait_ms !== undefined || until !== undefined || port !== undefined
    const request = { until, port, waitMs: box.patience(Math.max(0, wait_ms ?? UNTIL_MS)) }
    const first = waits ? await box.waitForAny(ids, { ...request, signal: call.signal }) : null
    const from = since === undefined ? undefined : Math.max(0, since)
    // All or none: what is read beside an id that does not exist would count as seen.
    for (const id of ids) await box.job(id)
    const told = await Promise.all(
      ids.map(async (id) => ({
        ...(await box.look(id, { filter, since: from, maxChars: call.maxChars ?? undefined, signal: call.signal })),
        waited: first?.id === id ? first.waited : null,
        request,
      })),
    )
    if (first?.waited.reason === 'timeout' && (until !== undefined || port !== undefined))
      for (const { reading } of told)
        call.later?.({ id: reading.info.id, until, port, since: reading.position.output ?? 0 })
    return renderReadings(told)
  },
})

/** With `until` alone: long enough for a server to come up, short enough for any host. */
const UNTIL_MS = 30_000

const killShell = defineTool({
  ...endsJob('shell_id'),
  name: 'KillShell',
  describe: () => 'End a background shell and all it started.',
  inputSchema: () => inputOf({ shell_id: text() }, ['shell_id']),
  outputSchema: ANY,
  fail: (error) => renderError(error),
  call: async (box, { shell_id }, call) => renderKilled(await box.kill(shell_id, call)),
})

const listShells = defineTool({
  name: 'ListShells',
  title: 'List shells',
  annotations: READS,
  describe: () => 'Background shells and sessions.',
  inputSchema: () => inputOf({}),
  outputSchema: outputOf({ shells: list({ type: 'object' }) }, ['shells']),
  fail: (error) => renderError(error, { shells: [] }),
  call: async ({ engine }, _, { labels }) =>
    renderList(await engine.jobs({ all: true }), await engine.sessions(), (info) =>
      otherOwner(info, engine.id, labels),
    ),
})

const sendInput = defineTool({
  ...typesIntoJob('shell_id'),
  name: 'SendInput',
  describe: () => 'Type into a pty shell: text, keys (C-c, Up, Tab). C-c interrupts any shell.',
  inputSchema: () =>
    inputOf({ shell_id: text(), text: text(), keys: list(text()), enter: flag('Press Return') }, ['shell_id']),
  outputSchema: ANY,
  fail: (error) => renderError(error),
  call: async (box, { shell_id, text, keys, enter }) => {
    if (text === undefined && keys === undefined && enter !== true) {
      throw badRequest("SendInput needs 'text', 'keys' or 'enter'.", 'To press Return alone, give enter: true.')
    }
    await box.send(shell_id, { text, keys, enter })
    return renderReading(await box.look(shell_id))
  },
})

export const house: Dialect = {
  name: 'house',
  summary:
    'The default: a session that remembers, jobs, terminals; Bash, BashOutput, KillShell, ListShells, SendInput.',
  policy: { ...USUAL_POLICY, terminal: 'pty' },
  tools: [bash, bashOutput, killShell, listShells, sendInput],
}
