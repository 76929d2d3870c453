/** One `tools/call`: run it once, tell how it goes, ask when there is doubt, stop it when the client says so. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  inputRequired,
  inputResponse,
  ProtocolError,
  ProtocolErrorCode,
  type CallToolRequestParams,
  type ClientCapabilities,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { messageOf, ShellError } from '../../contract/errors.js'
import type { ApprovalQuestion } from '../../contract/request.js'
import { CallApprovals, formFor, QUESTION, replyOf, type OpenedState, type Reply } from './approvals.js'
import type { Answer, Client } from './client.js'
import { hostOf } from '../setup/hosts.js'
import { FIRST_CLIENT } from './owned-engine.js'
import { reportProgress, type Progress } from './progress.js'
import { toProtocol } from './results.js'
import { PEER_HEADER, SESSION_HEADER } from './peers.js'
import { KEY_IN_META } from './retries.js'
import { CONNECTION_LABEL, HOST_LABEL } from '../../tools/reading/owners.js'
import type { CallOptions } from '../../tools/tool.js'

/** How long a command with an idempotency key outlives a dropped stream, so that the same request can be sent again. */
const RETURN_MS = 10_000

export interface CallSite {
  readonly client: Client
  readonly server: Server
  readonly era: 'legacy' | 'modern'
  /** Null: the only one (stdio), or one that only its requests can tell (2026 over HTTP). */
  readonly connection: string | null
  /** Absent where a client cannot be told anything by itself. */
  readonly later?: CallOptions['later']
}

/** One request, and where it came in. */
interface Call {
  readonly site: CallSite
  readonly params: CallToolRequestParams
  readonly context: ServerContext
}

export function callTool(site: CallSite, params: CallToolRequestParams, context: ServerContext): Promise<Answer> {
  const { tools } = site.client
  if (!tools.get(params.name)) {
    const names = tools.list().map(({ name }) => name)
    const words = `Tool not found: ${params.name.slice(0, 80)}. The tools are ${names.join(', ')}.`
    return Promise.reject(invalid(words))
  }
  const key = keyOf(context)
  const call = { site, params, context }
  return key === null ? perform(call, context.mcpReq.signal) : performOnce(key, call)
}

async function performOnce(key: string, call: Call): Promise<Answer> {
  const { site, params, context } = call
  try {
    return await site.client.retries.once(key, callOf(params), (signal) => perform(call, signal), {
      signal: context.mcpReq.signal,
      // A closed stream is how 2026 clients cancel over HTTP, but also how a network fails; only the second comes back.
      returnMs: site.era === 'modern' && context.http ? RETURN_MS : 0,
      isFinal: (answer) => answer.resultType !== 'input_required',
    })
  } catch (error) {
    if (!ShellError.is(error)) throw error
    throw invalid(`${error.message}. ${error.hint}`)
  }
}

async function perform(call: Call, signal: AbortSignal): Promise<Answer> {
  const { site, params, context } = call
  const { client } = site
  const { settings } = client
  const host = hostOf(clientInfo(site, context))
  const connection = connectionOf(site, context)
  const state = stateOf(site, context)
  const approvals = new CallApprovals((question, { runs }) => reply(call, state, question, runs))
  const progress = progressOf(client, context, signal)
  try {
    const result = await client.toolsFor(connection).execute(params.name, params.arguments ?? {}, {
      // The signal may also fire after the request was answered; by then the engine no longer listens to it.
      signal,
      ask: approvals.ask,
      approvalWaitMs: approvalWait(site, context, state),
      door: 'mcp',
      client: callerOf(site, context),
      onProgress: progress?.push,
      labels: labelsOf(connection, clientInfo(site, context)),
      session: sessionOf(client, connection, context),
      maxChars: host.maxChars,
      maxFailedChars: host.maxFailedChars,
      later: site.later,
    })
    const shown = host.structured ? settings : { ...settings, structured: false }
    return askLater(call, approvals) ?? toProtocol(result, shown)
  } finally {
    progress?.stop()
  }
}

/**
 * A 2026 client is given the question as the answer of this call, so the call does not wait; no
 * other waits longer than its host does.
 */
function approvalWait(site: CallSite, context: ServerContext, state: OpenedState | null): number | undefined {
  const { approvalWaitMs, yieldMs } = site.client.settings
  if (site.era === 'modern' && state === null && canAsk(site, context)) return 0
  return approvalWaitMs === null ? undefined : Math.min(approvalWaitMs, yieldMs)
}

/** How the client calls itself: said once by a 2025 client, with every request by a 2026 one. */
export function clientInfo({ server, era }: CallSite, context: ServerContext): { readonly name?: unknown } | undefined {
  if (era === 'legacy') return server.getClientVersion()
  const envelope = context.mcpReq.envelope as Readonly<Record<string, unknown>> | undefined
  return envelope?.[CLIENT_INFO_META_KEY] as { readonly name?: unknown } | undefined
}

function labelsOf(
  connection: string | null,
  client: { readonly name?: unknown } | undefined,
): Readonly<Record<string, string>> {
  return {
    ...(typeof client?.name === 'string' ? { [HOST_LABEL]: client.name.slice(0, 40) } : {}),
    ...(connection === null ? {} : { [CONNECTION_LABEL]: connection }),
  }
}

/**
 * 2026 requests over HTTP belong to no connection: clients of one token are told apart by their
 * process and by what they call themselves.
 */
function connectionOf(site: CallSite, context: ServerContext): string | null {
  if (site.connection !== null || !context.http) return site.connection
  const { name, version } = (clientInfo(site, context) ?? {}) as { name?: unknown; version?: unknown }
  return JSON.stringify([context.http.req?.headers.get(PEER_HEADER) ?? '', name ?? null, version ?? null])
}

/** The one that the address of the server names, or the connection's own. */
function sessionOf(client: Client, connection: string | null, context: ServerContext): string | undefined {
  const named = context.http?.req?.headers.get(SESSION_HEADER)
  return named ? named : client.sessionFor(connection)
}

/** The client as it calls itself, and its token's name where there are several. */
function callerOf(site: CallSite, context: ServerContext): string {
  const given = clientInfo(site, context)?.name
  const name = typeof given === 'string' ? given.slice(0, 80) : 'an MCP client'
  return site.client.name === FIRST_CLIENT ? name : `${site.client.name} (${name})`
}

/** Null: the client did not ask for progress. */
function progressOf({ engine, settings }: Client, context: ServerContext, signal: AbortSignal): Progress | null {
  const token = context.mcpReq._meta?.progressToken
  if (token === undefined) return null
  const send = (progress: number, message: string): void => {
    if (signal.aborted) return
    context.mcpReq
      .notify({
        method: 'notifications/progress',
        params: { progressToken: token, progress, message: engine.secrets.mask(message) },
      })
      .catch(() => {})
  }
  return reportProgress(send, { everyMs: settings.progressEveryMs, heartbeatMs: settings.heartbeatMs })
}

/** What to tell the engine about its question, now. */
async function reply(
  { site, params, context }: Call,
  state: OpenedState | null,
  question: ApprovalQuestion,
  runs: number,
): Promise<Reply> {
  if (site.era === 'legacy') return canAsk(site, context) ? elicit(site, context, question) : null
  if (runs > 1 || !state?.use(question, callOf(params))) return null
  const given = inputResponse(context.mcpReq.inputResponses, QUESTION)
  return given.kind === 'elicit' ? replyOf(given) : 'declined or cannot ask'
}

/** 2025: the server asks while the request waits. */
async function elicit({ client, server }: CallSite, { mcpReq }: ServerContext, question: ApprovalQuestion) {
  try {
    const form = formFor(question, client.engine.secrets.mask)
    const signal = question.signal ? AbortSignal.any([question.signal, mcpReq.signal]) : mcpReq.signal
    const options = { timeout: client.settings.approvalMs, signal, relatedRequestId: mcpReq.id }
    return replyOf(await server.elicitInput(form, options))
  } catch (error) {
    // An aborted question is a form that was taken back: a person answered elsewhere.
    if (!question.signal?.aborted)
      client.settings.log(`cerith: the client could not ask about ${question.id}: ${messageOf(error)}`)
    return null
  }
}

/** 2026: the request is answered with the question, and comes back with what was said to it. Nothing ran in between. */
function askLater({ site, params, context }: Call, { question, reply: given, runs }: CallApprovals): Answer | null {
  if (site.era !== 'modern' || question === null || given !== null || runs > 1 || !canAsk(site, context)) return null
  const { client } = site
  return inputRequired({
    inputRequests: { [QUESTION]: inputRequired.elicit(formFor(question, client.engine.secrets.mask)) },
    requestState: client.states.seal(question, callOf(params)),
  })
}

function stateOf({ client, era }: CallSite, context: ServerContext): OpenedState | null {
  const state = context.mcpReq.requestState()
  if (era !== 'modern' || typeof state !== 'string') return null
  try {
    return client.states.open(state)
  } catch {
    throw invalid('Invalid or expired requestState', { reason: 'invalid_request_state' })
  }
}

function canAsk({ server, era }: CallSite, context: ServerContext): boolean {
  const envelope = context.mcpReq.envelope as Readonly<Record<string, unknown>> | undefined
  const declared =
    era === 'modern'
      ? (envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined)
      : server.getClientCapabilities()
  const elicitation = declared?.elicitation
  // An empty object is how clients that know only forms say so.
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
}

function invalid(message: string, data?: unknown): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message, data)
}

function callOf(params: CallToolRequestParams): unknown {
  return [params.name, params.arguments ?? {}]
}

function keyOf(context: ServerContext): string | null {
  const key = context.mcpReq._meta?.[KEY_IN_META] ?? context.http?.req?.headers.get('idempotency-key')
  return typeof key === 'string' && key !== '' ? key : null
}
