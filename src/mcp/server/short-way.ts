/**
 * The SDK's server, without its three more readings of a `tools/call` whose request is plainly
 * right and whose result is our own.
 */
import {
  Server,
  type CallToolRequestParams,
  type CallToolResult,
  type JSONRPCRequest,
  type ServerContext,
  type ServerOptions,
} from '@modelcontextprotocol/server'
import type { Answer } from '../call/client.js'
import { IDENTITY } from '../setup/identity.js'
import { isRecord } from '../../contract/attempt.js'
import { quickenGuards } from './sdk-guards.js'

export type CallHandler = (params: CallToolRequestParams, context: ServerContext) => Promise<Answer>
type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<CallToolResult>

export class ToolServer extends Server {
  #call: CallHandler | null = null

  constructor(options: ServerOptions) {
    quickenGuards()
    super(IDENTITY, options)
  }

  /**
   * `direct`: nothing but a finished result can come of a call, so nothing of it needs the
   * SDK's eye. Requests with anything unusual go its way all the same, and get its errors.
   */
  serveCalls(call: CallHandler, { direct }: { direct: boolean }): void {
    this.#call = direct ? call : null
    this.setRequestHandler('tools/call', (request, context) => call(request.params, context))
    // A program that embeds the server may put a handler of its own in its place.
    this.#call = null
  }

  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const usual = super._wrapHandler(method, handler) as Handler
    // The constructor above registers its own handlers through here, before there is a field to look at.
    if (method !== 'tools/call') return usual
    const call = this.#call
    if (!call) return usual
    return (request, context) =>
      isPlainCall(request.params) ? (call(request.params, context) as Promise<CallToolResult>) : usual(request, context)
  }
}

function isPlainCall(params: unknown): params is CallToolRequestParams {
  if (!isRecord(params)) return false
  const { name, arguments: given, _meta: meta, task } = params
  return (
    typeof name === 'string' &&
    (given === undefined || isRecord(given)) &&
    (meta === undefined || isRecord(meta)) &&
    task === undefined
  )
}
