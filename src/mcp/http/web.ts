/** Between Node's HTTP and the web's Request and Response, which the protocol handlers speak. */
import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Null when the body is larger than allowed. The request's signal fires when the client hangs
 * up before it was answered.
 */
export async function toRequest(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  maxBytes: number,
  own: Readonly<Record<string, string>>,
): Promise<Request | null> {
  const method = incoming.method ?? 'GET'
  const body = method === 'GET' || method === 'HEAD' ? undefined : await readBody(incoming, maxBytes)
  if (body === null) return null
  const gone = new AbortController()
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort()
  })
  const headers = new Headers()
  for (let at = 0; at < incoming.rawHeaders.length; at += 2)
    headers.append(incoming.rawHeaders[at]!, incoming.rawHeaders[at + 1]!)
  // What the door itself knows about the request, in place of headers of that name that the request carries.
  for (const [name, value] of Object.entries(own)) headers.set(name, value)
  // Host and Origin were checked before; the address only has to be one that parses.
  return new Request(new URL(incoming.url ?? '/', 'http://localhost'), {
    method,
    headers,
    signal: gone.signal,
    ...(body === undefined ? {} : { body }),
  })
}

async function readBody(incoming: IncomingMessage, maxBytes: number): Promise<Uint8Array<ArrayBuffer> | null> {
  if (Number(incoming.headers['content-length'] ?? 0) > maxBytes) return null
  const chunks: Buffer[] = []
  let total = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    total += chunk.length
    if (total > maxBytes) return null
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks))
}

/** Writes the response as fast as the client takes it; a stream of events is flushed piece by piece. */
export async function sendResponse(response: Response, outgoing: ServerResponse): Promise<void> {
  const headers: Record<string, string> = Object.fromEntries(response.headers)
  // Proxies that collect events until there are enough of them would hide the progress.
  if (headers['content-type']?.startsWith('text/event-stream')) headers['x-accel-buffering'] = 'no'
  outgoing.writeHead(response.status, headers)
  if (!response.body) {
    outgoing.end()
    return
  }
  outgoing.flushHeaders()
  const reader = response.body.getReader()
  const hangUp = (): void => void reader.cancel().catch(() => {})
  outgoing.once('close', hangUp)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done || outgoing.destroyed) break
      if (!outgoing.write(value))
        await new Promise<void>((resolve) => void outgoing.once('drain', resolve).once('close', resolve))
    }
  } finally {
    outgoing.off('close', hangUp)
    outgoing.end()
  }
}

export function refusal(status: number, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }, { status, headers })
}
