/**
 * Everything that runs for a user, in one look: commands under way, sessions and jobs of all
 * engines, with what they use.
 */
import type { JobsView } from '../../contract/engine.js'
import type { JobInfo } from '../../contract/job.js'
import type { EngineWatch, WatchedAsk, WatchedCall, WatchedEngine, WatchedSession } from './watch.js'
import { portsOf } from '../../os/job/ports.js'
import { descendantsOf } from '../../os/process/proc.js'
import { treeOf, usageOf, type Usage } from '../../os/process/usage.js'

const LAST_LINE_BYTES = 2_048

export interface Running extends Usage {
  readonly ports: readonly number[]
}

export interface CallRow extends WatchedCall {
  readonly engine: WatchedEngine
  readonly uses: Running
  /** The question that it waits for. */
  readonly ask: WatchedAsk | null
}

export interface JobRow {
  readonly info: JobInfo
  readonly lastLine: string
  /** Null for what has ended, and for processes of another place: here their numbers are those of others. */
  readonly uses: Running | null
}

export interface World {
  readonly calls: readonly CallRow[]
  readonly sessions: readonly {
    readonly engine: Pick<WatchedEngine, 'id' | 'door'>
    readonly session: Omit<WatchedSession, 'leftovers'>
  }[]
  readonly jobs: readonly JobRow[]
}

export interface WorldOptions {
  /** Ended jobs too. */
  readonly all: boolean
  /** With the last line that each job printed: a read per job. */
  readonly lastLines: boolean
}

export async function worldOf(watch: EngineWatch, jobs: JobsView, { all, lastLines }: WorldOptions): Promise<World> {
  const engines = [...watch.engines.values()]
  const { place } = jobs
  const [infos, there] = await Promise.all([jobs.jobs({ all }), place ? jobs.sessions() : []])
  return {
    calls: engines.flatMap((each) => [...each.calls.values()].map((call) => callRow(call, each))),
    sessions: [
      ...there.map((session) => ({ engine: { id: place?.engine ?? '', door: 'cli' as const }, session })),
      ...engines.flatMap((each) => each.sessions.map((session) => ({ engine: each, session }))),
    ],
    jobs: await Promise.all(
      infos.map(async (info) => ({
        info,
        lastLine: lastLines ? await lastLine(jobs, info) : '',
        uses: !place && info.isRunning && info.pid !== null ? runningOf(treeOf(info.pid)) : null,
      })),
    ),
  }
}

function callRow(call: WatchedCall, engine: WatchedEngine): CallRow {
  const asks = [...engine.asks.values()]
  const ask = asks.find((each) => each.isWaiting && each.command === call.command && each.session === call.session)
  // In a session the pid is that of the shell, which has used time for earlier commands too.
  const pids = call.pid === null || ask ? [] : call.session === null ? treeOf(call.pid) : descendantsOf(call.pid)
  return { ...call, engine, uses: runningOf(pids), ask: ask ?? null }
}

function runningOf(pids: readonly number[]): Running {
  return { ...usageOf(pids), ports: portsOf(pids) }
}

async function lastLine(jobs: JobsView, info: JobInfo): Promise<string> {
  try {
    const job = await jobs.job(info.id)
    const since = Math.max(0, info.bytes.total - LAST_LINE_BYTES)
    const { text } = await job.read({ since, ansi: 'strip', progress: 'collapse' })
    return text.trimEnd().split('\n').at(-1) ?? ''
  } catch {
    return '' // It was cleaned away meanwhile.
  }
}

/** The client as people know it. */
export function clientName({ client, door }: { client: string | null; door: string }): string {
  if (client !== null && client !== 'default') return client
  return { mcp: 'an MCP client', cli: 'command line', library: 'a program', tools: 'a program' }[door] ?? door
}
