/** The protocol server of one connection (or, over HTTP, of one request): tools, resources, instructions. */
import { randomInt } from 'node:crypto'
import type { Server, Transport } from '@modelcontextprotocol/server'
import type { Engine } from '../../contract/engine.js'
import type { JobInfo } from '../../contract/job.js'
import { CONNECTION_LABEL } from '../../tools/reading/owners.js'
import { callTool, clientInfo, type CallSite } from '../call/call.js'
import { createClient, type Client } from '../call/client.js'
import { CAPABILITIES } from '../setup/identity.js'
import { settingsOf, type McpOptions } from '../setup/options.js'
import { hostOf } from '../setup/hosts.js'
import { endOrphansLater } from './orphans.js'
import { parse, serveResources } from './resources.js'
import { DefaultJsonSchemaValidator } from './sdk-shims.js'
import { ToolServer } from './short-way.js'
import { followUpdates } from './updates.js'
import { wakeFor, type Waker } from './wake.js'

export interface Connection {
  readonly era: 'legacy' | 'modern'
  /** True when the server outlives a request, so that it can tell about changes by itself. */
  readonly lasting: boolean
  /**
   * Tells connections of one client apart; each has a session of its own. Absent: there is only
   * one, or the request itself must tell.
   */
  readonly id?: string
}

/** For embedding: a server over an engine of your own, to be connected to any transport of the SDK. */
export function createMcpServer(engine: Engine, options: McpOptions = {}): Server {
  return serverFor(createClient(engine, settingsOf(options)), { era: 'legacy', lasting: true })
}

export function serverFor(client: Client, connection: Connection): Server {
  const { era, lasting } = connection
  const server = new ToolServer({
    capabilities: CAPABILITIES,
    instructions: client.instructions,
    // Answers to our one form are checked where they are used; the SDK's validator costs more
    // than all the rest of a request.
    jsonSchemaValidator: new DefaultJsonSchemaValidator(),
  })
  hideNumbers(server)
  // 2026 has no messages that a client did not ask for; there a resource that it listens to changes.
  const waker = lasting && era === 'legacy' ? wakeUp(server, client, connection.id) : null
  const site: CallSite = { client, server, era, connection: connection.id ?? null, later: waker?.later }
  server.setRequestHandler('tools/list', (_, context) => ({
    tools: [...client.listed(hostOf(clientInfo(site, context)))],
  }))
  // Only a 2026 call may be answered with a question, which the SDK checks.
  server.serveCalls((params, context) => callTool(site, params, context), { direct: era === 'legacy' })
  serveResources(server, client)
  const subscribed = new Set<string>()
  if (era === 'legacy') serveSubscriptions(server, subscribed)
  if (lasting) tellUpdates(server, client, (uri) => era === 'modern' || subscribed.has(uri))
  const { id } = connection
  if (id !== undefined) onClose(server, () => leaveOf(client, id))
  server.onerror = (error) => client.settings.log(`cerith: ${error.message}`)
  return server
}

/**
 * An answer belongs to a question by its number alone. A command of this server can write into the server's input
 * (`/proc/PID/fd/0`), so the SDK does not get to count from 0.
 */
function hideNumbers(server: Server): void {
  Object.defineProperty(server, '_requestMessageId', { get: () => randomInt(2 ** 48 - 1), set: () => {} })
}

/** A connection is gone: so is its session, and in a while what it left running. */
export function leaveOf(client: Client, connection: string): void {
  void client.forget(connection).catch(() => {})
  endOrphansLater(client.engine, connection, client.settings)
}

/** 2025 clients subscribe by request; 2026 clients hold a stream open, which the SDK looks after. */
function serveSubscriptions(server: Server, subscribed: Set<string>): void {
  server.setRequestHandler('resources/subscribe', ({ params }) => {
    parse(params.uri)
    if (subscribed.size < MAX_SUBSCRIPTIONS) subscribed.add(params.uri)
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    subscribed.delete(params.uri)
    return {}
  })
}

const MAX_SUBSCRIPTIONS = 1_024

function wakeUp(server: Server, client: Client, connection: string | undefined): Waker {
  const isMine = ({ labels }: JobInfo): boolean => connection === undefined || labels[CONNECTION_LABEL] === connection
  const waker = wakeFor(client.engine, isMine, (level, data) => {
    if (server.transport) void server.sendLoggingMessage({ level, logger: 'cerith', data }).catch(() => {})
  })
  onClose(server, () => waker.stop())
  return waker
}

/** Acts before what the SDK has put there to be done at the close. */
export function onClose(closing: Pick<Transport, 'onclose'>, act: () => void): void {
  const before = closing.onclose
  closing.onclose = () => {
    act()
    before?.()
  }
}

function tellUpdates(server: Server, client: Client, wanted: (uri: string) => boolean): void {
  const quietly = (sent: Promise<void>): void => void sent.catch(() => {})
  const stop = followUpdates(
    client.engine,
    {
      updated: (uri) => {
        if (server.transport && wanted(uri)) quietly(server.sendResourceUpdated({ uri }))
      },
      listChanged: () => {
        if (server.transport) quietly(server.sendResourceListChanged())
      },
    },
    client.settings.updateEveryMs,
  )
  onClose(server, stop)
}
