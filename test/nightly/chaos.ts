/**
 * Random starts, reads, waits, kills and clean-ups by several engines on one state directory, which are killed with -9
 * and started again. Every answer is checked against what must be true.
 */
import type { JobInfo } from '../../src/index.js'
import { processesMarked } from '../../src/os/process/proc.js'
import { startHost, type EngineHost } from '../engine/engine-host.js'
import { until as eventually } from '../fixtures/until.js'

export interface ChaosReport {
  readonly seed: number
  readonly jobs: number
  readonly reads: number
  readonly bytes: number
  readonly kills: number
  readonly crashes: number
  readonly completed: number
}

/** What must be true of one job. */
interface Model {
  readonly id: string
  readonly text: string
  readonly exit: number
  readonly owner: 'manager' | 'detached'
  /** Null for a job that runs until it is killed. */
  readonly ends: boolean
  host: EngineHost
  mayBeKilled: boolean
  removed: boolean
  /** Its engine was killed while it was being started. */
  interrupted: boolean
  last: JobInfo | null
}

const ENGINES = 2

export async function runChaos({
  seconds,
  seed,
  stateDir,
}: {
  seconds: number
  seed: number
  stateDir: string
}): Promise<ChaosReport> {
  const random = createRandom(seed)
  const count = { jobs: 0, reads: 0, bytes: 0, kills: 0, crashes: 0, completed: 0 }
  const hosts: EngineHost[] = await Promise.all(Array.from({ length: ENGINES }, () => startHost(stateDir)))
  const models = new Map<string, Model>()
  const prefix = `c${seed.toString(36)}_`
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const until = performance.now() + seconds * 1_000

  // Answers may overtake each other: each is held against what was known when it was asked for.
  const look = (model: Model, info: JobInfo, last: JobInfo | null): void => {
    if (last && !last.isRunning)
      must(
        info.status === last.status && info.exitCode === last.exitCode && info.bytes.total === last.bytes.total,
        `${model.id} changed after its end: ${last.status} -> ${info.status}`,
      )
    if (last && last.status !== 'pending') must(info.status !== 'pending', `${model.id} went back to pending`)
    must(info.bytes.total >= (last?.bytes.total ?? 0), `${model.id} shrank`)
    if (info.status === 'completed' || info.status === 'failed')
      must(model.ends && info.exitCode === model.exit, `${model.id} ended with ${info.exitCode}, not ${model.exit}`)
    if (info.status === 'killed') must(model.mayBeKilled, `${model.id} was killed by nobody`)
    if (info.status === 'lost')
      must(
        model.interrupted && info.pid === null,
        `${model.id} is lost: ${info.notes.map(({ text }) => text).join(' ')}`,
      )
    must(info.status !== 'timeout', `${model.id} is ${info.status}: ${info.notes.map(({ text }) => text).join(' ')}`)
    if (model.last === last) model.last = info
  }

  const acts: Record<string, (host: EngineHost) => Promise<void>> = {
    async start(host) {
      if (models.size > 60) return
      const id = `${prefix}${count.jobs++}`
      const lines = Math.floor(random() ** 3 * 20_000)
      const exit = Math.floor(random() * 4)
      const ends = random() < 0.8
      const text = Array.from({ length: lines }, (_, n) => `${id} ${n + 1}\n`).join('')
      const owner = random() < 0.5 ? 'manager' : 'detached'
      const model: Model = {
        id,
        text,
        exit,
        owner,
        ends,
        host,
        mayBeKilled: !ends,
        removed: false,
        interrupted: true,
        last: null,
      }
      models.set(id, model)
      const half = Math.floor(lines / 2)
      await host.call('start', {
        command: `seq -f '${id} %.0f' 1 ${half}; sleep 0.${Math.floor(random() * 3)}; seq -f '${id} %.0f' ${half + 1} ${lines}; ${ends ? '' : 'setsid sleep 600 & sleep 600; '}exit ${exit}`,
        owner,
        streams: 'merged',
        labels: { id },
        fixedId: id,
      })
      model.interrupted = false
    },
    async read(host) {
      const model = pick([...models.values()])
      const since = Math.floor(random() * (model.last?.bytes.total ?? 0))
      const read = await host.call('read', model.id, { since, maxBytes: Math.ceil(random() * 200_000) + 4 })
      count.reads++
      count.bytes += read.cursor - read.start
      must(
        read.omittedBytes === 0 && read.text === model.text.slice(read.start, read.cursor),
        `${model.id} read wrong bytes at ${read.start}..${read.cursor}`,
      )
    },
    async info(host) {
      const model = pick([...models.values()])
      const before = model.last
      look(model, await host.call('info', model.id), before)
    },
    async wait(host) {
      const model = pick([...models.values()])
      const before = model.last
      const { info } = await host.call('wait', model.id, { timeoutMs: Math.floor(random() * 200) })
      look(model, info, before)
    },
    async kill(host) {
      const model = pick([...models.values()])
      model.mayBeKilled = true
      count.kills++
      const before = model.last
      const { info } = await host.call('kill', model.id, { graceMs: Math.floor(random() * 500) })
      must(!info.isRunning, `${model.id} runs after a kill`)
      look(model, info, before)
      await eventually(() => processesMarked(`CERITH_JOB=${model.id}`).length === 0)
    },
    async list(host) {
      const before = new Map([...models.values()].map((model) => [model, model.last]))
      const listed = new Map((await host.call('list')).map((info) => [info.id, info]))
      for (const [model, last] of before) {
        if (model.removed) continue
        const info = listed.get(model.id)
        if (last) must(info !== undefined, `${model.id} is not listed`)
        if (info) look(model, info, last)
      }
    },
    async finish(host) {
      const model = pick([...models.values()].filter(({ last, removed }) => last && !last.isRunning && !removed))
      if (!model) return
      model.removed = true
      if (model.last?.status === 'completed' || model.last?.status === 'failed') {
        const whole = await host.call('read', model.id, {})
        must(whole.text === model.text, `${model.id} lost bytes: ${whole.text.length} of ${model.text.length}`)
        count.completed++
      }
      await host.call('remove', model.id)
      models.delete(model.id)
    },
    async crash(host) {
      if (random() > 0.25) return
      count.crashes++
      for (const model of models.values())
        if (model.host === host && model.owner === 'manager') model.mayBeKilled = true
      const at = hosts.indexOf(host)
      if (at < 0) return
      hosts.splice(at, 1)
      await host.kill('SIGKILL')
      hosts.push(await startHost(stateDir))
    },
  }

  const ways = [
    'start',
    'start',
    'start',
    'read',
    'read',
    'read',
    'read',
    'info',
    'wait',
    'kill',
    'list',
    'finish',
    'finish',
    'crash',
  ]
  const worker = async (): Promise<void> => {
    while (performance.now() < until) {
      const way = models.size === 0 ? 'start' : pick(ways)
      const host = pick(hosts)
      if (!host || (way === 'crash' && hosts.length < ENGINES)) {
        await new Promise((resolve) => setTimeout(resolve, 5))
        continue
      }
      try {
        await (acts[way] as (host: EngineHost) => Promise<void>)(host)
      } catch (error) {
        // The engine was killed under the call, or another worker removed the job: both are part of the game.
        const { message, code } = error as Error & { code?: string }
        if (
          message !== 'the engine is gone' &&
          code !== 'JOB_NOT_FOUND' &&
          !(error instanceof TypeError && models.size === 0)
        )
          throw error
      }
    }
  }
  await Promise.all([worker(), worker(), worker()])

  const [host] = hosts as [EngineHost]
  for (const model of models.values()) {
    model.mayBeKilled = true
    const { info } = await host.call('kill', model.id, { graceMs: 0 }).catch(() => ({ info: null }))
    if (info) look(model, info, model.last)
  }
  for (const one of hosts) await one.call('close')
  for (const one of hosts) await one.kill('SIGKILL')
  for (const id of models.keys()) must(processesMarked(`CERITH_JOB=${id}`).length === 0, `${id} left a process`)
  return { seed, ...count }
}

function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(`Chaos found: ${what}`)
}

/** The same numbers for the same seed (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
