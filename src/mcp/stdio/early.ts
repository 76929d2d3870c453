/**
 * Answers `initialize`, `ping` and `tools/list` while the engine and the SDK are still being loaded.
 * Hosts wait about a second for a server and then show the model no tools in its first turn.
 *
 * The answers are data: the same that the SDK's server gives later, which a test compares. `initialize` is handed to
 * the SDK as well, so that it knows its client, and its second answer is dropped. Everything else waits for the SDK.
 */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server'
import { isId, type LineTransport } from '../server/line-transport.js'
import { CLOSE_MS, within } from '../setup/lifecycle.js'

export interface EarlyAnswers {
  /** The result of `initialize`, without the protocol's version. */
  readonly initialize: () => Promise<Readonly<Record<string, unknown>>>
  /** The list depends on the host, which `initialize` has named. */
  readonly tools: (clientInfo: { readonly name?: unknown }) => Promise<readonly unknown[]>
}

/** Versions whose `initialize` looks the same. A later one goes to the SDK. */
const VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
/** A host asks for the tools as soon as it has read the answer to `initialize`; loading would hold that up. */
const NEXT_QUESTION_MS = 20
/** A host that says nothing for so long is no reason to keep the engine waiting. */
const FIRST_QUESTION_MS = 50

interface Message {
  readonly id?: string | number
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
}

export class EarlyTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void
  onerror?: (error: Error) => void
  onclose?: () => void
  /** The input has ended, and the first questions are answered: what else is waited for. */
  onend?: () => Promise<unknown>
  /** Resolves when the first questions are answered, or when none came: time to load the rest. */
  readonly quiet: Promise<void>
  #timer: NodeJS.Timeout
  #becomeQuiet!: () => void
  #waiting: JSONRPCMessage[] = []
  #started = false
  #closed = false
  #client: { readonly name?: unknown } | null = null
  /** Answers follow each other in the order of the questions. */
  #turn: Promise<void> = Promise.resolve()
  readonly #answered = new Set<string | number>()

  constructor(
    readonly inner: LineTransport,
    readonly answers: EarlyAnswers,
  ) {
    this.quiet = new Promise((resolve) => (this.#becomeQuiet = resolve))
    this.#timer = setTimeout(this.#becomeQuiet, FIRST_QUESTION_MS)
    inner.onmessage = (message) => this.#take(message)
    inner.onerror = (error) => this.onerror?.(error)
    // `printf ... | cerith mcp`: the questions that came before the end are answered.
    inner.onend = () => within(CLOSE_MS, this.#turn).then(() => this.onend?.())
    inner.onclose = () => {
      this.#closed = true
      this.#becomeQuiet()
      this.onclose?.()
    }
    void inner.start()
  }

  /** The SDK is ready: it gets what has waited, in order. */
  async start(): Promise<void> {
    await this.#turn
    this.#started = true
    for (const message of this.#waiting.splice(0)) this.onmessage?.(message)
    // The input ended before the server listened to it.
    if (this.#closed) setImmediate(() => this.onclose?.())
  }

  send(message: JSONRPCMessage): Promise<void> {
    const { id, method } = message as Message
    if (method === undefined && id !== undefined && this.#answered.delete(id)) return Promise.resolve()
    return this.inner.send(message)
  }

  close(): Promise<void> {
    return this.inner.close()
  }

  #take(message: JSONRPCMessage): void {
    if (this.#started) return this.onmessage?.(message)
    const answer = this.#answerTo(message as Message)
    if (!answer || (message as Message).method === 'initialize') this.#waiting.push(message)
    if (!answer) return
    const { id, method } = message as Required<Message>
    if (method === 'initialize') this.#answered.add(id)
    this.#turn = this.#turn.then(async () => {
      try {
        await this.inner.send({ jsonrpc: '2.0', id, result: await answer() } as JSONRPCMessage)
      } catch (error) {
        // The SDK's server then answers, or ends with the reason.
        this.#answered.delete(id)
        this.onerror?.(error as Error)
      }
      if (method === 'tools/list') return this.#becomeQuiet()
      clearTimeout(this.#timer)
      this.#timer = setTimeout(this.#becomeQuiet, NEXT_QUESTION_MS)
    })
  }

  #answerTo({ id, method, params }: Message): (() => Promise<unknown>) | null {
    if (!isId(id)) return null
    if (method === 'ping') return () => Promise.resolve({})
    // A 2026 client does not say hello; its requests and their answers look different, and go to the SDK.
    const client = this.#client
    if (method === 'tools/list' && client && params?.['cursor'] === undefined)
      return async () => ({ tools: await this.answers.tools(client) })
    const { protocolVersion, clientInfo, capabilities } = params ?? {}
    if (method !== 'initialize' || !VERSIONS.includes(String(protocolVersion)) || !clientInfo || !capabilities)
      return null
    this.#client = clientInfo as { readonly name?: unknown }
    return async () => ({ protocolVersion, ...(await this.answers.initialize()) })
  }
}
