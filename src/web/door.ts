/**
 * The door of the page: node:http and a WebSocket on loopback. Host, Origin, process and key of a connection are
 * checked, in this order.
 */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { WebSocketServer, type WebSocket } from 'ws'
import { isAgentsConnection } from '../os/peer/tcp.js'
import { loadAssets } from './assets.js'
import type { Page } from './page.js'
import { serve } from './served.js'
import type { Ui } from './ui.js'
import { attempt, parseRecord } from '../contract/attempt.js'

const KEY_WITHIN_MS = 3_000
/** Before the key: nothing larger than a key. */
const MAX_FIRST_MESSAGE = 1_024
const MAX_MESSAGE = 64 * 1024
const MAX_STRANGERS = 64
const MAX_PAGES = 32

export interface OpenDoor {
  readonly port: number
  close(): Promise<void>
}

export async function openDoor({
  ui,
  port,
  host,
  names,
}: {
  ui: Ui
  port: number
  host: string
  /** What may stand before the port in Host and Origin. */
  names: readonly string[]
}): Promise<OpenDoor> {
  const assets = loadAssets()
  const http = createServer({ requestTimeout: 30_000, headersTimeout: 10_000 }, (request, response) => {
    serve(request, response, { ui, assets, allowed }).catch(() => response.destroy())
  })
  const allowed = (given: string | undefined): boolean => {
    const at = (http.address() as AddressInfo | null)?.port
    return given !== undefined && names.some((name) => given === `${name}:${at}`)
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

/** Resolves when the peer has been judged; nothing is sent to it before. */
function meet(socket: WebSocket, ui: Ui): Promise<void> {
  return new Promise((resolve) => {
    let page: Page | null = null
    const timer = setTimeout(() => socket.close(4401, 'no key'), KEY_WITHIN_MS)
    const refuse = (code: number, why: string): void => socket.close(code, why)
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(timer)
      resolve()
    })
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary || (!page && data.length > MAX_FIRST_MESSAGE)) return refuse(4400, 'not understood')
      const message = parseRecord(data.toString('utf8'))
      if (!message) return refuse(4400, 'not understood')
      if (page) return void page.message(message)
      if (message['do'] !== 'key') return refuse(4401, 'no key')
      const entry = ui.keys.enter(message['key'])
      if (entry.kind === 'used') {
        ui.warn(
          'A link was used a second time: all keys have been ended. If that was not you, an agent has seen ' +
            'your screen or history.',
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

function originOf(request: IncomingMessage): string | null {
  const url = attempt(() => new URL(request.headers.origin ?? ''))
  return url?.protocol === 'http:' ? url.host : null
}

function turnAway(socket: Socket, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
  socket.destroySoon()
}
