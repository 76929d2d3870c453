/** JSON lines over a unix socket in a private directory: both ends. A peer that does not read is never waited for. */
import { chmodSync, rmSync } from 'node:fs'
import { connect as connectTo, createServer, type Server, type Socket } from 'node:net'
import { attempt, parseRecord } from '../../contract/attempt.js'
import { judgePeer, uptime, type Peer } from './judge.js'

/**
 * sun_path holds 108 bytes including the final NUL, 104 on macOS and the BSDs. A longer path is cut there, or refused.
 */
export const LONGEST_SOCKET_PATH = process.platform === 'linux' ? 107 : 103
/** Its name in the folder of an engine. */
export const LIVE_SOCKET = 'live'
const LONGEST_LINE = 1024 * 1024
const MAX_PEERS = 64

export interface LinePeer {
  readonly who: Peer
  send(message: object): void
  /** Bytes that the peer has not taken yet. */
  readonly backlog: number
  close(): void
}

export interface LineHandler {
  message(value: Record<string, unknown>): void
  closed(): void
}

export interface LineServer {
  close(): void
}

/**
 * Null when the path is too long or cannot be listened on: then no page or terminal can look,
 * and commands run as before.
 */
export function listenLines(path: string, open: (peer: LinePeer) => LineHandler): Promise<LineServer | null> {
  if (Buffer.byteLength(path) > LONGEST_SOCKET_PATH) return Promise.resolve(null)
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    if (sockets.size >= MAX_PEERS) return void socket.destroy()
    sockets.add(socket)
    socket.unref()
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    void admit(socket, open)
  })
  return new Promise((resolve) => {
    server.once('error', () => resolve(null))
    server.listen(path, () => {
      // It may have been removed already.
      if (!attempt(() => chmodSync(path, 0o600) === undefined, false)) {
        server.close()
        return resolve(null)
      }
      server.unref()
      resolve({
        close() {
          server.close()
          for (const socket of sockets) socket.destroy()
          // Its folder may be gone, or something else by now.
          attempt(() => rmSync(path, { force: true }))
        },
      })
    })
  })
}

/** Nothing is read from and nothing sent to a peer before it has been judged. */
async function admit(socket: Socket, open: (peer: LinePeer) => LineHandler): Promise<void> {
  socket.pause()
  const who = await judgePeer(socket, uptime())
  if (socket.destroyed) return
  const send = (message: object): void => void (socket.writable && socket.write(`${JSON.stringify(message)}\n`))
  if (who.refused !== null) {
    send({ t: 'no', why: who.refused })
    return void socket.end()
  }
  const handler = open({
    who,
    send,
    get backlog() {
      return socket.writableLength
    },
    close: () => void socket.destroy(),
  })
  socket.once('close', () => handler.closed())
  onLines(socket, (value) => handler.message(value))
  socket.resume()
}

export interface LineClient {
  send(message: object): void
  close(): void
}

/** `closed` is called once, also when no engine listens there. */
export function connectLines(
  path: string,
  { message, closed, ref = true }: { message(value: Record<string, unknown>): void; closed(): void; ref?: boolean },
): LineClient {
  const socket = connectTo(path)
  if (!ref) socket.unref()
  socket.on('error', () => {})
  socket.once('close', closed)
  onLines(socket, message)
  return {
    send: (value) => void (socket.writable && socket.write(`${JSON.stringify(value)}\n`)),
    close: () => void socket.destroy(),
  }
}

/** A line that is no JSON object, or has no end, closes the connection: nothing that a peer sends can do more. */
function onLines(socket: Socket, handle: (value: Record<string, unknown>) => void): void {
  let parts: string[] = []
  let length = 0
  socket.setEncoding('utf8')
  socket.on('data', (text: string) => {
    let from = 0
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
      parts.push(text.slice(from, at))
      from = at + 1
      const value = parseRecord(parts.join(''))
      parts = []
      length = 0
      if (!value) return void socket.destroy()
      handle(value)
      if (socket.destroyed) return
    }
    if (from < text.length) parts.push(text.slice(from))
    length += text.length - from
    if (length > LONGEST_LINE) socket.destroy()
  })
}
