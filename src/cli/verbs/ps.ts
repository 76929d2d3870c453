/** `cerith ps`: jobs and sessions as a table, once or live. */
import { statSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Engine } from '../../contract/engine.js'
import type { JobInfo } from '../../contract/job.js'
import { knownHome } from '../../os/home.js'
import { EXIT, type Io } from '../io.js'
import { jobToJson } from '../json.js'
import { withEngine } from '../open-engine.js'
import { JSON_OPTION } from '../option-rows.js'
import { painter, type Paint } from '../paint.js'
import { age, size, table } from '../table.js'
import type { Verb } from '../verb.js'

const LAST_LINE_BYTES = 2_048
const REDRAW_MS = 1_000

export const verb: Verb = {
  name: 'ps',
  usage: '',
  about: 'what is running: jobs and sessions',
  words: [0, 0],
  options: [
    { flags: '-a, --all', about: 'finished jobs too' },
    JSON_OPTION,
    { flags: '-w, --watch', about: 'redraw every second until Ctrl-C' },
  ],
  examples: [
    ['cerith ps --all', 'also what has ended'],
    ["cerith ps --json | jq '.jobs[].id'", 'for scripts'],
  ],
  run: ({ options }, io) =>
    withEngine(io, {}, (engine, stateDir) =>
      ps(engine, stateDir, options as { all?: boolean; json?: boolean; watch?: boolean }, io),
    ),
}

async function ps(
  engine: Engine,
  stateDir: string,
  { all = false, json = false, watch = false }: { all?: boolean; json?: boolean; watch?: boolean },
  io: Io,
): Promise<number> {
  if (!watch) {
    io.out.write(
      json ? `${JSON.stringify(await asJson(engine, stateDir, all))}\n` : await asTable(engine, stateDir, all, io),
    )
    return EXIT.ok
  }
  let stop = false
  let wake = (): void => {}
  const end = (): void => {
    stop = true
    wake()
  }
  const unlisten = [io.onSignal(end), io.onOutputClosed(end)]
  while (!stop) {
    const view = json
      ? `${JSON.stringify(await asJson(engine, stateDir, all))}\n`
      : await asTable(engine, stateDir, all, io)
    // Home, the new text with each line's rest cleared, then everything below: no flicker.
    io.out.write(io.out.isTTY && !json ? `\u001B[H${view.replaceAll('\n', '\u001B[K\n')}\u001B[J` : view)
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, REDRAW_MS)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
  for (const each of unlisten) each()
  return EXIT.ok
}

async function asJson(engine: Engine, stateDir: string, all: boolean): Promise<Record<string, unknown>> {
  return {
    jobs: (await engine.jobs({ all })).map(jobToJson),
    sessions: savedSessions(stateDir).map(({ name, savedAt }) => ({ name, saved_at: new Date(savedAt).toISOString() })),
  }
}

async function asTable(engine: Engine, stateDir: string, all: boolean, io: Io): Promise<string> {
  const paint = painter(io.out, io.env)
  const infos = await engine.jobs({ all })
  const sessions = savedSessions(stateDir)
  const lines: string[] = []
  if (infos.length > 0) {
    const rows = await Promise.all(
      infos.map(async (info) => [
        info.id,
        state(info),
        age(Date.now() - info.startedAt),
        size(info.bytes.total),
        shortPath(info.cwd),
        info.command,
        await lastLine(engine, info),
      ]),
    )
    const [head = '', ...body] = table(
      ['ID', 'STATE', 'AGE', 'OUTPUT', 'DIRECTORY', 'COMMAND', 'LAST LINE'],
      rows,
      io.out.isTTY ? io.out.columns : 160,
    )
    lines.push(paint('bold', head), ...body.map((line, i) => colored(line, infos[i] as JobInfo, paint)))
  } else lines.push(all ? 'No jobs.' : 'No running jobs. (`cerith ps --all` shows finished ones.)')
  if (sessions.length > 0) {
    const [head = '', ...body] = table(
      ['SESSION', 'LAST USED'],
      sessions.map(({ name, savedAt }) => [name, `${age(Date.now() - savedAt)} ago`]),
      io.out.isTTY ? io.out.columns : 160,
    )
    lines.push('', paint('bold', head), ...body)
  }
  return `${lines.join('\n')}\n`
}

function state(info: JobInfo): string {
  if (info.status === 'failed') return info.signal ?? `exit ${info.exitCode ?? '?'}`
  return info.status
}

function colored(line: string, info: JobInfo, paint: Paint): string {
  if (info.isRunning) return paint('green', line)
  return info.status === 'completed' ? paint('dim', line) : paint('red', line)
}

async function lastLine(engine: Engine, info: JobInfo): Promise<string> {
  try {
    const job = await engine.job(info.id)
    const { text } = await job.read({ since: Math.max(0, info.bytes.total - LAST_LINE_BYTES), ansi: 'strip' })
    return text.trimEnd().split('\n').at(-1) ?? ''
  } catch {
    return '' // It was cleaned away meanwhile.
  }
}

function savedSessions(stateDir: string): { name: string; savedAt: number }[] {
  try {
    const dir = join(stateDir, 'sessions')
    return readdirSync(dir)
      .filter((name) => name.endsWith('.state') && !name.startsWith('.'))
      .map((name) => ({ name: name.slice(0, -'.state'.length), savedAt: statSync(join(dir, name)).mtimeMs }))
  } catch {
    return []
  }
}

function shortPath(path: string): string {
  const home = knownHome()
  return home !== null && (path === home || path.startsWith(`${home}/`)) ? `~${path.slice(home.length)}` : path
}
