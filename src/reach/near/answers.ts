/** Answers what the far side asks: secrets for calls that name them, approvals about our own copy of a call. */
import type { AcceptOptions } from '../../contract/changes.js'
import { ShellError } from '../../contract/errors.js'
import type { RunRequest } from '../../contract/request.js'
import type { Verdict } from '../../contract/verdict.js'
import { decide, type AskDesk, type Decided } from '../../engine/plan/ask.js'
import type { EngineOptions } from '../../engine/services/options.js'
import type { SecretStore } from '../../engine/services/secret-store.js'
import { errorToWire, type Answer, type Question } from '../messages.js'
import type { Calls } from './calls.js'
import type { PendingCall } from './pending-call.js'

export interface AnswerSettings {
  readonly url: string
  readonly options: EngineOptions
  readonly secrets: SecretStore
  /** Where a person is asked. */
  readonly desk: AskDesk
  readonly calls: Pick<Calls, 'get' | 'count'>
  /** Told of a question that was refused because no call of this side explains it. */
  onRefused(what: string): void
}

const NO: Decided = { as: 'deny', id: '' }

export class Answers {
  readonly #settings: AnswerSettings
  /** Tokens that were answered, by call: once is enough. */
  readonly #given = new WeakMap<PendingCall, Set<string>>()
  /** What was answered, by call and number: after a cut a question comes again, and is the same one. */
  readonly #said = new WeakMap<PendingCall, Map<number, Promise<Answer>>>()
  /** Names that are no secret here, by the call that has them. */
  readonly #unknown = new WeakMap<PendingCall, readonly string[]>()
  /** Secrets that a person let go to this place, for as long as this engine lives. */
  readonly #allowed = new Set<string>()

  constructor(settings: AnswerSettings) {
    this.#settings = settings
  }

  /** Throws where it is no question. */
  answer(question: Question): Promise<Answer> {
    const call = question.call === null ? undefined : this.#settings.calls.get(question.call)
    if (!call) return this.#first(question)
    const said = this.#said.get(call) ?? new Map<number, Promise<Answer>>()
    this.#said.set(call, said)
    const answer = said.get(question.n) ?? this.#first(question)
    said.set(question.n, answer)
    return answer
  }

  async #first(question: Question): Promise<Answer> {
    const { n } = question
    try {
      return { n, value: question.ask === 'secret' ? await this.#secret(question) : await this.#approval(question) }
    } catch (error) {
      return { n, error: errorToWire(error) }
    }
  }

  unknownOf(call: PendingCall): readonly string[] {
    return this.#unknown.get(call) ?? []
  }

  #givenTo(call: PendingCall): Set<string> {
    const given = this.#given.get(call) ?? new Set<string>()
    this.#given.set(call, given)
    return given
  }

  async #secret({ call: id, kind, name }: Question & { ask: 'secret' }): Promise<string | null> {
    const { url, secrets, options } = this.#settings
    const token = `{{${kind}:${name}}}`
    const call = id === null ? null : (this.#settings.calls.get(id) ?? null)
    // A password prompt belongs to none of the open calls in particular.
    const isPrompt =
      id === null && this.#settings.calls.count > 0 && options.askpass?.some(({ secret }) => secret === name)
    const isNamed = call !== null && namedIn(call, token) && !this.#givenTo(call).has(token)
    if (!isPrompt && !isNamed) {
      this.#settings.onRefused(`${url} asked for the secret ${name}, which no call of ours names`)
      throw new ShellError(
        'SECRET_REFUSED',
        `The secret ${name} was not given: no open call names it`,
        `Name it in the command: {{secret:${name}}}.`,
      )
    }
    if (call) this.#givenTo(call).add(token)
    // What was given to this very engine is meant for its place; what a vault holds is not, unless it was said.
    const isOwn = (await secrets.refs.lookup(kind, name)) !== undefined
    const lookup = await secrets.valuesFor(token)
    const value = lookup?.({ kind, name, text: token, start: 0, end: token.length })
    if (!value) {
      if (call) this.#unknown.set(call, [...this.unknownOf(call), name])
      return null
    }
    const open = isOwn ? null : await this.#mayNotGo(name, call)
    if (open !== null)
      throw new ShellError(
        'SECRET_REFUSED',
        `The secret ${name} may not be used on ${url}: it is not bound to that place`,
        'Allow it there with reach.secrets, e.g. --set ' +
          `reach.secrets=${name}${open === '' ? '' : `, or once with: cerith approve ${open}`}.`,
      )
    return Buffer.from(value).toString('base64')
  }

  /** Null: it may. Otherwise the id of the question that is not answered, or nothing after a no. */
  async #mayNotGo(name: string, call: PendingCall | null): Promise<string | null> {
    const bound = this.#settings.options.reach?.secrets ?? []
    if (bound.includes('*') || bound.includes(name) || this.#allowed.has(name)) return null
    const request = call?.request
    if (!request) return ''
    const reason = `the secret ${name} would be sent to ${this.#settings.url} for the first time`
    const cwd = request.cwd ?? ''
    const own = await this.#judge(commandOf(request), request.cwd ?? '/')
    const { as, id } = await this.#decide(call, request, { cwd, mark: null }, askVerdict(own, 'secret-place', reason))
    if (as === 'session') this.#allowed.add(name)
    return as === 'once' || as === 'session' ? null : as === 'deny' ? '' : id
  }

  /** The card shows our own copy; only the directory is what the place says it is, and carries its place. */
  #decide(
    call: PendingCall,
    request: RunRequest,
    { cwd, mark }: { readonly cwd: string; readonly mark: string | null },
    verdict: Verdict,
  ): Promise<Decided> {
    const { url, desk } = this.#settings
    const where = { cwd: `${url} ${cwd}`, mark: typeof mark === 'string' ? mark : null }
    return decide({ request, command: commandOf(request), ...where, session: sessionOf(call), verdict }, desk)
  }

  /** What our own guard says, without the facts of the place: enough to know what is never allowed. */
  async #judge(command: string, cwd: string): Promise<Verdict> {
    const { options } = this.#settings
    const { inspect } = await import('../../guard/inspect.js')
    const { compilePolicy } = await import('../../guard/policy/policy.js')
    const policy = options.policy ? { policy: compilePolicy(options.policy) } : {}
    return inspect(command, { cwd, home: '/nonexistent', tmp: '/tmp', ...policy })
  }

  /** The place says what was tried there; which try, and which paths of it, is our own copy. */
  async #acceptance(
    call: PendingCall,
    question: Question & { ask: 'approval' },
    request: RunRequest,
  ): Promise<Decided> {
    const { id, paths = [] } = (call.message.args['options'] ?? {}) as AcceptOptions
    const command = ['cerith accept', ...(id === undefined ? [] : [id]), ...paths].join(' ')
    const reason = `${this.#settings.url} says: ${question.reason ?? ''}`
    const verdict = askVerdict(await this.#judge('true', question.cwd), 'accept', reason)
    return this.#decide(call, { ...request, command }, question, verdict)
  }

  async #approval(question: Question & { ask: 'approval' }): Promise<Decided> {
    const { url } = this.#settings
    const call = this.#settings.calls.get(question.call)
    const request = call?.request
    if (!call || !request) {
      this.#settings.onRefused(`${url} asked for an approval of a call that is not open`)
      return NO
    }
    if (call.message.verb === 'engine.accept') return this.#acceptance(call, question, request)
    const own = await this.#judge(commandOf(request), question.cwd)
    if (own.decision === 'deny') return NO
    const reason =
      own.decision === 'ask' && own.reason
        ? own.reason
        : `${url} says: ${question.reason ?? question.rule ?? 'a rule asks'}`
    const verdict = own.decision === 'ask' ? own : askVerdict(own, question.rule ?? 'ask', reason)
    return this.#decide(call, request, question, verdict)
  }
}

function namedIn(call: PendingCall, token: string): boolean {
  return JSON.stringify(call.message.args).includes(token)
}

function sessionOf(call: PendingCall | null): string | null {
  const session = call?.message.args['session']
  return typeof session === 'string' ? session : null
}

function commandOf({ command }: RunRequest): string {
  return typeof command === 'string' ? command : JSON.stringify(command)
}

/** A question of another kind than the guard's, about the same command. */
function askVerdict(own: Verdict, rule: string, reason: string): Verdict {
  return { ...own, decision: 'ask', rule, reason, guidance: null }
}
