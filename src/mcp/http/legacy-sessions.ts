/** 2025 clients over HTTP: a session each, so that they can be asked, can cancel, and can be told about changes. */
import { randomUUID } from 'node:crypto'
import {
  legacyStatelessFallback,
  WebStandardStreamableHTTPServerTransport,
  type Server,
} from '@modelcontextprotocol/server'
import type { Client } from '../call/client.js'
import { onClose, type Connection } from '../server/server.js'
import { refusal } from './web.js'

const MAX_SESSIONS = 256
const IDLE_MS = 60 * 60_000

interface Held {
  readonly transport: WebStandardStreamableHTTPServerTransport
  readonly server: Server
  usedAt: number
}

export interface LegacySessions {
  fetch(request: Request, body: unknown): Promise<Response>
  close(): Promise<void>
}

export type MakeServer = (client: Client, connection: Connection) => Server

export function createLegacySessions(client: Client, maxBodyBytes: number, make: MakeServer): LegacySessions {
  const held = new Map<string, Held>()
  // Some clients never say hello and only call; those are served one request at a time.
  const withoutSession = legacyStatelessFallback(() => make(client, { era: 'legacy', lasting: false }), undefined, {
    maxRequestBodySize: maxBodyBytes,
  })

  async function begin(): Promise<Held> {
    const id = randomUUID()
    const server = make(client, { era: 'legacy', lasting: true, id })
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      maxRequestBodySize: maxBodyBytes,
      onsessioninitialized: () => void held.set(id, session),
      onsessionclosed: () => void held.delete(id),
    })
    const session: Held = { server, transport, usedAt: performance.now() }
    await server.connect(transport)
    onClose(transport, () => held.delete(id))
    return session
  }

  /** A client whose session was given away gets "not found" and says hello again. */
  function makeRoom(): void {
    const now = performance.now()
    for (const [id, session] of held) if (now - session.usedAt > IDLE_MS) drop(id, session)
    if (held.size < MAX_SESSIONS) return
    const [oldest] = [...held].sort(([, a], [, b]) => a.usedAt - b.usedAt)
    if (oldest) drop(...oldest)
  }

  function drop(id: string, session: Held): void {
    held.delete(id)
    void session.server.close().catch(() => {})
  }

  return {
    async fetch(request, body) {
      const id = request.headers.get('mcp-session-id')
      const hello = !Array.isArray(body) && (body as { method?: unknown } | undefined)?.method === 'initialize'
      if (id === null && !hello)
        return request.method === 'POST'
          ? withoutSession(request, { parsedBody: body })
          : refusal(405, 'Begin with initialize', { allow: 'POST' })
      if (id === null) makeRoom()
      const session = id === null ? await begin() : held.get(id)
      if (!session) return refusal(404, 'Session not found')
      session.usedAt = performance.now()
      return session.transport.handleRequest(request, { parsedBody: body })
    },
    async close() {
      await Promise.all([...held.values()].map(({ server }) => server.close().catch(() => {})))
      held.clear()
    },
  }
}
