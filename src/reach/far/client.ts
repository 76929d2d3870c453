/**
 * One client of a far engine: its calls begin once, whatever its link does, and their results wait until it has them.
 */
import { createHash } from 'node:crypto'
import { directoryMark } from '../../audit/approvals.js'
import type { Engine, RunHandle } from '../../contract/engine.js'
import { ShellError } from '../../contract/errors.js'
import type { Attachment, Job } from '../../contract/job.js'
import type { Taken } from '../../contract/output.js'
import { isAnswer, type RunRequest } from '../../contract/request.js'
import { AskedElsewhere, type Decided } from '../../engine/plan/ask.js'
import type { LiveCall } from '../../engine/services/live-calls.js'
import type { AuditEntry } from '../../engine/services/audit-sink.js'
import { BadFrame } from '../frames.js'
import {
  errorToWire,
  parse,
  unpack,
  type Answer,
  type CallMessage,
  type Hello,
  type News,
  type ResultMessage,
  type StopMessage,
} from '../messages.js'
import { Numbered } from '../numbered.js'
import type { Wire } from '../wire.js'
import { Garbage } from './garbage.js'
import { LiveOutput } from './live.js'
import { currentCall, Questions } from './questions.js'
import { FAR_VERBS, type CallContext, type VerbArgs, type VerbName } from './verbs.js'

/** How long the outcome of a keyed call is given again. */
const KEY_MS = 10 * 60_000
const MAX_KEYS = 1_000

/** Of each stream, for a watcher that comes after the call has begun. */
const SNAPSHOT_BYTES = 64 * 1024

/** News that near has not confirmed; of more than this the oldest are dropped. */
const MAX_NEWS = 10_000

class FarCall {
  live: LiveOutput | null = null
  handle: RunHandle | null = null
  attachment: Attachment | null = null
  newId = ''
  /** Stops that came before there was anything to stop. */
  early: StopMessage[] = []
  result: ResultMessage | null = null
  /** Resolves with the result. */
  settled: Promise<void> = Promise.resolve()

  /** `stop`: null where near says that its caller cannot withdraw it. */
  constructor(
    readonly id: number,
    readonly stop: AbortController | null,
  ) {}
}

export class FarClient {
  readonly id: string
  readonly questions: Questions
  readonly #engine: Engine
  readonly #calls = new Numbered<FarCall>()
  readonly #keys = new Map<string, { digest: string; outcome: Promise<unknown> }>()
  #wire: Wire | null = null
  #news: News[] = []
  #told = 0
  /** An entry of the audit log is written near. */
  writesAudit = true
  readonly #garbage = new Garbage()
  #unlisten: (() => void) | null = null
  /** The client will not come back. */
  readonly #gone = new AbortController()

  constructor(id: string, engine: Engine) {
    this.id = id
    this.#engine = engine
    this.questions = new Questions((question) => this.#wire?.send('Q', question))
  }

  get isConnected(): boolean {
    return this.#wire !== null
  }

  /** Resolves when all that was said to it has left this process. */
  get sent(): Promise<void> {
    return this.#wire?.sent ?? Promise.resolve()
  }

  /** A link of this client is up; gives the pending calls that have begun. */
  connect(wire: Wire, hello: Hello): readonly number[] {
    this.#wire = wire
    this.writesAudit = hello.audit !== false
    this.#heard(hello.heard)
    if (hello.events) this.listen()
    const pending = new Set(hello.pending.map(({ id }) => id))
    // The cut may have taken the word that a result arrived; near knows better what it still waits for.
    for (const { id, result } of this.#calls.values()) if (result && !pending.has(id)) this.#calls.delete(id)
    return hello.pending.map(({ id }) => id).filter((id) => this.#calls.has(id))
  }

  /** What the cut kept from near: news, results, questions, and how much live output was lost. */
  catchUp(wire: Wire, hello: Hello): void {
    for (const each of this.#news) wire.sendWhole('E', each)
    for (const { id, seen, taken } of hello.pending) {
      const call = this.#calls.get(id)
      call?.live?.resume(wire, seen, taken)
      if (call) this.#sayResult(call, wire)
    }
    this.questions.repeat()
  }

  disconnect(wire: Wire): void {
    if (this.#wire !== wire) return
    this.#wire = null
    for (const call of this.#calls.values()) call.live?.pause()
  }

  audit(audit: AuditEntry): void {
    const kept = this.#keep({ audit })
    this.#wire?.sendLater('E', kept)
  }

  failed(failure: string): void {
    this.#tell({ failure })
  }

  listen(): void {
    this.#unlisten ??= this.#engine.onJobEvent((job) => this.#tell({ job }))
  }

  #tell(news: Omit<News, 'n'>): void {
    const kept = this.#keep(news)
    this.#wire?.sendWhole('E', kept)
  }

  #keep(news: Omit<News, 'n'>): News {
    const kept = { n: ++this.#told, ...news }
    this.#news.push(kept)
    if (this.#news.length > MAX_NEWS) this.#news.shift()
    return kept
  }

  #heard(n: number): void {
    while (this.#news[0] && this.#news[0].n <= n) this.#news.shift()
  }

  /** The client will not come back: its foreground calls are not waited for any more. Resolves when all have ended. */
  async end(): Promise<void> {
    this.#unlisten?.()
    this.questions.end()
    this.#gone.abort()
    for (const call of this.#calls.values()) {
      call.stop?.abort()
      call.handle?.kill()
      void call.attachment?.leave()
    }
    await Promise.all(this.#calls.values().map(({ settled }) => settled))
  }

  take(kind: string, payload: Buffer): void {
    switch (kind) {
      case 'C':
        return this.#begin(parse<CallMessage>(payload), payload.includes('{{'))
      case 'A': {
        const { ids, heard } = parse<{ ids: number[]; heard: number }>(payload)
        for (const id of ids) {
          if (this.#calls.get(id)?.result) this.#calls.delete(id)
          this.#garbage.look()
        }
        return this.#heard(heard)
      }
      case 'W': {
        const { id, bytes } = parse<{ id: number; bytes: number }>(payload)
        return this.#calls.get(id)?.live?.grant(bytes)
      }
      case 'X': {
        const stop = parse<StopMessage>(payload)
        const call = this.#calls.get(stop.id)
        if (call && !call.result) this.#stop(call, stop)
        return
      }
      case 'q':
        return this.questions.answer(parse<Answer>(payload))
      case 'E':
        return this.listen()
      default:
        throw new BadFrame(`${kind} is not said by near`)
    }
  }

  #begin({ id, verb, args, live }: CallMessage, namesSecret: boolean): void {
    if (!Number.isSafeInteger(id) || id < 1 || typeof args !== 'object' || args === null)
      throw new BadFrame('a call without a number')
    // Seen before: a call begins once, however often it arrives.
    if (this.#calls.has(id)) return
    // A signal outlives its call in V8's eyes, and so does what it is given to: most runs have none.
    const isFinal = verb.endsWith('.run') && (args as VerbArgs).aborted === undefined
    const call = new FarCall(id, isFinal ? null : new AbortController())
    this.#calls.set(id, call)
    if (live) this.#show(call)
    if ((args as VerbArgs).aborted) call.stop?.abort()
    const settle = (result: ResultMessage): void => {
      call.live?.flush()
      call.result = result
      if (this.#wire) this.#sayResult(call, this.#wire)
    }
    const row = Object.hasOwn(FAR_VERBS, verb) ? FAR_VERBS[verb as VerbName] : null
    if (!row) return settle({ id, error: { name: 'Error', message: `The engine there does not know ${verb}` } })
    const fail = (error: unknown): void => settle({ id, error: errorToWire(error) })
    const begin = (): void => {
      try {
        call.settled = row(this.#engine, unpack(args) as VerbArgs, this.#context(call, verb, args, live)).then(
          (value) => settle({ id, value }),
          fail,
        )
      } catch (error) {
        fail(error)
      }
    }
    // Only a call that names a secret can ask for one, and following a call through its promises slows all of them.
    if (namesSecret) currentCall.run({ id, questions: this.questions }, begin)
    else begin()
  }

  #context(call: FarCall, verb: string, args: object, live: CallMessage['live']): CallContext {
    const { id } = call
    const ask: CallContext['ask'] = async ({ cwd, verdict }) => {
      const { reason, rule } = verdict
      const mark = directoryMark(cwd)
      const answer = await this.questions.ask({ ask: 'approval', call: id, cwd, mark, reason, rule })
      return new AskedElsewhere(decidedOf(answer)) as never
    }
    return {
      signal: (call.stop ?? this.#gone).signal,
      ask,
      follow: (start) => {
        call.handle = start({ ask, ...this.#readers(call, live) })
        for (const stop of call.early.splice(0)) this.#stop(call, stop)
        return call.handle.outcome
      },
      newId: () => call.newId,
      once: (key, run) => (key === undefined ? run() : this.#once(key, verb, args, run)),
      event: (event) => this.#tell({ call: id, event }),
      attach: async (job: Job, options) => {
        this.#show(call)
        const show = (text: string): Taken | Promise<Taken> =>
          call.live?.take({ stream: 'output', bytes: Buffer.from(text), offset: 0 })
        call.attachment = await job.attach({ ...options, show })
        this.#tell({ call: id, attached: true })
        for (const stop of call.early.splice(0)) this.#stop(call, stop)
        return call.attachment.done
      },
    }
  }

  #readers(call: FarCall, live: CallMessage['live']): Pick<RunRequest, 'onOutput' | 'onBytes'> {
    if (live === 'bytes') return { onBytes: (chunk) => call.live?.take(chunk) }
    return live === 'text' ? { onOutput: (chunk) => call.live?.add(chunk) } : {}
  }

  #show(call: FarCall): LiveOutput {
    const live = (call.live ??= new LiveOutput(call.id))
    if (this.#wire) live.resume(this.#wire, 0, 0)
    return live
  }

  #stop(call: FarCall, stop: StopMessage): void {
    if (stop.how === 'abort' && call.stop) return call.stop.abort()
    if (!call.handle && !call.attachment) return void call.early.push(stop)
    switch (stop.how) {
      case 'interrupt':
        return call.handle?.interrupt()
      case 'abort':
      case 'kill':
        return call.handle?.kill()
      case 'background':
        call.newId = stop.newId ?? ''
        return void call.handle?.toBackground().catch(() => {})
      case 'closed':
        return call.live?.close(String(stop.stream))
      case 'live':
        return this.#follow(call, stop.isWhole === true)
      case 'type':
        return call.attachment?.type(Buffer.from(stop.bytes ?? '', 'base64'))
      case 'resize':
        return void (stop.size && call.attachment?.resize(stop.size))
      case 'leave':
        return void call.attachment?.leave()
      default:
        throw new BadFrame(`${String(stop.how)} stops nothing`)
    }
  }

  #sayResult(call: FarCall, wire: Wire): void {
    try {
      if (call.result) wire.send('R', call.result)
    } catch (error) {
      // More than one message carries: that is the result.
      call.result = { id: call.id, error: errorToWire(error) }
      wire.send('R', call.result)
    }
  }

  /** The near side follows a call that began without live output: what was printed before is sent first. */
  #follow(call: FarCall, isWhole: boolean): void {
    if (call.live || !call.handle) return
    const live = this.#show(call)
    const handle = call.handle as LiveCall
    for (const { stream, transcript } of isWhole ? handle.captures : []) {
      const { head, tail } = transcript.snapshot()
      const text = Buffer.concat([head, tail]).subarray(-SNAPSHOT_BYTES).toString('utf8')
      if (text !== '') live.add({ stream, offset: 0, text })
    }
    handle.follow((chunk) => live.add(chunk))
  }

  #once(key: string, verb: string, args: object, run: () => Promise<unknown>): Promise<unknown> {
    const digest = createHash('sha256')
      .update(JSON.stringify([verb, args]))
      .digest('base64')
    const known = this.#keys.get(key)
    if (known && known.digest !== digest)
      return Promise.reject(
        new ShellError('BAD_REQUEST', 'This key was used for another call', 'Use a new key for every new command.'),
      )
    if (known) return known.outcome
    const outcome = run()
    if (this.#keys.size >= MAX_KEYS) this.#keys.delete(this.#keys.keys().next().value as string)
    this.#keys.set(key, { digest, outcome })
    const forget = (): void => void setTimeout(() => this.#keys.delete(key), KEY_MS).unref()
    outcome.then(forget, () => this.#keys.delete(key))
    return outcome
  }
}

/** What near says about a question: an answer, or the id under which it waits there. */
function decidedOf(said: unknown): Decided {
  const { as, id, trouble, waitedMs } = (said ?? {}) as Partial<Record<keyof Decided, unknown>>
  return {
    as: isAnswer(as) ? as : null,
    id: typeof id === 'string' ? id : '',
    ...(typeof trouble === 'string' ? { trouble } : {}),
    ...(typeof waitedMs === 'number' ? { waitedMs } : {}),
  }
}
