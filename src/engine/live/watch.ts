/**
 * Looks at all engines of a user from another process, through their live sockets: sessions,
 * calls under way, their output, questions.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitingOf, type WaitingApproval } from '../../audit/approvals.js'
import { connectLines, LIVE_SOCKET, type LineClient } from '../../os/peer/live-socket.js'
import { isAlive } from '../../os/process/proc.js'
import { bootId } from '../../os/process/world.js'
import { ensurePrivateDirectory } from '../../os/files/state-dir.js'
import { namesIn } from '../../os/files/quietly.js'
import { watchDirectory } from '../../os/files/watching.js'
import { attempt } from '../../contract/attempt.js'

const LOOK_EVERY_MS = 1_000
const SOON_MS = 100
const QUICK_TRIES = 10

export interface WatchedCall {
  readonly run: number
  readonly session: string | null
  readonly command: string
  readonly description: string | null
  readonly cwd: string | null
  readonly client: string | null
  readonly door: string
  readonly pty: boolean
  readonly at: number
  pid: number | null
  bytes: number
  lastLine: string
}

export interface WatchedSession {
  readonly name: string
  readonly cwd: string
  readonly busy: boolean
  readonly calls: number
  readonly pid: number | null
  readonly startedAt: number
  readonly leftovers: number
}

/**
 * `isWaiting`: the call is held until the answer; otherwise it was refused, and an answer counts when it is repeated.
 */
export type WatchedAsk = WaitingApproval & { readonly isWaiting: boolean }

export interface WatchedEngine {
  readonly id: string
  readonly pid: number
  door: string
  cwd: string
  /** `silent`: it has no socket (yet), or does not answer; `refused`: it turned this process away. */
  state: 'connecting' | 'live' | 'silent' | 'refused'
  why: string | null
  sessions: readonly WatchedSession[]
  readonly calls: Map<number, WatchedCall>
  readonly asks: Map<string, WatchedAsk>
  send(order: object): void
}

/** Everything that an engine says, with the engine; `gone` when it has ended. */
export type WatchEvent = {
  readonly engine: WatchedEngine
  readonly said: Readonly<Record<string, unknown>> & { t: string }
}

export interface WatchOptions {
  readonly stateDir: string
  /** An engine of our own that is of no interest. */
  readonly except?: string | null
  /** A person is here to answer: calls that need one wait. */
  readonly approves?: boolean
  readonly onEvent?: (event: WatchEvent) => void
}

export class EngineWatch {
  readonly engines = new Map<string, WatchedEngine>()
  readonly #clients = new Map<string, LineClient>()
  readonly #tries = new Map<string, number>()
  readonly #options: WatchOptions
  readonly #listeners = new Set<(event: WatchEvent) => void>()
  readonly #runDir: string
  #approves: boolean
  #unwatch: (() => void) | null = null
  #soon: NodeJS.Timeout | null = null

  constructor(options: WatchOptions) {
    this.#options = options
    this.#approves = options.approves ?? false
    this.#runDir = join(options.stateDir, 'run')
    if (options.onEvent) this.#listeners.add(options.onEvent)
  }

  listen(listener: (event: WatchEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #tell(event: WatchEvent): void {
    for (const listener of this.#listeners) listener(event)
  }

  /** Looks once, and again whenever an engine comes or goes. */
  start(): void {
    this.scan()
    // Where it cannot be made, the timer looks for it.
    attempt(() => ensurePrivateDirectory(this.#runDir))
    this.#unwatch = watchDirectory(this.#runDir, LOOK_EVERY_MS, () => this.scan())
  }

  /** Connects to the engines that are there and not yet known. */
  scan(): void {
    for (const id of namesIn(this.#runDir)) {
      const known = this.engines.get(id)
      if ((known && known.state !== 'silent') || id === this.#options.except) continue
      const pid = livingPid(join(this.#runDir, id))
      if (pid !== null) this.#connect(id, pid, known)
      else if (known) this.#gone(known)
    }
    for (const engine of this.engines.values())
      if (engine.state === 'silent' && livingPid(join(this.#runDir, engine.id)) === null) this.#gone(engine)
  }

  /** Asks every engine for its sessions, and for what its commands have printed. */
  refresh(): void {
    for (const engine of this.engines.values()) {
      engine.send({ do: 'sessions' })
      engine.send({ do: 'look' })
    }
  }

  set approves(on: boolean) {
    if (on === this.#approves) return
    this.#approves = on
    for (const engine of this.engines.values()) if (engine.state === 'live') engine.send({ do: 'approve-here', on })
  }

  /** Every question of every engine, oldest first. */
  asks(): { readonly engine: WatchedEngine; readonly ask: WatchedAsk }[] {
    const all = [...this.engines.values()].flatMap((engine) =>
      [...engine.asks.values()].map((ask) => ({ engine, ask })),
    )
    return all.sort((a, b) => a.ask.askedAt - b.ask.askedAt)
  }

  close(): void {
    if (this.#soon) clearTimeout(this.#soon)
    this.#unwatch?.()
    this.#unwatch = null
    for (const client of this.#clients.values()) client.close()
    this.#clients.clear()
  }

  #connect(id: string, pid: number, known: WatchedEngine | undefined): void {
    const engine: WatchedEngine = known ?? {
      id,
      pid,
      door: '',
      cwd: '',
      state: 'connecting',
      why: null,
      sessions: [],
      calls: new Map(),
      asks: new Map(),
      send: (order) => this.#clients.get(id)?.send(order),
    }
    engine.state = 'connecting'
    this.engines.set(id, engine)
    const client = connectLines(join(this.#runDir, id, LIVE_SOCKET), {
      message: (said) => this.#hear(engine, said),
      closed: () => this.#closed(engine, client),
    })
    this.#clients.set(id, client)
  }

  #hear(engine: WatchedEngine, said: Readonly<Record<string, unknown>>): void {
    const { t } = said
    if (typeof t !== 'string') return
    if (t === 'no') Object.assign(engine, { state: 'refused', why: String(said['why']) })
    else if (t === 'hello') {
      Object.assign(engine, { state: 'live', door: said['door'], cwd: said['cwd'] })
      if (this.#approves) engine.send({ do: 'approve-here', on: true })
    } else if (t === 'sessions') engine.sessions = said['all'] as WatchedSession[]
    else if (t === 'begin')
      engine.calls.set(said['run'] as number, { ...(said as unknown as WatchedCall), lastLine: '' })
    else if (t === 'end') engine.calls.delete(said['run'] as number)
    else if (t === 'lines')
      for (const { run, pid, bytes, lastLine } of said['all'] as WatchedCall[])
        Object.assign(engine.calls.get(run) ?? {}, { pid, bytes, lastLine })
    else if (t === 'ask') {
      const waiting = waitingOf(said)
      if (waiting) engine.asks.set(waiting.id, { ...waiting, isWaiting: said['isWaiting'] === true })
    } else if (t === 'answered') engine.asks.delete(String(said['id']))
    this.#tell({ engine, said: said as WatchEvent['said'] })
  }

  #closed(engine: WatchedEngine, client: LineClient): void {
    if (this.#clients.get(engine.id) !== client) return
    this.#clients.delete(engine.id)
    if (engine.state === 'refused') return
    if (livingPid(join(this.#runDir, engine.id)) === null) this.#gone(engine)
    else {
      engine.state = 'silent'
      // A young engine opens its socket in a moment.
      const tries = (this.#tries.get(engine.id) ?? 0) + 1
      this.#tries.set(engine.id, tries)
      if (!this.#unwatch || this.#soon || tries >= QUICK_TRIES) return
      this.#soon = setTimeout(() => {
        this.#soon = null
        this.scan()
      }, SOON_MS)
    }
  }

  #gone(engine: WatchedEngine): void {
    this.#tries.delete(engine.id)
    if (!this.engines.delete(engine.id)) return
    this.#tell({ engine, said: { t: 'gone' } })
  }
}

/** One look at everything, for a command that prints and ends. */
export async function lookOnce(stateDir: string, except: string | null, limitMs = 3_000): Promise<EngineWatch> {
  let changed = (): void => {}
  const answered = new Set<string>()
  const asked = new Set<string>()
  const watched = new EngineWatch({
    stateDir,
    except,
    onEvent: ({ engine, said }) => {
      if (said.t === 'sessions' && !asked.has(engine.id)) {
        asked.add(engine.id)
        engine.send({ do: 'look' })
      }
      if (said.t === 'lines' || said.t === 'no' || said.t === 'gone') answered.add(engine.id)
      changed()
    },
  })
  watched.scan()
  const isDone = (): boolean =>
    [...watched.engines.values()].every(
      ({ id, state }) => answered.has(id) || state === 'silent' || state === 'refused',
    )
  const endsAt = performance.now() + limitMs
  while (!isDone() && performance.now() < endsAt)
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, 50)
      changed = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  return watched
}

/** Null when the engine of this directory is not alive. */
function livingPid(dir: string): number | null {
  return attempt(() => {
    const { pid, start, boot } = JSON.parse(readFileSync(join(dir, 'engine.json'), 'utf8')) as Record<string, string>
    return boot === bootId() && isAlive(Number(pid), start || undefined) ? Number(pid) : null
  }, null)
}
