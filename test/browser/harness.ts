/**
 * A browser, `cerith ui` as a process of its own, and engines of "agents" beside them: the person's side as it is in
 * life.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type Page } from 'playwright-core'
import { openAuditLog } from '../../src/audit/log.js'
import { createEngine, type Engine, type EngineOptions } from '../../src/index.js'

/** `npm run test:browser -- --smoke`: what a landing waits for. */
export const isSmoke = process.env['CERITH_SMOKE'] === '1'
export const root = fileURLToPath(new URL('../../', import.meta.url))
export const ASKING = {
  rules: [{ name: 'ask-deploy', decision: 'ask', commands: ['npm publish*', 'touch *'] }],
} as const

const worlds = new Set<World>()

export class World {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), 'cerith-ui-')))
  readonly home = join(this.base, 'state')
  readonly dir: string
  readonly #engines: Engine[] = []
  readonly #uis: ChildProcess[] = []
  browser!: Browser
  said = ''

  /** `name`: of the directory that the agents work in, as pictures show it. */
  constructor(name = 'cerith-app') {
    this.dir = realpathSync(mkdtempSync(`/tmp/${name}-`))
    worlds.add(this)
  }

  async open(): Promise<void> {
    this.browser = await chromium.launch({
      executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
      args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
    })
  }

  /** Another process's engine, as far as the page can tell: it only speaks over its socket and its files. */
  async agent(options: EngineOptions = {}): Promise<Engine> {
    const audit = openAuditLog({ file: join(this.home, 'audit.jsonl') })
    const engine = await createEngine({ stateDir: this.home, cwd: this.dir, door: 'mcp', audit, ...options })
    this.#engines.push(engine)
    return engine
  }

  /** Starts `cerith ui` and gives its link. */
  async ui(...words: string[]): Promise<{ link: string; child: ChildProcess; origin: string; near: string }> {
    const child = spawn(process.execPath, [join(root, 'dist/cli.cjs'), 'ui', '--no-open', ...words], {
      env: { ...process.env, CERITH_HOME: this.home },
      cwd: this.dir,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#uis.push(child)
    child.stderr?.on('data', (chunk: Buffer) => (this.said += String(chunk)))
    const link = await firstLine(child)
    const { origin, port } = new URL(link)
    // Names under localhost are the browser's: the resolver of this machine may not know them.
    return { link, child, origin, near: `http://127.0.0.1:${port}` }
  }

  /** A page of a person of its own, with everything that went wrong in it. */
  async page(
    link: string,
    options: { width?: number; height?: number; dark?: boolean } = {},
  ): Promise<Page & { wrong: string[] }> {
    const context = await this.browser.newContext({
      viewport: { width: options.width ?? 1280, height: options.height ?? 800 },
      colorScheme: options.dark ? 'dark' : 'light',
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    // Only what hangs for ever runs into this.
    context.setDefaultTimeout(80_000)
    const page = (await context.newPage()) as Page & { wrong: string[]; heard: string[] }
    page.wrong = []
    // What went over its connection, for who looks into a failure.
    page.heard = []
    const note = (arrow: string, data: string | Buffer): number =>
      page.heard.push(`${arrow} ${String(data).slice(0, 200)}`)
    page.on('websocket', (socket) => {
      socket.on('framesent', ({ payload }) => note('>', payload))
      socket.on('framereceived', ({ payload }) => note('<', payload))
    })
    page.on('pageerror', (error) => page.wrong.push(String(error)))
    page.on('console', (message) => {
      if (message.type() === 'error' || /Content Security Policy|Trusted/.test(message.text()))
        page.wrong.push(message.text())
    })
    await page.goto(link)
    return page
  }

  /** After each test: the pages and servers of earlier tests would take the time of later ones. */
  async rest(): Promise<void> {
    await Promise.all(this.browser.contexts().map((context) => context.close()))
    await Promise.all(this.#uis.splice(0).map(ended))
  }

  async close(): Promise<void> {
    await this.rest()
    await this.browser.close()
    await Promise.all(this.#engines.map((engine) => engine.close()))
    for (const each of [this.base, this.dir]) rmSync(each, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await gone
}

/** Of what a process prints; fails when it ends before. */
export function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.stdout?.once('data', (chunk: Buffer) => resolve(String(chunk).trim()))
    child.once('exit', (code) => reject(new Error(`it ended with ${code}`)))
    child.once('error', reject)
  })
}

/** Violations of the rules for accessible pages, as `rule (count)`. */
export async function violations(page: Page): Promise<string[]> {
  const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(readFileSync(axe, 'utf8'))
  return page.evaluate(async () => {
    const run = (
      globalThis as unknown as {
        axe: { run(on: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> }
      }
    ).axe.run
    const { violations: found } = await run({ exclude: [['.xterm'], ['.uplot']] })
    return found.map(({ id, nodes }) => `${id} (${nodes.length}): ${nodes[0]?.html.slice(0, 120)}`)
  })
}

export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const began = performance.now()
  while (!(await condition())) {
    if (performance.now() - began > 40_000)
      throw new Error(`${what} did not come true within 40 s${await leavePictures()}`)
    await new Promise((resolve) => setTimeout(resolve, 30))
  }
}

/** Of every page that is open, when a wait was in vain. */
async function leavePictures(): Promise<string> {
  const pages = [...worlds].flatMap((world) => world.browser.contexts().flatMap((context) => context.pages()))
  const taken = pages.map(async (page, at) => {
    const path = join(root, `test/browser/shots/failed-${at}.png`)
    await page.screenshot({ path, timeout: 10_000 })
    const log = (page as Page & { heard?: string[] }).heard?.slice(-12).join('\n  ') ?? ''
    return `\n${path}\n  ${log}`
  })
  return (await Promise.all(taken)).join('')
}

export const rows = (page: Page): Promise<string> => page.locator('.xterm-rows').innerText()

/** A picture in a format that is small, made by the browser itself. */
export async function asWebp(browser: Browser, png: Buffer): Promise<Buffer> {
  const page = await browser.newPage()
  const data = await page.evaluate(async (base64) => {
    const image = new Image()
    image.src = `data:image/png;base64,${base64}`
    await image.decode()
    const canvas = document.createElement('canvas')
    canvas.width = image.width
    canvas.height = image.height
    canvas.getContext('2d')!.drawImage(image, 0, 0)
    const made = [0.86, 0.75, 0.6, 0.4].map((quality) => canvas.toDataURL('image/webp', quality))
    return made.find(({ length }) => length * 0.75 < 58_000) ?? made.at(-1)!
  }, png.toString('base64'))
  await page.close()
  return Buffer.from(data.slice(data.indexOf(',') + 1), 'base64')
}
