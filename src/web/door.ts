/** The door of the page: node:http and a WebSocket on loopback. Who may knock is decided by Host, Origin, process and key, in this order. */
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { WebSocketServer, type WebSocket } from 'ws'
import { isAgentsConnection } from '../os/helper/tcp-peer.js'
import { loadAssets, type Asset } from './assets.js'
import { MAX_PAGES, type Desk } from './desk.js'

const KEY_WITHIN_MS = 3_000
/** Before the key: nothing larger than a key. */
const MAX_FIRST_MESSAGE = 1_024
const MAX_MESSAGE = 64 * 1024
const MAX_STRANGERS = 64

export interface OpenDoor {
  readonly port: number
  close(): Promise<void>
}

export async function openDoor({
  ui,
  port,
  host,
  name,
}: {
  ui: Desk
  port: number
  host: string
  name: string
}): Promise<OpenDoor> {
  const assets = loadAssets()
  const http = createServer({ requestTimeout: 30_000, headersTimeout: 10_000 }, (request, response) => {
    serve(request, response, { ui, assets, allowed }).catch(() => response.destroy())
  })
  const allowed = (given: string | undefined): boolean => {
    const at = (http.address() as AddressInfo | null)?.port
    return given !== undefined && [`127.0.0.1:${at}`, `localhost:${at}`, `${name}:${at}`].includes(given)
  }
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE, perMessageDeflate: false })
  let strangers = 0
  http.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => {})
    const origin = originOf(request)
    const isOurs = allowed(request.headers.host) && origin === request.headers.host && request.url === '/live'
    if (!isOurs || isAgentsConnection(socket)) return turnAway(socket, '403 Forbidden')
    if (strangers >= MAX_STRANGERS || ui.pages >= MAX_PAGES) return turnAway(socket, '503 Service Unavailable')
    strangers += 1
    sockets.handleUpgrade(request, socket, head, (page) => {
      void meet(page, ui).finally(() => (strangers -= 1))
    })
  })
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject)
    http.listen(port, host, resolve)
  })
  return {
    port: (http.address() as AddressInfo).port,
    async close() {
      for (const page of sockets.clients) page.terminate()
      const closed = new Promise((resolve) => http.close(resolve))
      http.closeAllConnections()
      await closed
    },
  }
}

/** Resolves when it is known who it is, or that it is a stranger. Nothing is said before. */
function meet(socket: WebSocket, ui: Desk): Promise<void> {
  return new Promise((resolve) => {
    let page: ReturnType<Desk['admit']> | null = null
    const timer = setTimeout(() => socket.close(4401, 'no key'), KEY_WITHIN_MS)
    const refuse = (code: number, why: string): void => socket.close(code, why)
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(timer)
      resolve()
    })
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary || (!page && data.length > MAX_FIRST_MESSAGE)) return refuse(4400, 'not understood')
      const message = parse(data)
      if (!message) return refuse(4400, 'not understood')
      if (page) return void page.message(message)
      if (message['do'] !== 'key') return refuse(4401, 'no key')
      const entry = ui.keys.enter(message['key'])
      if (entry.kind === 'used') {
        ui.warn(
          'A link was used a second time: all keys have been ended. If that was not you, an agent has seen your screen or history.',
        )
        return refuse(4403, 'this link was used before')
      }
      if (entry.kind !== 'in')
        return refuse(entry.kind === 'slow down' ? 4429 : 4401, entry.kind === 'no' ? 'no key' : entry.kind)
      clearTimeout(timer)
      page = ui.admit(socket, entry.session, entry.key)
      resolve()
    })
  })
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  {
    ui,
    assets,
    allowed,
  }: { ui: Desk; assets: ReadonlyMap<string, Asset>; allowed: (host: string | undefined) => boolean },
): Promise<void> {
  const no = (code: number): void => {
    response.writeHead(code, { 'content-length': 0, connection: 'close' })
    response.end()
  }
  if (!allowed(request.headers.host)) return no(403)
  if (request.method !== 'GET') return no(405)
  // A worker would outlive the page and see every later one.
  if (request.headers['service-worker'] !== undefined || request.headers['sec-fetch-dest'] === 'serviceworker')
    return no(403)
  const path = (request.url ?? '/').split('?')[0] ?? '/'
  const output = /^\/output\/([\w-]{1,80})$/.exec(path)?.[1]
  if (output) return sendOutput(output, request, response, ui, no)
  const asset = assets.get(path)
  if (!asset) return no(404)
  if (asset.type === 'text/html') return sendPage(asset, response)
  const head = {
    ...COMMON,
    'content-type': `${asset.type}; charset=utf-8`,
    'cache-control': 'no-cache',
    etag: asset.etag,
  }
  if (request.headers['if-none-match'] === asset.etag) {
    response.writeHead(304, head)
    response.end()
    return
  }
  response.writeHead(200, { ...head, 'content-encoding': 'gzip', 'content-length': asset.gzipped.length })
  response.end(asset.gzipped)
}

const COMMON = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** Only what this server sends may run; nothing may be framed, posted or loaded from elsewhere. xterm.js makes styles: they carry the nonce. */
function sendPage(asset: Asset, response: ServerResponse): void {
  const nonce = randomBytes(16).toString('base64')
  const body = Buffer.from(asset.body.toString('utf8').replace('%NONCE%', nonce))
  const policy = [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'self' 'nonce-${nonce}'`,
    `img-src 'self' data:`,
    `connect-src 'self'`,
    `worker-src 'none'`,
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
    `require-trusted-types-for 'script'`,
    `trusted-types 'none'`,
  ]
  response.writeHead(200, {
    ...COMMON,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.join('; '),
    'permissions-policy': 'camera=(), microphone=(), geolocation=(), clipboard-read=()',
    'x-frame-options': 'DENY',
    'cache-control': 'no-store',
    'content-length': body.length,
  })
  response.end(body)
}

/** The whole output of a job as a file, for a page that shows its key. */
async function sendOutput(
  id: string,
  request: IncomingMessage,
  response: ServerResponse,
  ui: Desk,
  no: (code: number) => void,
): Promise<void> {
  const entry = ui.keys.enter(/^Bearer ([\w-]+)$/.exec(request.headers.authorization ?? '')?.[1])
  if (entry.kind !== 'in') return no(401)
  const job = await ui.engine.job(id).catch(() => null)
  if (!job) return no(404)
  response.writeHead(200, {
    ...COMMON,
    'content-type': 'text/plain; charset=utf-8',
    'content-disposition': `attachment; filename="${id}.log"`,
    'cache-control': 'no-store',
  })
  for (let since = 0; !response.destroyed;) {
    const { text, cursor, totalBytes } = await job.read({ since, maxBytes: 1024 * 1024 })
    if (!response.write(text)) await new Promise((resolve) => response.once('drain', resolve).once('close', resolve))
    if (cursor >= totalBytes || cursor === since) break
    since = cursor
  }
  response.end()
}

function originOf(request: IncomingMessage): string | null {
  try {
    const { protocol, host } = new URL(request.headers.origin ?? '')
    return protocol === 'http:' ? host : null
  } catch {
    return null
  }
}

function turnAway(socket: Socket, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
  socket.destroySoon()
}

function parse(data: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(data.toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}
