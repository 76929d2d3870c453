/**
 * The door in front of the protocol over HTTP: a request needs a known Host and Origin, then a token, and its body
 * is bounded.
 */
import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from 'node:http'
import {
  createMcpHandler,
  isLegacyRequest,
  localhostAllowedHostnames,
  validateHostHeader,
  validateOriginHeader,
  type McpHttpHandler,
} from '@modelcontextprotocol/server'
import { messageOf } from '../../contract/errors.js'
import type { Client } from '../call/client.js'
import { createLegacySessions, type LegacySessions, type MakeServer } from './legacy-sessions.js'
import { leaveOf, serverFor } from '../server/server.js'
import { isPeerThere, PEER_HEADER, peerOf, SESSION_HEADER } from '../call/peers.js'
import { clientOf } from './tokens.js'
import { followUpdates } from '../server/updates.js'
import { refusal, sendResponse, toRequest } from './web.js'

export const PATH = '/mcp'
const LOOK_EVERY_MS = 5_000

export interface DoorOptions {
  /** Names by which this machine may be called, besides localhost. */
  readonly hostnames: readonly string[]
  readonly maxBodyBytes: number
  readonly tokens: ReadonlyMap<string, string>
  /** Called once for each name. */
  clientNamed(name: string): Client
  readonly log: (line: string) => void
  /** For tests that need other servers behind the same door. */
  readonly make?: MakeServer
}

export interface Door {
  readonly http: HttpServer
  /** Ends what is being answered, then the door itself. */
  close(): Promise<void>
}

/** What one client talks to. Each has its own, so that news about one's shells never reach another. */
interface Room {
  readonly modern: McpHttpHandler
  readonly legacy: LegacySessions
  close(): Promise<void>
}

export function createDoor(options: DoorOptions): Door {
  const rooms = new Map<string, Room>()
  const roomOf = (name: string): Room => {
    const room = rooms.get(name) ?? openRoom(options.clientNamed(name), options)
    rooms.set(name, room)
    return room
  }
  const http = createServer((incoming, outgoing) => {
    answer(incoming, outgoing, options, roomOf).catch((error: unknown) => {
      options.log(`cerith: ${messageOf(error)}`)
      if (!outgoing.headersSent) outgoing.writeHead(500)
      outgoing.end()
    })
  })
  return {
    http,
    async close() {
      const closed = new Promise((resolve) => http.close(resolve))
      await Promise.all([...rooms.values()].map((room) => room.close()))
      http.closeIdleConnections()
      const timer = setTimeout(() => http.closeAllConnections(), 250)
      await closed
      clearTimeout(timer)
    },
  }
}

function openRoom(client: Client, options: DoorOptions): Room {
  const make = options.make ?? serverFor
  const modern = createMcpHandler(() => make(client, { era: 'modern', lasting: false }), {
    legacy: 'reject',
    maxRequestBodySize: options.maxBodyBytes,
    onerror: (error) => options.log(`cerith: ${error.message}`),
  })
  const legacy = createLegacySessions(client, options.maxBodyBytes, make)
  const stop = followUpdates(
    client.engine,
    { updated: (uri) => modern.notify.resourceUpdated(uri), listChanged: () => modern.notify.resourcesChanged() },
    client.settings.updateEveryMs,
  )
  // Nothing says that a 2026 client has left: its process is looked at.
  const looking = setInterval(() => {
    for (const connection of client.connections) if (isGone(connection)) leaveOf(client, connection)
  }, LOOK_EVERY_MS).unref()
  return {
    modern,
    legacy,
    async close() {
      stop()
      clearInterval(looking)
      await Promise.all([modern.close(), legacy.close()])
    },
  }
}

/** Connections of 2025 are named by an id and end by themselves. */
function isGone(connection: string): boolean {
  if (!connection.startsWith('[')) return false
  const [peer] = JSON.parse(connection) as [string]
  return !isPeerThere(peer)
}

async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  options: DoorOptions,
  roomOf: (name: string) => Room,
): Promise<void> {
  const turnDown = (response: Response): Promise<void> => {
    // What it still sends is not read: the connection ends with the answer.
    outgoing.shouldKeepAlive = false
    return sendResponse(response, outgoing)
  }
  const stopped = turnAway(incoming, options)
  if (stopped) return turnDown(stopped)
  const name = clientOf(incoming.headers.authorization, options.tokens)
  if (name === null) {
    const challenge = { 'www-authenticate': 'Bearer realm="cerith"' }
    const words = 'A bearer token is needed. It is in the token file that `cerith serve` names.'
    return turnDown(refusal(401, words, challenge))
  }
  const named = new URL(incoming.url ?? '/', 'http://localhost').searchParams.get('session') ?? ''
  const request = await toRequest(incoming, outgoing, options.maxBodyBytes, {
    [PEER_HEADER]: peerOf(incoming),
    [SESSION_HEADER]: named.replaceAll(/[^\w.:@-]/g, '_'),
  })
  if (!request) return turnDown(refusal(413, `The body is larger than ${options.maxBodyBytes} bytes`))
  await sendResponse(await route(request, roomOf(name)), outgoing)
}

/** Everything that can be answered before the token is looked at. */
function turnAway(incoming: IncomingMessage, { hostnames }: DoorOptions): Response | null {
  const local = [...localhostAllowedHostnames(), ...hostnames]
  // A page of another site may reach this port through a name that resolves here; its Host or Origin gives it away.
  if (!validateHostHeader(incoming.headers.host, local).ok) return refusal(403, 'Host not allowed')
  if (!validateOriginHeader(incoming.headers.origin, local).ok) return refusal(403, 'Origin not allowed')
  const path = (incoming.url ?? '/').split('?')[0]
  if (path !== PATH) return refusal(404, `Nothing here; the endpoint is ${PATH}`)
  if (!['POST', 'GET', 'DELETE'].includes(incoming.method ?? ''))
    return refusal(405, 'Method not allowed', { allow: 'POST, GET, DELETE' })
  return null
}

async function route(request: Request, room: Room): Promise<Response> {
  const read = request.method === 'POST' ? request.clone().json() : undefined
  const body: unknown = await read?.catch(() => INVALID)
  if (body === INVALID) return room.modern.fetch(request)
  const legacy = await isLegacyRequest(request, body)
  return legacy ? room.legacy.fetch(request, body) : room.modern.fetch(request, { parsedBody: body })
}

const INVALID = Symbol('not JSON')
