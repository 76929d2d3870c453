/** `cerith top` at work: looks every second, follows the output of what is selected, and does what the keys say. */
import { announcePresence } from '../../audit/presence.js'
import type { JobsView } from '../../contract/engine.js'
import type { ApprovalAnswer } from '../../contract/request.js'
import { EngineWatch, type WatchEvent } from '../../engine/live/watch.js'
import { stripAnsi } from '../../output/terminal/ansi.js'
import { giveAnswer, openQuestions, whoIsHere, type OpenQuestion } from '../verb/approvals.js'
import type { Paint } from '../io/paint.js'
import { visible } from '../../output/terminal/visible.js'
import { isWholeInSight, itemsOf, topScreen, type Item, type TopState } from './top-view.js'
import { worldOf, type World } from '../../engine/live/world.js'

const REDRAW_MS = 1_000
const KEPT_CHARS = 32 * 1024
/** A question that has just appeared takes no answer: the key may have been meant for what was there before. */
const ARM_MS = 500

export interface TopTerminal {
  readonly size: () => { columns: number; rows: number }
  draw(lines: readonly string[]): void
  bell(): void
}

export interface TopOptions {
  readonly jobs: JobsView
  readonly stateDir: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly terminal: TopTerminal
  readonly paint: Paint
}

/** A key that needs a second one: what it would do, and how. */
interface Pending {
  readonly key: string
  readonly text: string
  readonly act: () => Promise<void> | void
}

export class Top {
  readonly #options: TopOptions
  readonly #watch: EngineWatch
  readonly #leave: () => void
  #world: World = { calls: [], sessions: [], jobs: [] }
  #asks: OpenQuestion[] = []
  readonly #seenAt = new Map<string, number>()
  #selected: string | null = null
  #hasMoved = false
  #followed: string | null = null
  #text = ''
  #message: string | null = null
  #pending: Pending | null = null
  #load = new Map<string, number>()
  #used = new Map<string, { cpuMs: number; at: number }>()
  #timer: NodeJS.Timeout | null = null
  #looking = false

  constructor(options: TopOptions) {
    this.#options = options
    const { stateDir, jobs } = options
    this.#leave = announcePresence(stateDir)
    this.#watch = new EngineWatch({
      stateDir,
      except: jobs.id,
      approves: true,
      onEvent: (event) => this.#hear(event),
    })
    this.#watch.start()
    this.#timer = setInterval(() => void this.look(), REDRAW_MS)
  }

  close(): void {
    if (this.#timer) clearInterval(this.#timer)
    this.#leave()
    this.#watch.close()
  }

  async look(): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    try {
      this.#watch.refresh()
      this.#world = await worldOf(this.#watch, this.#options.jobs, { all: false, lastLines: false })
      this.#measure()
      await this.#readJob()
    } finally {
      this.#looking = false
    }
    this.draw()
  }

  draw(): void {
    const { terminal, paint, stateDir } = this.#options
    this.#asks = openQuestions(this.#watch, stateDir).filter(({ isGone }) => !isGone)
    this.#ringForNew()
    const items = itemsOf({ world: this.#world, asks: this.#asks })
    // Until the person has moved, what is first is selected: a question, when there is one.
    if (!this.#hasMoved || !items.some(({ key }) => key === this.#selected)) this.#select(items[0] ?? null)
    const state: TopState = {
      world: this.#world,
      asks: this.#asks,
      selected: this.#selected,
      output: visible(stripAnsi(this.#text)).split(/\r?\n/),
      message: this.#pending?.text ?? this.#message,
      load: this.#load,
      now: Date.now(),
    }
    terminal.draw(topScreen(state, terminal.size(), paint))
  }

  /** True when the person wants to leave; `attach` names a job to go to. */
  async press(key: string): Promise<{ leave: boolean; attach?: string }> {
    const pending = this.#pending
    this.#pending = null
    this.#message = null
    if (key === 'q' || key === '\u0003') return { leave: true }
    if (pending) {
      if (key === pending.key) await this.#try(pending.act)
      this.draw()
      return { leave: false }
    }
    const items = itemsOf({ world: this.#world, asks: this.#asks })
    const at = items.findIndex((item) => item.key === this.#selected)
    const item = items[at]
    this.#hasMoved = true
    if (key === '\u001B[A') this.#select(items[Math.max(0, at - 1)] ?? null)
    else if (key === '\u001B[B') this.#select(items[Math.min(items.length - 1, at + 1)] ?? null)
    else if (item?.kind === 'job' && key === 'a' && item.job.info.pty && item.job.info.isRunning)
      return { leave: true, attach: item.key }
    else if (item) this.#act(item, key)
    this.draw()
    return { leave: false }
  }

  #act(item: Item, key: string): void {
    if (item.kind === 'ask') return this.#answer(item.ask, key)
    const order = (what: string): void => {
      if (item.kind === 'call') item.call.engine.send({ do: what, run: item.call.run })
    }
    if (item.kind === 'call' && key === 'i') order('interrupt')
    if (item.kind === 'call' && key === 'b') order('background')
    if (key !== 'k') return
    const act = async (): Promise<void> => {
      if (item.kind === 'call') return order('kill')
      const job = await this.#options.jobs.job(item.key)
      await job.kill({ by: whoIsHere(this.#options.env) })
    }
    this.#pending = {
      key: 'k',
      text: 'End it and everything it started? k again does it, any other key does not.',
      act,
    }
  }

  #answer(ask: OpenQuestion, key: string): void {
    const as = ({ y: 'once', s: 'session', n: 'deny' } as Record<string, ApprovalAnswer>)[key]
    if (!as || performance.now() - (this.#seenAt.get(ask.id) ?? performance.now()) < ARM_MS) return
    if (as !== 'deny' && !isWholeInSight(ask, this.#options.terminal.size())) {
      this.#message = `It does not fit on this screen. Enlarge it, or use: cerith approve ${ask.id}`
      return
    }
    const words = { once: 'Allow exactly this, once', session: 'Allow this for the session', deny: 'Deny it' }[as]
    const act = (): Promise<void> => giveAnswer(this.#watch, this.#options.stateDir, ask, as)
    this.#pending = { key, text: `${words}? ${key} again does it, any other key does not.`, act }
  }

  async #try(act: () => Promise<void> | void): Promise<void> {
    try {
      await act()
    } catch (error) {
      this.#message = (error as Error).message
    }
  }

  #ringForNew(): void {
    let isNew = false
    for (const { id } of this.#asks) {
      if (this.#seenAt.has(id)) continue
      this.#seenAt.set(id, performance.now())
      isNew = true
    }
    if (isNew) this.#options.terminal.bell()
  }

  #select(item: Item | null): void {
    if (item?.key === this.#selected) return
    this.#selected = item?.key ?? null
    this.#text = ''
    this.#order(this.#followed, 'unfollow')
    this.#followed = item?.kind === 'call' ? item.key : null
    this.#order(this.#followed, 'follow')
    void this.#readJob()
  }

  #order(key: string | null, what: 'follow' | 'unfollow'): void {
    if (key === null) return
    const [engine = '', run] = key.split(':')
    this.#watch.engines.get(engine)?.send({ do: what, run: Number(run) })
  }

  #hear({ engine, said }: WatchEvent): void {
    if (said.t === 'out' && `${engine.id}:${String(said['run'])}` === this.#followed) {
      if (Number(said['missed']) > 0) this.#text += `\n[${String(said['missed'])} bytes are not shown]\n`
      this.#text = (this.#text + String(said['text'])).slice(-KEPT_CHARS)
    }
    if (said.t === 'ask' || said.t === 'answered' || said.t === 'gone') this.draw()
  }

  async #readJob(): Promise<void> {
    const row = this.#world.jobs.find(({ info }) => info.id === this.#selected)
    if (!row) return
    try {
      const job = await this.#options.jobs.job(row.info.id)
      const since = Math.max(0, row.info.bytes.total - KEPT_CHARS)
      this.#text = (await job.read({ since, ansi: 'strip' })).text
    } catch {
      this.#text = 'It was cleaned away.'
    }
  }

  /** CPU since the look before, in percent of one processor. */
  #measure(): void {
    const at = performance.now()
    const used = new Map<string, { cpuMs: number; at: number }>()
    const load = new Map<string, number>()
    const note = (key: string, cpuMs: number): void => {
      used.set(key, { cpuMs, at })
      const before = this.#used.get(key)
      if (before && at > before.at) load.set(key, Math.max(0, ((cpuMs - before.cpuMs) / (at - before.at)) * 100))
    }
    for (const call of this.#world.calls) note(`${call.engine.id}:${call.run}`, call.uses.cpuMs)
    for (const { info, uses } of this.#world.jobs) if (uses) note(info.id, uses.cpuMs)
    this.#used = used
    this.#load = load
  }
}
