/** `cerith ui`: one process that shows all engines of a state directory to the person's browser, on loopback. */
import { randomBytes } from 'node:crypto'
import { statfsSync } from 'node:fs'
import { join } from 'node:path'
import type { WebSocket } from 'ws'
import { announcePresence } from '../audit/presence.js'
import { attempt } from '../contract/attempt.js'
import type { JobsView } from '../contract/engine.js'
import { EngineWatch, type WatchEvent } from '../engine/live/watch.js'
import { openDoor, type OpenDoor } from './door.js'
import { Feed } from './feed.js'
import { Keys, type LinkOptions, type Session } from './keys.js'
import { Page } from './page.js'
import { Records } from './records.js'
import { reachableNames } from './names.js'
import type { Disk, Role } from './words.js'
import { userName } from '../os/user/name.js'

const SWEEP_MS = 5_000
/** Less than this, and a job cannot store what it prints. */
const FULL_BELOW = 1024 * 1024

export interface UiOptions {
  readonly jobs: JobsView
  readonly stateDir: string
  /** All links may only look. */
  readonly readOnly: boolean
  readonly headCopy?: string
  /** Told of what the person should know: a link that was used twice. */
  readonly warn: (message: string) => void
}

export class Ui {
  readonly keys = new Keys()
  readonly watch: EngineWatch
  readonly feed: Feed
  readonly jobs: JobsView
  readonly records: Records
  readonly stateDir: string
  /** For the audit log. */
  readonly who: string
  readonly warn: (message: string) => void
  readonly #readOnly: boolean
  readonly #pages = new Set<Page>()
  /** A name that no page had before: what an earlier server left in the browser does not know it. */
  readonly #name = `${randomBytes(5).toString('hex')}.localhost`
  #shown = this.#name
  #disk: Disk | null = null
  readonly #followed = new Map<string, number>()
  #door: OpenDoor | null = null
  #leave: (() => void) | null = null
  readonly #sweep: NodeJS.Timeout

  constructor({ jobs, stateDir, headCopy, warn, readOnly }: UiOptions) {
    this.jobs = jobs
    this.warn = warn
    this.stateDir = stateDir
    this.#readOnly = readOnly
    this.records = new Records(join(stateDir, 'audit.jsonl'), headCopy)
    this.who = `${userName()}: page of cerith ${process.pid}`
    this.watch = new EngineWatch({ stateDir, except: jobs.id, onEvent: (event) => this.#hear(event) })
    this.feed = new Feed(this.watch, jobs, (delta) => {
      for (const page of this.#pages) page.tell(delta)
    })
    this.#sweep = setInterval(() => {
      this.keys.sweep()
      this.#lookAtDisk()
    }, SWEEP_MS)
  }

  /** Port 0 takes any free one. */
  async open({ port, host }: { readonly port: number; readonly host: string }): Promise<void> {
    const { shown, allowed } = reachableNames(host, this.#name)
    this.#shown = shown
    this.#door = await openDoor({ ui: this, port, host, names: allowed })
    this.watch.start()
  }

  get port(): number {
    return this.#door?.port ?? 0
  }

  get pages(): number {
    return this.#pages.size
  }

  /** Under the name of this start, or by the address that other machines were allowed to reach. */
  link(role: Role = this.#readOnly ? 'look' : 'person', options: LinkOptions = {}): string {
    return `http://${this.#shown}:${this.port}/#k=${this.keys.link(role, options).key}`
  }

  /** A page that has shown a good key. */
  admit(socket: WebSocket, session: Session, key: string): Page {
    const page = new Page(socket, this, session)
    const end = (): void => socket.close(4401, 'the key has ended')
    session.pages.add(end)
    this.#pages.add(page)
    this.presenceChanged()
    this.feed.active = true
    const { role, until, only } = session
    page.send({ t: 'welcome', role, key, until, only, shares: this.#shown })
    this.#disk = null
    this.#lookAtDisk()
    void this.feed.everything().then((delta) => page.tell({ ...delta, first: true }))
    socket.on('close', () => {
      session.pages.delete(end)
      this.keys.touch(session)
      this.#pages.delete(page)
      void page.close()
      this.presenceChanged()
      if (this.#pages.size === 0) this.feed.active = false
    })
    return page
  }

  /** While a person's page is in sight, calls that need an answer wait for it. */
  presenceChanged(): void {
    const isThere = [...this.#pages].some(({ session, visible }) => session.role === 'person' && visible)
    this.watch.approves = isThere
    if (isThere) this.#leave ??= announcePresence(this.stateDir)
    else {
      this.#leave?.()
      this.#leave = null
    }
  }

  /** The output of a call is asked for once, for all pages that show it. */
  follow(id: string, on: boolean): void {
    const count = (this.#followed.get(id) ?? 0) + (on ? 1 : -1)
    const [engine = '', run] = id.split(':')
    const send = (what: string): void => this.watch.engines.get(engine)?.send({ do: what, run: Number(run) })
    // A second page wants what was printed before, too: both begin anew.
    if (on && count > 1) send('unfollow')
    if (on) send('follow')
    else if (count <= 0) send('unfollow')
    if (count > 0) this.#followed.set(id, count)
    else this.#followed.delete(id)
  }

  async close(): Promise<void> {
    clearInterval(this.#sweep)
    this.#leave?.()
    this.keys.revokeAll()
    this.feed.close()
    this.watch.close()
    await this.#door?.close()
  }

  #hear({ engine, said }: WatchEvent): void {
    if (said.t === 'out') {
      const of = `call/${engine.id}:${String(said['run'])}`
      for (const page of this.#pages) page.offer(of, String(said['text']), Number(said['missed']) || 0)
      return
    }
    if (said.t === 'end') this.#tell({ ...said, t: 'ended', id: `${engine.id}:${String(said['run'])}` })
    if (said.t === 'answered' || said.t === 'said') this.#tell({ ...said })
    if (said.t !== 'lines') this.feed.poke()
  }

  #lookAtDisk(): void {
    if (this.#pages.size === 0) return
    // Where jobs store their output.
    const stat = attempt(() => statfsSync(this.stateDir))
    if (!stat) return
    const free = stat.bavail * stat.bsize
    const disk: Disk = { free, isFull: free < FULL_BELOW }
    if (disk.isFull === this.#disk?.isFull) return
    this.#disk = disk
    this.#tell({ t: 'disk', ...disk })
  }

  /** News about commands, for pages that show more than one job. */
  #tell(message: object): void {
    for (const page of this.#pages) if (page.session.only === null) page.send(message)
  }
}
