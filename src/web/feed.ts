/** What all pages see of the world, as keyed values; pages are told what changed, not everything again. */
import { noteTexts } from '../contract/note.js'
import type { JobsView } from '../contract/engine.js'
import { clientName, worldOf, type CallRow, type JobRow } from '../engine/live/world.js'
import type { AskRow, CallRow as CallValue, EngineRow, JobRow as JobValue, Sample } from './words.js'
import type { EngineWatch, WatchedEngine } from '../engine/live/watch.js'

const TICK_MS = 1_000
const SOON_MS = 30
const SHOWN_COMMAND = 500
/** Five minutes, one sample a second. */
const SAMPLES = 300

export type Collection = 'engines' | 'calls' | 'jobs' | 'asks'

export interface Delta {
  readonly t: 'delta'
  readonly set: readonly (readonly [Collection, string, unknown])[]
  readonly gone: readonly (readonly [Collection, string])[]
}

type Known = Map<
  string,
  { readonly c: Collection; readonly id: string; readonly text: string; readonly value: unknown }
>

export class Feed {
  readonly #watch: EngineWatch
  readonly #jobs: JobsView
  readonly #tell: (delta: Delta) => void
  #known: Known = new Map()
  #used = new Map<string, { readonly cpuMs: number; readonly at: number }>()
  readonly #samples = new Map<string, Sample[]>()
  #timer: NodeJS.Timeout | null = null
  #soon: NodeJS.Timeout | null = null
  #looking = false
  #first: Promise<void> | null = null
  #again = false

  constructor(watch: EngineWatch, jobs: JobsView, tell: (delta: Delta) => void) {
    this.#watch = watch
    this.#jobs = jobs
    this.#tell = tell
  }

  /** Looks while there are pages, and not otherwise. */
  set active(on: boolean) {
    if (on && !this.#timer) {
      this.#timer = setInterval(() => void this.#look(true), TICK_MS)
      this.#first = this.#look(true)
    } else if (!on && this.#timer) {
      clearInterval(this.#timer)
      this.#timer = null
    }
  }

  /** Something has changed. */
  poke(): void {
    if (!this.#timer) return
    this.#soon ??= setTimeout(() => {
      this.#soon = null
      void this.#look(false)
    }, SOON_MS)
  }

  /** For a page that has just come; the first look may still be under way. */
  async everything(): Promise<Delta> {
    await this.#first
    return { t: 'delta', set: [...this.#known.values()].map(({ c, id, value }) => [c, id, value] as const), gone: [] }
  }

  samplesOf(id: string): readonly Sample[] {
    return this.#samples.get(id) ?? []
  }

  close(): void {
    this.active = false
    if (this.#soon) clearTimeout(this.#soon)
  }

  async #look(full: boolean): Promise<void> {
    this.#again = true
    if (this.#looking) return
    this.#looking = true
    try {
      while (this.#again) {
        this.#again = false
        if (full) this.#watch.refresh()
        this.#compare(await this.#values())
      }
    } catch {
      // A state directory that is being removed: the next look tells.
    } finally {
      this.#looking = false
    }
  }

  async #values(): Promise<(readonly [Collection, string, unknown])[]> {
    const { calls, jobs } = await worldOf(this.#watch, this.#jobs, { all: true, lastLines: false })
    const engines = [...this.#watch.engines.values()]
    const now = performance.now()
    const used = new Map<string, { cpuMs: number; at: number }>()
    const load = (id: string, cpuMs: number, memory: number): number => {
      used.set(id, { cpuMs, at: now })
      const before = this.#used.get(id)
      if (!before) return 0
      // Two looks in one moment: what was measured before still holds.
      if (now - before.at < TICK_MS / 2) {
        used.set(id, before)
        return this.#samples.get(id)?.at(-1)?.cpu ?? 0
      }
      const cpu = Math.max(0, Math.round(((cpuMs - before.cpuMs) / (now - before.at)) * 100))
      const samples = this.#samples.get(id) ?? []
      samples.push({ at: Date.now(), cpu, memory })
      this.#samples.set(id, samples.slice(-SAMPLES))
      return cpu
    }
    const values = [
      ...engines.map((engine) => ['engines', engine.id, engineValue(engine)] as const),
      ...calls.map((call) => callValue(call, load)),
      ...jobs.map((job) => jobValue(job, load)),
      ...this.#watch
        .asks()
        .map(
          ({ engine, ask }) =>
            ['asks', ask.id, { ...ask, door: engine.door, pid: engine.pid } satisfies AskRow] as const,
        ),
    ]
    this.#used = used
    for (const id of this.#samples.keys()) if (!used.has(id)) this.#samples.delete(id)
    return values
  }

  #compare(values: readonly (readonly [Collection, string, unknown])[]): void {
    const next: Known = new Map()
    const set: [Collection, string, unknown][] = []
    for (const [c, id, value] of values) {
      const text = JSON.stringify(value)
      const key = `${c} ${id}`
      next.set(key, { c, id, text, value })
      if (this.#known.get(key)?.text !== text) set.push([c, id, value])
    }
    const gone = [...this.#known].filter(([key]) => !next.has(key)).map(([, { c, id }]) => [c, id] as const)
    this.#known = next
    if (set.length > 0 || gone.length > 0) this.#tell({ t: 'delta', set, gone })
  }
}

function engineValue(engine: WatchedEngine): EngineRow {
  const clients = [...engine.calls.values()]
    .map(({ client }) => client)
    .filter((client) => client !== null && client !== 'default')
  return {
    ...picked(engine, ['pid', 'door', 'cwd', 'state', 'why']),
    name: clientName({ client: clients[0] ?? null, door: engine.door }),
    sessions: engine.sessions.map((session) => picked(session, ['name', 'cwd', 'busy', 'calls'])),
  }
}

type Load = (id: string, cpuMs: number, memory: number) => number

function callValue(call: CallRow, load: Load) {
  const id = `${call.engine.id}:${call.run}`
  const { uses, ask } = call
  const value: CallValue = {
    ...picked(call, ['run', 'session', 'description', 'at', 'bytes', 'pty']),
    engine: call.engine.id,
    command: call.command.slice(0, SHOWN_COMMAND),
    client: clientName(call),
    lastLine: call.lastLine.slice(0, 200),
    cpu: load(id, uses.cpuMs, uses.memoryBytes),
    memory: uses.memoryBytes,
    ports: uses.ports,
    ask: ask?.id ?? null,
  }
  return ['calls', id, value] as const
}

function jobValue({ info, uses }: JobRow, load: Load) {
  const value: JobValue = {
    ...picked(info, ['status', 'description', 'cwd', 'pty', 'exitCode', 'signal', 'engine', 'session']),
    running: info.isRunning,
    command: info.command.slice(0, SHOWN_COMMAND),
    apart: info.streams === 'separate',
    at: info.startedAt,
    end: info.endedAt,
    bytes: info.bytes.total,
    omitted: info.bytes.omitted,
    complete: info.outputComplete,
    notes: noteTexts(info.notes),
    ...(uses ? { cpu: load(info.id, uses.cpuMs, uses.memoryBytes), memory: uses.memoryBytes, ports: uses.ports } : {}),
  }
  return ['jobs', info.id, value] as const
}

/** These fields and no others: a page is told what it shows. */
function picked<T, Key extends keyof T>(of: T, keys: readonly Key[]): Pick<T, Key> {
  return Object.fromEntries(keys.map((key) => [key, of[key]])) as Pick<T, Key>
}
