/** `cerith ps`: commands under way, jobs and sessions of all engines as tables, once or live. */
import type { JobsView } from '../../../contract/engine.js'
import type { JobInfo } from '../../../contract/job.js'
import { EngineWatch, lookOnce } from '../../../engine/live/watch.js'
import { EXIT, type Io } from '../../io/io.js'
import { listenForStop } from '../../io/stop.js'
import { jobToJson } from '../../io/json.js'
import { clientName, worldOf, type CallRow, type Running, type World } from '../../../engine/live/world.js'
import { withJobs } from '../../verb/open-engine.js'
import { JSON_OPTION } from '../../verb/option-rows.js'
import { painter, type Paint } from '../../io/paint.js'
import { endWords } from '../../../tools/texts.js'
import { age, cut, shortPath, size, table, type TableOptions } from '../../io/table.js'
import { defineVerb } from '../../verb/verb.js'
import { savedSessions, type SavedSession } from '../../../os/files/session-states.js'

const REDRAW_MS = 1_000

export const verb = defineVerb({
  options: [
    { flags: '-a, --all', about: 'finished jobs too' },
    JSON_OPTION,
    { flags: '-w, --watch', about: 'redraw every second until Ctrl-C' },
  ],
  examples: [
    ['cerith ps --all', 'also what has ended'],
    ["cerith ps --json | jq '.jobs[].id'", 'for scripts'],
  ],
  details:
    'CPU is the time that the processes of a command have used so far. `cerith top` shows the same, full screen.',
  run: ({ options }, io) => withJobs(io, (jobs, stateDir) => ps(jobs, stateDir, options, io)),
})

async function ps(
  jobs: JobsView,
  stateDir: string,
  { all = false, json = false, watch }: { readonly all?: boolean; readonly json?: boolean; readonly watch?: boolean },
  io: Io,
): Promise<number> {
  const view = async (watched: EngineWatch): Promise<string> => {
    const world = await worldOf(watched, jobs, { all, lastLines: true })
    // Saved ones are of this machine.
    const saved = jobs.place ? [] : savedSessions(stateDir)
    return json ? `${JSON.stringify(asJson(world, saved))}\n` : asTables(world, watched, saved, all, io)
  }
  if (!watch) {
    const watched = await lookOnce(stateDir, jobs.id)
    io.out.write(await view(watched))
    watched.close()
    return EXIT.ok
  }
  const stop = listenForStop(io)
  const watched = new EngineWatch({ stateDir, except: jobs.id })
  watched.start()
  for (; !stop.signal.aborted; await stop.pause(REDRAW_MS)) {
    watched.refresh()
    const text = await view(watched)
    io.out.write(io.out.isTTY && !json ? screenOf(text, process.stdout.rows || 24) : text)
  }
  watched.close()
  stop.unlisten()
  return EXIT.ok
}

/**
 * Home, the new text with each line's rest cleared, then everything below: no flicker. What
 * does not fit would scroll the rest away.
 */
function screenOf(text: string, rows: number): string {
  const lines = text.trimEnd().split('\n')
  const shown = lines.length < rows ? lines : [...lines.slice(0, rows - 2), `and ${lines.length - rows + 2} lines more`]
  return `\u001B[H${shown.map((line) => `${line}\u001B[K\n`).join('')}\u001B[J`
}

function asJson({ calls, sessions, jobs }: World, kept: readonly SavedSession[]): Record<string, unknown> {
  const live = sessions.map(({ engine, session }) => ({
    name: session.name,
    engine: engine.id,
    door: engine.door,
    pid: session.pid,
    cwd: session.cwd,
    busy: session.busy,
    calls: session.calls,
    started_at: new Date(session.startedAt).toISOString(),
    saved_at: null,
  }))
  const saved = kept.map(({ name, savedAt }) => ({
    name,
    engine: null,
    saved_at: new Date(savedAt).toISOString(),
  }))
  return {
    calls: calls.map(callToJson),
    jobs: jobs.map(({ info, lastLine, uses }) => ({ ...jobToJson(info), last_line: lastLine, ...usesToJson(uses) })),
    sessions: [...live, ...saved],
  }
}

function callToJson(call: CallRow): Record<string, unknown> {
  const { command, description, session, engine, client, door, at, pid, bytes, lastLine, uses, ask, pty } = call
  return {
    command,
    description,
    session,
    engine: engine.id,
    client,
    door,
    cwd: call.cwd ?? engine.sessions.find(({ name }) => name === session)?.cwd ?? engine.cwd,
    elapsed_ms: Math.max(0, Date.now() - at),
    started_at: new Date(at).toISOString(),
    state: ask ? 'waiting' : 'running',
    approval_id: ask?.id ?? null,
    pid,
    pty,
    total_bytes: bytes,
    last_line: lastLine,
    ...usesToJson(uses),
  }
}

function usesToJson(uses: Running | null): Record<string, unknown> {
  return { cpu_ms: uses?.cpuMs ?? null, memory_bytes: uses?.memoryBytes ?? null, ports: uses?.ports ?? [] }
}

function asTables(
  { calls, jobs, sessions }: World,
  watch: EngineWatch,
  saved: readonly SavedSession[],
  all: boolean,
  io: Io,
): string {
  const paint = painter(io.out, io.env)
  const width = io.out.isTTY ? io.out.columns : 160
  const lines: string[] = []
  const add = (
    head: readonly string[],
    rows: readonly string[][],
    color: (line: string, at: number) => string,
    fitting: TableOptions,
  ): void => {
    const [first = '', ...body] = table(head, rows, width, fitting)
    lines.push(...(lines.length > 0 ? [''] : []), paint('bold', first), ...body.map(color))
  }
  const waiting = watch.asks().length
  if (waiting > 0)
    lines.push(
      paint('yellow', `${waiting} ${waiting === 1 ? 'question waits' : 'questions wait'} for you: cerith approve`),
    )
  if (calls.length > 0)
    add(
      ['CLIENT', 'SESSION', 'ELAPSED', 'CPU', 'MEMORY', 'PORTS', 'COMMAND', 'LAST LINE'],
      calls.map((call) => [
        clientName(call),
        call.session ?? '-',
        age(Date.now() - call.at),
        ...usesCells(call.uses),
        call.command,
        call.ask ? 'waits for your approval' : call.lastLine,
      ]),
      (line, at) => paint(calls[at]?.ask ? 'yellow' : 'green', line),
      { spare: ['PORTS', 'CPU', 'MEMORY', 'CLIENT', 'LAST LINE'] },
    )
  if (jobs.length > 0)
    add(
      ['ID', 'STATE', 'AGE', 'CPU', 'MEMORY', 'PORTS', 'OUTPUT', 'DIRECTORY', 'COMMAND', 'LAST LINE'],
      jobs.map(({ info, lastLine, uses }) => [
        info.id,
        state(info),
        age(Date.now() - info.startedAt),
        ...usesCells(uses),
        size(info.bytes.total),
        shortPath(info.cwd),
        info.command,
        lastLine,
      ]),
      (line, at) => colored(line, jobs[at]!.info, paint),
      { whole: ['ID'], spare: ['OUTPUT', 'DIRECTORY', 'CPU', 'PORTS', 'MEMORY', 'AGE', 'LAST LINE'] },
    )
  else {
    if (lines.length > 0) lines.push('')
    lines.push(all ? 'No jobs.' : 'No running jobs. (`cerith ps --all` shows finished ones.)')
  }
  const rows = [
    ...sessions.map(({ engine, session }) => [
      session.name,
      session.busy ? 'busy' : 'idle',
      clientName({ client: null, door: engine.door }),
      String(session.calls),
      shortPath(session.cwd),
    ]),
    ...saved.map(({ name, savedAt }) => [name, `saved ${age(Date.now() - savedAt)} ago`, '', '', '']),
  ]
  if (rows.length > 0)
    add(['SESSION', 'STATE', 'CLIENT', 'COMMANDS', 'DIRECTORY'], rows, (line) => line, {
      spare: ['COMMANDS', 'CLIENT'],
    })
  for (const { pid, why } of watch.engines.values())
    if (why !== null) lines.push('', `The engine of process ${pid} is not shown: ${why}.`)
  return `${lines.join('\n')}\n`
}

function usesCells(uses: Running | null): [string, string, string] {
  if (!uses) return ['', '', '']
  return [uses.cpuMs === 0 ? '0s' : `${(uses.cpuMs / 1_000).toFixed(1)}s`, size(uses.memoryBytes), uses.ports.join(',')]
}

function state(info: JobInfo): string {
  if (info.status === 'failed') return info.signal ?? `exit ${info.exitCode ?? '?'}`
  return info.end?.kind === 'kill' ? cut(`killed ${endWords(info)}`, 32) : info.status
}

function colored(line: string, info: JobInfo, paint: Paint): string {
  if (info.isRunning) return paint('green', line)
  return info.status === 'completed' ? paint('dim', line) : paint('red', line)
}
