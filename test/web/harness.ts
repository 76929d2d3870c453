/** The server of the page in this process, and connections to it as pages and strangers make them. */
import { rmSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import { openAuditLog } from '../../src/audit/log.js'
import { openJobsReader } from '../../src/engine/job/reader.js'
import { createEngine, type Engine, type EngineOptions } from '../../src/index.js'
import { Ui } from '../../src/web/ui.js'
import { temporaryFolder } from '../fixtures/folder.js'

export interface Said extends Record<string, unknown> {
  readonly t: string
}

export class World {
  readonly base = temporaryFolder('web')
  readonly home = join(this.base, 'state')
  readonly warned: string[] = []
  readonly #closers: (() => Promise<unknown>)[] = []

  async ui({ readOnly = false }: { readOnly?: boolean } = {}): Promise<Ui> {
    const jobs = openJobsReader({
      stateDir: this.home,
      door: 'cli',
      audit: openAuditLog({ file: join(this.home, 'audit.jsonl') }),
    })
    const ui = new Ui({ jobs, stateDir: this.home, readOnly, warn: (text) => this.warned.push(text) })
    await ui.open({ port: 0, host: '127.0.0.1' })
    this.#closers.push(() => ui.close().then(() => jobs.close()))
    return ui
  }

  async agent(options: EngineOptions = {}): Promise<Engine> {
    const audit = openAuditLog({ file: join(this.home, 'audit.jsonl') })
    const engine = await createEngine({ stateDir: this.home, cwd: this.base, door: 'mcp', audit, ...options })
    this.#closers.push(() => engine.close())
    return engine
  }

  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close()
    rmSync(this.base, { recursive: true, force: true })
  }
}

export const keyIn = (link: string): string => new URL(link).hash.slice('#k='.length)
export const originOf = (ui: Ui): string => `http://127.0.0.1:${ui.port}`

/** A page as far as the server can tell. */
export class Knock {
  readonly said: Said[] = []
  readonly socket: WebSocket
  readonly closed: Promise<number>
  #wake = (): void => {}

  constructor(ui: Ui, first?: string | Buffer) {
    this.socket = new WebSocket(`ws://127.0.0.1:${ui.port}/live`, { origin: originOf(ui) })
    this.closed = new Promise((resolve) => this.socket.on('close', (code) => resolve(code)))
    this.socket.on('error', () => {})
    this.socket.on('open', () => first !== undefined && this.socket.send(first))
    this.socket.on('message', (data: Buffer) => {
      this.said.push(JSON.parse(data.toString('utf8')) as Said)
      this.#wake()
    })
  }

  static async with(ui: Ui, key: string): Promise<Knock> {
    const knock = new Knock(ui, JSON.stringify({ do: 'key', key }))
    await knock.hear(({ t }) => t === 'welcome')
    return knock
  }

  say(message: object): void {
    this.socket.send(JSON.stringify(message))
  }

  /** The first that fits, of what was said and what comes. */
  async hear(fits: (said: Said) => boolean): Promise<Said> {
    for (;;) {
      const found = this.said.find(fits)
      if (found) return found
      await new Promise<void>((resolve, reject) => {
        this.#wake = resolve
        void this.closed.then((code) => reject(new Error(`closed with ${code}: ${JSON.stringify(this.said)}`)))
      })
    }
  }

  /** What is said to an order; what came before it does not count. */
  async ask(message: object, fits: (said: Said) => boolean): Promise<Said> {
    this.said.length = 0
    this.say(message)
    return this.hear(fits)
  }
}

export interface Got {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly body: string
}

/** With a Host of one's own, which fetch does not allow. */
export function get(ui: Ui, path: string, { method = 'GET', ...headers }: Record<string, string> = {}): Promise<Got> {
  return new Promise((resolve, reject) => {
    const wanted = { host: '127.0.0.1', port: ui.port, path, method, headers }
    const sent = httpRequest(wanted, (response) => {
      let body = ''
      response.setEncoding('latin1')
      response.on('data', (chunk: string) => (body += chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }))
    })
    sent.on('error', reject)
    sent.end()
  })
}
