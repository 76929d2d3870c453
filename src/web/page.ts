/**
 * One open page: its role, the view that it follows, and what it may order. Every message is
 * checked here, whatever the page shows.
 */
import type { WebSocket } from 'ws'
import { nameSet } from '../contract/quote.js'
import { isAnswer } from '../contract/request.js'
import type { Attachment } from '../contract/job.js'
import { waitingOf } from '../audit/approvals.js'
import { recordingsOf } from '../os/job/recordings.js'
import { Flow } from './flow.js'
import type { Session } from './keys.js'
import { tailJob } from './tail.js'
import type { Delta } from './feed.js'
import type { Ui } from './ui.js'

const ACTS = nameSet('kill interrupt background take type size give-back answer share links revoke')
/** All that a link to one job may ask for, and only about that job. */
const ABOUT_A_JOB = nameSet('open lines samples')
/**
 * What is about the view is done one after the other: what is typed while a terminal is being taken over waits for it.
 */
const VIEW = nameSet('open close take type size give-back')
const ABOUT_NOTHING = nameSet('ack visible close')
const MAX_LINES = 2_000
const LINES_BYTES = 128 * 1024

type Message = Readonly<Record<string, unknown>>

export class Page {
  readonly #socket: WebSocket
  readonly #ui: Ui
  readonly session: Session
  /** A page in a hidden tab does not make calls wait for it. */
  visible = true
  #flow: Flow | null = null
  #open: string | null = null
  #stopTail: (() => void) | null = null
  #turn: Promise<void> = Promise.resolve()
  #attachment: Attachment | null = null

  constructor(socket: WebSocket, ui: Ui, session: Session) {
    this.#socket = socket
    this.#ui = ui
    this.session = session
  }

  get open(): string | null {
    return this.#open
  }

  send(message: object): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(JSON.stringify(message))
  }

  /** Output of the call that the view shows. */
  offer(of: string, text: string, missed: number): void {
    if (of === this.#open) this.#flow?.push(text, missed)
  }

  async message(message: Message): Promise<void> {
    const what = message['do']
    if (typeof what !== 'string') return
    if (ACTS.has(what) && this.session.role !== 'person')
      return this.send({ t: 'error', text: 'This link may only look.' })
    if (!this.#mayAsk(what, message))
      return this.send({ t: 'error', text: 'This link shows one job and nothing else.' })
    try {
      await (VIEW.has(what) ? this.#inTurn(() => this.#obey(what, message)) : this.#obey(what, message))
    } catch (error) {
      this.send({ t: 'error', text: error instanceof Error ? error.message : 'It did not work.' })
    }
  }

  #inTurn(act: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(act)
    this.#turn = turn.catch(() => {})
    return turn
  }

  close(): Promise<void> {
    return this.#inTurn(() => this.#closeView())
  }

  /** What a link to one job shows of the world: that job. */
  tell(delta: Delta & { readonly first?: boolean }): void {
    const { only } = this.session
    if (only === null) return this.send(delta)
    const isShown = ([collection, id]: readonly [string, string, ...unknown[]]): boolean =>
      collection === 'jobs' && id === only
    const set = delta.set.filter(isShown)
    const gone = delta.gone.filter(isShown)
    if (set.length > 0 || gone.length > 0 || delta.first) this.send({ ...delta, set, gone })
  }

  #mayAsk(what: string, message: Message): boolean {
    const { only } = this.session
    if (only === null || ABOUT_NOTHING.has(what)) return true
    return ABOUT_A_JOB.has(what) && (what === 'open' ? message['of'] === `job/${only}` : message['id'] === only)
  }

  async #obey(what: string, message: Message): Promise<void> {
    const id = textOf(message['id'])
    switch (what) {
      case 'ack':
        return this.#flow?.read(Number(message['n']) || 0)
      case 'visible':
        this.visible = message['on'] === true
        return this.#ui.presenceChanged()
      case 'open':
        return this.#openView(textOf(message['of']))
      case 'close':
        return this.#closeView()
      case 'audit':
        return this.send({ t: 'audit', ask: message['ask'], ...(await this.#ui.records.lines(linesWanted(message))) })
      case 'blocks': {
        const blocks = await this.#ui.records.blocks(linesWanted(message))
        return this.send({ t: 'blocks', ask: message['ask'], blocks, isRecorded: this.#isRecorded(message) })
      }
      case 'chain':
        return this.send({ t: 'chain', ...(await this.#ui.records.verdict()) })
      case 'lines':
        return this.#sendLines(id, message)
      case 'samples':
        return this.send({ t: 'samples', id, samples: this.#ui.feed.samplesOf(id) })
      case 'links':
        return this.send({ t: 'links', all: this.#ui.keys.lookers() })
      case 'kill':
        return this.#kill(id)
      case 'interrupt':
      case 'background':
        return this.#orderCall(id, what)
      case 'take':
        return this.#take(message)
      case 'type':
        return this.#attachment?.type(Buffer.from(textOf(message['text'])))
      case 'size':
        return this.#attachment?.resize(sizeOf(message))
      case 'give-back':
        if (this.#open) await this.#openView(this.#open)
        return
      case 'answer':
        return this.#answer(message)
      case 'share': {
        const livesMs = Math.min(Math.max(60_000, Number(message['livesMs']) || 3_600_000), 30 * 86_400_000)
        const label = textOf(message['label']).slice(0, 80) || 'a link'
        const link = this.#ui.link('look', { label, livesMs, only: textOf(message['only']).slice(0, 80) || null })
        return this.send({ t: 'shared', link, all: this.#ui.keys.lookers() })
      }
      case 'revoke':
        this.#ui.keys.revoke(id)
        return this.send({ t: 'links', all: this.#ui.keys.lookers() })
    }
  }

  #isRecorded(message: Message): boolean {
    const { session, engine } = linesWanted(message)
    return session !== null && recordingsOf(this.#ui.stateDir, { session, engine }).length > 0
  }

  async #openView(of: string): Promise<void> {
    await this.#closeView()
    this.#open = of
    const flow = new Flow((text, skipped) => this.send({ t: 'out', of, text, skipped }))
    this.#flow = flow
    const [kind, ...rest] = of.split('/')
    if (kind === 'call') return this.#ui.follow(rest[0] ?? '', true)
    const show = (size: object): void => this.send({ t: 'size', of, size })
    const stop = await tailJob(this.#ui.jobs, rest[0] ?? '', flow, show, () => this.#flow === flow)
    // The person may have gone on meanwhile.
    if (this.#flow === flow) this.#stopTail = stop
    else stop()
  }

  async #closeView(): Promise<void> {
    const attachment = this.#attachment
    const of = this.#open
    this.#stopTail?.()
    this.#stopTail = null
    this.#attachment = null
    this.#flow = null
    this.#open = null
    if (of?.startsWith('call/')) this.#ui.follow(of.slice(5), false)
    await attachment?.leave()
  }

  async #take(message: Message): Promise<void> {
    const of = this.#open
    if (!of?.startsWith('job/')) return
    this.#stopTail?.()
    this.#stopTail = null
    const flow = new Flow((text, skipped) => this.send({ t: 'out', of, text, skipped }))
    this.#flow = flow
    this.send({ t: 'taken', of })
    try {
      const job = await this.#ui.jobs.job(of.slice(4))
      this.#attachment = await job.attach({
        by: this.#ui.who,
        readOnly: false,
        size: message['cols'] === undefined ? null : sizeOf(message),
        show: (text) => {
          if (this.#flow === flow) flow.push(text)
        },
      })
      void this.#attachment.done.then((how) => this.send({ t: 'left', of, how }))
    } catch (error) {
      this.send({ t: 'left', of, how: 'failed' })
      throw error
    }
  }

  async #kill(id: string): Promise<void> {
    if (id.includes(':')) return this.#orderCall(id, 'kill')
    await (await this.#ui.jobs.job(id)).kill({ by: this.#ui.who })
    this.#ui.feed.poke()
  }

  #orderCall(id: string, what: string): void {
    const [engine = '', run] = id.split(':')
    const found = this.#ui.watch.engines.get(engine)
    if (!found) throw new Error('Its engine has ended.')
    found.send({ do: what, run: Number(run) })
  }

  /** The digest comes from the page, of what it showed; it is passed on as it is, and the engine compares. */
  #answer(message: Message): void {
    const { id, as, digest } = message
    const asked = this.#ui.watch.asks().find(({ ask }) => ask.id === id)
    if (!asked || !waitingOf(asked.ask)) throw new Error('It was answered, or its process has ended.')
    if (typeof digest !== 'string' || !isAnswer(as)) throw new Error('That is no answer.')
    asked.engine.send({ do: 'answer', id: asked.ask.id, digest, as })
  }

  /** A range of a job's output as lines, by byte offset; with `filter` only the lines that fit, searched here. */
  async #sendLines(id: string, message: Message): Promise<void> {
    const job = await this.#ui.jobs.job(id)
    const stream = ['stdout', 'stderr', 'output'].find((each) => each === message['stream']) as 'stdout' | undefined
    const filter = textOf(message['filter'])
    const since = Math.max(0, Math.floor(Number(message['since']) || 0))
    const { text, cursor, start, totalBytes, matches, omittedBytes } = await job.read({
      stream,
      since,
      ansi: 'strip',
      ...(filter ? { filter, tail: MAX_LINES } : { maxBytes: LINES_BYTES }),
    })
    this.send({ t: 'lines', id, ask: message['ask'], text, cursor, start, totalBytes, matches, omittedBytes })
  }
}

function linesWanted(message: Message) {
  const maybe = (key: string): string | null => (typeof message[key] === 'string' ? (message[key] as string) : null)
  return {
    query: textOf(message['query']).slice(0, 200),
    session: maybe('session'),
    engine: maybe('engine'),
    limit: Number(message['limit']) || 500,
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function sizeOf(message: Message): { cols: number; rows: number } {
  const whole = (value: unknown, most: number): number => Math.min(Math.max(2, Math.floor(Number(value) || 0)), most)
  return { cols: whole(message['cols'], 500), rows: whole(message['rows'], 300) }
}
