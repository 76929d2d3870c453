/**
 * One JSON message per line, read leniently: what some clients write a little wrong is put
 * right, and what cannot be answered gets an error.
 */
import type { Readable, Writable } from 'node:stream'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server'
import { isRecord } from '../../contract/attempt.js'

/** A command may be 16 MiB long, and JSON makes at most two bytes of most of its characters. */
const MAX_LINE_BYTES = 40 * 1_048_576
const NEWLINE = 10

export class LineTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void
  onerror?: (error: Error) => void
  onclose?: () => void
  /** The input has ended: what is waited for before the connection closes. A client may have asked and read on. */
  onend?: () => Promise<unknown>
  #pieces: Buffer[] = []
  #length = 0
  #closed = false
  /** Requests without an answer. */
  readonly #open = new Set<string | number>()
  #answered: (() => void) | null = null

  constructor(
    readonly input: Readable,
    readonly output: Writable,
  ) {}

  async start(): Promise<void> {
    this.input.on('data', this.#read)
    this.input.once('end', this.#end)
    this.input.once('close', this.#end)
    this.input.on('error', this.#fail)
    this.output.on('error', this.#fail)
    // Over before it began: nothing would say so any more.
    if (this.input.readableEnded || this.input.destroyed) setImmediate(this.#end)
  }

  /** Resolves when every request that came has its answer, and the client has taken it. */
  answered(): Promise<void> {
    return this.#open.size === 0 ? Promise.resolve() : new Promise((resolve) => (this.#answered = resolve))
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#write(message)
    if (!('method' in message) && message.id !== undefined) this.#settle(message.id)
  }

  #settle(id: unknown): void {
    if (this.#open.delete(id as string | number) && this.#open.size === 0) this.#answered?.()
  }

  #write(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) return Promise.reject(new Error('The connection is closed'))
    if (this.output.write(`${JSON.stringify(message)}\n`)) return Promise.resolve()
    return new Promise((resolve) => {
      const done = (): void => {
        this.output.off('drain', done).off('close', done)
        resolve()
      }
      this.output.once('drain', done).once('close', done)
    })
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.input.off('data', this.#read).off('end', this.#end).off('close', this.#end)
    this.input.pause()
    this.#pieces = []
    this.onclose?.()
  }

  readonly #end = (): void => {
    this.input.off('end', this.#end).off('close', this.#end)
    void (this.onend?.() ?? Promise.resolve()).then(() => this.close())
  }

  readonly #fail = (error: Error): void => {
    if (this.#closed) return
    this.onerror?.(error)
    void this.close()
  }

  readonly #read = (chunk: Buffer): void => {
    let from = 0
    for (let at = chunk.indexOf(NEWLINE); at !== -1 && !this.#closed; at = chunk.indexOf(NEWLINE, from)) {
      const start = from
      from = at + 1
      this.#take(
        this.#pieces.length === 0 ? chunk.toString('utf8', start, at) : this.#lineWith(chunk.subarray(start, at)),
      )
    }
    if (this.#closed || from === chunk.length) return
    this.#pieces.push(chunk.subarray(from))
    this.#length += chunk.length - from
    if (this.#length > MAX_LINE_BYTES)
      this.#fail(new Error(`A message of more than ${MAX_LINE_BYTES} bytes cannot be meant`))
  }

  #lineWith(end: Buffer): string {
    const line = Buffer.concat([...this.#pieces, end])
    this.#pieces = []
    this.#length = 0
    return line.toString('utf8')
  }

  #take(line: string): void {
    let value: unknown
    try {
      value = JSON.parse(line)
    } catch {
      if (line.trim() === '') return
      this.onerror?.(new Error(`Not JSON: ${line.slice(0, 200)}`))
      return
    }
    // Clients of 2025-03-26 may send several at once.
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) this.#deliver(one)
  }

  #deliver(value: unknown): void {
    const { message, problem } = mended(value)
    if (message) {
      const { id, method, params } = message as {
        id?: string | number
        method?: string
        params?: { requestId?: unknown }
      }
      if (method !== undefined && id !== undefined) this.#open.add(id)
      // A request that was taken back gets no answer.
      if (method === 'notifications/cancelled') this.#settle(params?.requestId)
      try {
        this.onmessage?.(message)
      } catch (error) {
        this.onerror?.(error as Error)
      }
      return
    }
    this.onerror?.(new Error(`Not a message: ${problem}`))
    const { id, method } = isRecord(value) ? value : {}
    if (typeof method === 'string' && isId(id))
      void this.send({ jsonrpc: '2.0', id, error: { code: -32_600, message: `Invalid request: ${problem}` } })
  }
}

/** The message as the protocol wants it, or what is wrong with it. */
export function mended(
  value: unknown,
): { message: JSONRPCMessage; problem?: never } | { message?: never; problem: string } {
  if (!isRecord(value)) return { problem: 'a message is an object' }
  const { jsonrpc, method, id, params } = value
  if (jsonrpc !== '2.0') return { problem: 'jsonrpc must be "2.0"' }
  if (typeof method !== 'string' && !('result' in value) && !('error' in value))
    return { problem: 'there is no method' }
  if (id !== undefined && !isId(id)) return { problem: 'id must be a string or a number' }
  if (params === undefined) return { message: value as unknown as JSONRPCMessage }
  // Several languages write an absent value as null.
  if (params === null) return { message: without(value, 'params') as unknown as JSONRPCMessage }
  if (!isRecord(params)) return { problem: 'params must be an object' }
  const right = withMeta(params)
  return { message: (right === params ? value : { ...value, params: right }) as unknown as JSONRPCMessage }
}

function withMeta(params: Record<string, unknown>): Record<string, unknown> {
  const { _meta: meta } = params
  if (meta === undefined) return params
  if (!isRecord(meta)) return without(params, '_meta')
  const { progressToken } = meta
  return progressToken === undefined || isId(progressToken)
    ? params
    : { ...params, _meta: without(meta, 'progressToken') }
}

function without(value: Record<string, unknown>, name: string): Record<string, unknown> {
  const { [name]: _, ...rest } = value
  return rest
}

export function isId(value: unknown): value is string | number {
  return typeof value === 'string' || (typeof value === 'number' && Number.isSafeInteger(value))
}
