/** One JSON message per line, read leniently: what some clients write a little wrong is put right, and what cannot be answered is told to whoever asked. */
import type { Readable, Writable } from 'node:stream'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server'

/** A command may be 16 MiB long, and JSON makes at most two bytes of most of its characters. */
const MAX_LINE_BYTES = 40 * 1_048_576
const NEWLINE = 10

export class LineTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void
  onerror?: (error: Error) => void
  onclose?: () => void
  #pieces: Buffer[] = []
  #length = 0
  #closed = false

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

  send(message: JSONRPCMessage): Promise<void> {
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

  readonly #end = (): void => void this.close()

  readonly #fail = (error: Error): void => {
    if (this.#closed) return
    this.onerror?.(error)
    void this.close()
  }

  readonly #read = (chunk: Buffer): void => {
    let from = 0
    for (let at = chunk.indexOf(NEWLINE); at !== -1 && !this.#closed; at = chunk.indexOf(NEWLINE, from)) {
      this.#pieces.push(chunk.subarray(from, at))
      const line = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces)
      this.#pieces = []
      this.#length = 0
      from = at + 1
      this.#take(line.toString('utf8'))
    }
    if (this.#closed || from === chunk.length) return
    this.#pieces.push(chunk.subarray(from))
    this.#length += chunk.length - from
    if (this.#length > MAX_LINE_BYTES) this.#fail(new Error(`A message of more than ${MAX_LINE_BYTES} bytes cannot be meant`))
  }

  #take(line: string): void {
    if (line.trim() === '') return
    let value: unknown
    try {
      value = JSON.parse(line)
    } catch {
      this.onerror?.(new Error(`Not JSON: ${line.slice(0, 200)}`))
      return
    }
    // Clients of 2025-03-26 may send several at once.
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) this.#deliver(one)
  }

  #deliver(value: unknown): void {
    const { message, problem } = mended(value)
    if (message) {
      try {
        this.onmessage?.(message)
      } catch (error) {
        this.onerror?.(error as Error)
      }
      return
    }
    this.onerror?.(new Error(`Not a message: ${problem}`))
    const { id, method } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
    if (typeof method === 'string' && isId(id)) void this.send({ jsonrpc: '2.0', id, error: { code: -32_600, message: `Invalid request: ${problem}` } })
  }
}

/** The message as the protocol wants it, or what is wrong with it. */
export function mended(value: unknown): { message: JSONRPCMessage; problem?: never } | { message?: never; problem: string } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { problem: 'a message is an object' }
  const { params, id, ...rest } = value as Record<string, unknown>
  if (rest['jsonrpc'] !== '2.0') return { problem: 'jsonrpc must be "2.0"' }
  const hasMethod = typeof rest['method'] === 'string'
  if (!hasMethod && !('result' in rest) && !('error' in rest)) return { problem: 'there is no method' }
  if (id !== undefined && !isId(id)) return { problem: 'id must be a string or a number' }
  if (params !== undefined && params !== null && (typeof params !== 'object' || Array.isArray(params))) return { problem: 'params must be an object' }
  return {
    message: {
      ...rest,
      ...(id === undefined ? {} : { id }),
      // Several languages write an absent value as null.
      ...(params === undefined || params === null ? {} : { params: withMeta(params as Record<string, unknown>) }),
    } as JSONRPCMessage,
  }
}

function withMeta(params: Record<string, unknown>): Record<string, unknown> {
  const { _meta: meta, ...rest } = params
  if (meta === undefined) return params
  if (typeof meta !== 'object' || meta === null || Array.isArray(meta)) return rest
  const { progressToken, ...others } = meta as Record<string, unknown>
  return progressToken === undefined || isId(progressToken) ? params : { ...rest, _meta: others }
}

function isId(value: unknown): value is string | number {
  return typeof value === 'string' || (typeof value === 'number' && Number.isSafeInteger(value))
}
