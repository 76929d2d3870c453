/** Calls on their way: each begins there at most once, its result is waited for through cuts, and no end is made up. */
import type { ShellError } from '../../contract/errors.js'
import type { Masker } from '../../secrets/mask/masker.js'
import { BadFrame, readOutput, STREAMS } from '../frames.js'
import {
  errorToWire,
  parse,
  type CallMessage,
  type Gap,
  type Hello,
  type News,
  type ResultMessage,
  type StopMessage,
  type Welcome,
} from '../messages.js'
import { Numbered } from '../numbered.js'
import type { Wire } from '../wire.js'
import type { Link } from './link.js'
import { makeCall, type CallListener, type CallLoss, type PendingCall } from './pending-call.js'
import { isOutcome } from './texts.js'

/** An engine holds back what its window does not hold: 256 KB, and at the end 1 MB that waited. */
const MAX_UNREAD = 4 * 1024 * 1024
/** News are confirmed with the next result, or when there are so many. */
const CONFIRM_EVERY = 64
/** Fields that are points in time: of jobs, sessions and tries. */
const TIMES: ReadonlySet<string> = new Set(['startedAt', 'endedAt'])

/** Orders that change a call for good; the others are not repeated after a cut. */
const LASTING: ReadonlySet<StopMessage['how']> = new Set(['kill', 'background', 'abort', 'live', 'leave', 'resize'])

export interface CallsSettings {
  readonly client: string
  readonly linkWaitMs: number
  /** Of the values that are known here; null while there is none. */
  masker(): Masker | null
  /** What the clock here is ahead of the one there; 0 where the difference may be the way of a message. */
  clockMs(): number
  readonly link: Pick<Link, 'wire' | 'downMs' | 'wake' | 'hold'>
  /** What happened there, of no call in particular. */
  onNews(news: News): void
}

export class Calls {
  readonly #settings: CallsSettings
  readonly #pending = new Numbered<PendingCall>()
  #next = 1
  lastProblem = ''
  /** The number of the last news of this far engine. */
  heard = 0

  constructor(settings: CallsSettings) {
    this.#settings = settings
  }

  get(id: number): PendingCall | undefined {
    return this.#pending.get(id)
  }

  get count(): number {
    return this.#pending.size
  }

  begin(
    verb: string,
    args: Record<string, unknown>,
    listener: CallListener = {},
    live?: CallMessage['live'],
  ): PendingCall {
    const id = this.#next++
    const name = `call_${this.#settings.client.slice(0, 6)}${id.toString(16)}`
    const call = makeCall(name, { id, verb, args, live }, listener)
    this.#pending.set(id, call)
    if (this.#pending.size === 1) this.#settings.link.hold(true)
    const wire = this.#settings.link.wire
    if (wire) this.#send(wire, call)
    else {
      this.#settings.link.wake()
      this.#giveUpLater(call)
    }
    return call
  }

  order(call: PendingCall, order: Omit<StopMessage, 'id'>): void {
    if (!this.#pending.has(call.id)) return
    if (!call.isSent && order.how === 'abort') {
      const { downMs } = this.#settings.link
      return this.#end(call, { kind: 'not-started', downMs, why: 'the caller withdrew it' })
    }
    const wire = call.isSent ? this.#settings.link.wire : null
    if (LASTING.has(order.how) || (!wire && order.how === 'interrupt')) call.orders.set(order.how, order)
    if (wire) this.#say(wire, call, order)
  }

  /** An order that overtakes its call would be one for nothing. */
  #say(wire: Wire, call: PendingCall, order: Omit<StopMessage, 'id'>): void {
    const say = (): void => wire.send('X', { id: call.id, ...order })
    if (call.leaving) void call.leaving.then(say)
    else say()
  }

  #repeatOrders(wire: Wire, call: PendingCall): void {
    for (const order of call.orders.values()) this.#say(wire, call, order)
    // Said once: it changes nothing for good.
    call.orders.delete('interrupt')
  }

  hello(): Hello['pending'] {
    const sent = this.#pending.values().filter(({ isSent }) => isSent)
    return sent.map((call) => {
      call.told = call.seen - call.unread
      return { id: call.id, seen: call.seen, taken: call.told }
    })
  }

  /** The same engine as before: what arrived goes on, what did not is sent now. */
  resume(wire: Wire, welcome: Welcome): void {
    const begun = new Set(welcome.begun)
    for (const call of this.#pending.values()) {
      if (call.timer) clearTimeout(call.timer)
      call.timer = null
      if (call.isSent && !begun.has(call.id) && call.isGivenUp)
        this.#end(call, { kind: 'gone', why: 'it never arrived there' })
      else if (!call.isSent || !begun.has(call.id)) this.#send(wire, call)
      else {
        // What its reader took since the hello.
        this.#grant(wire, call, call.seen - call.unread - call.told)
        this.#repeatOrders(wire, call)
      }
    }
  }

  /** Another engine: what was handed over is lost, what never left is sent. */
  restart(wire: Wire, why: string): void {
    for (const call of this.#pending.values()) if (call.isSent) this.#end(call, { kind: 'gone', why })
    for (const call of this.#pending.values()) {
      if (call.timer) clearTimeout(call.timer)
      call.timer = null
      this.#send(wire, call)
    }
  }

  /** No link will come, which `error` says for good: nothing that waits has a chance. */
  loseAll(why: string, error?: ShellError): void {
    const downMs = this.#settings.link.downMs
    for (const call of this.#pending.values())
      this.#end(call, call.isSent ? { kind: 'gone', why } : { kind: 'not-started', downMs, why, error })
  }

  wentDown(): void {
    for (const call of this.#pending.values()) this.#giveUpLater(call)
  }

  /**
   * A message from afar, with every known value masked in it and its times by the clock here: nothing else reads what
   * a place says.
   */
  hear<T>(payload: Buffer): T {
    const masker = this.#settings.masker()
    const clockMs = this.#settings.clockMs()
    if (!masker && clockMs === 0) return parse<T>(payload)
    return parse<T>(payload, (name, value) => {
      if (typeof value === 'string') return masker ? masker.maskText(value) : value
      return typeof value === 'number' && TIMES.has(name) ? value + clockMs : value
    })
  }

  take(kind: string, payload: Buffer): boolean {
    switch (kind) {
      case 'R': {
        const result = this.hear<ResultMessage>(payload)
        const call = this.#known(result.id)
        if (call.message.verb.endsWith('.run') && !result.error && !isOutcome(result.value))
          throw new BadFrame('a result that is no outcome')
        // Acknowledged with the next call, or in a moment.
        this.#confirm([call.id])
        this.#close(call)
        call.settle(result)
        return true
      }
      case 'O': {
        const { call: id, stream, offset, bytes: raw } = readOutput(payload)
        const call = this.#known(id)
        const { length } = raw
        call.seen += length
        call.unread += length
        if (call.unread > MAX_UNREAD) throw new BadFrame('more output than was asked for')
        const confirm = (): void => {
          call.unread -= length
          const wire = this.#settings.link.wire
          if (wire) this.#grant(wire, call, length)
        }
        const bytes = this.#settings.masker()?.maskBytes(raw) ?? raw
        if (call.isGivenUp || !call.listener.onOutput) confirm()
        else call.listener.onOutput({ stream, offset, bytes }, confirm)
        return true
      }
      case 'G': {
        const gap = this.hear<Gap>(payload)
        if (!STREAMS.includes(gap.stream) || ![gap.bytes, gap.end].every(Number.isSafeInteger))
          throw new BadFrame('a gap of no size')
        this.#known(gap.id).listener.onGap?.(gap)
        return true
      }
      case 'E': {
        const news = this.hear<News>(payload)
        if (!Number.isSafeInteger(news.n)) throw new BadFrame('news without a number')
        // Said again after a cut that took only the word that it had arrived.
        if (news.n <= this.heard) return true
        this.heard = news.n
        if (news.n % CONFIRM_EVERY === 0) this.#confirm([])
        if (news.call === undefined) this.#settings.onNews(news)
        else this.#pending.get(news.call)?.listener.onEvent?.(news)
        return true
      }
      default:
        return false
    }
  }

  #grant(wire: Wire, call: PendingCall, bytes: number): void {
    if (bytes > 0) wire.send('W', { id: call.id, bytes })
    call.told += bytes
  }

  #confirm(ids: readonly number[]): void {
    this.#settings.link.wire?.sendLater('A', { ids, heard: this.heard })
  }

  #known(id: number): PendingCall {
    const call = this.#pending.get(id)
    if (!call) throw new BadFrame(`news of the call ${id}, which is not open`)
    return call
  }

  /** A session, or a job, gets its calls in the order in which they were made: none overtakes one that is in pieces. */
  #send(wire: Wire, call: PendingCall): void {
    const { session, job } = call.message.args
    const isBefore = ({ id, message: { args } }: PendingCall): boolean =>
      id < call.id && args['session'] === session && args['job'] === job
    const isOne = wire.leaving && (session ?? job) !== undefined
    const long = isOne && this.#pending.values().findLast(isBefore)?.leaving
    if (!long) return this.#sendNow(wire, call)
    call.leaving = long.then(() => {
      // With another link it is sent by that one.
      if (wire !== this.#settings.link.wire || !this.#pending.has(call.id)) return
      call.leaving = null
      this.#sendNow(wire, call)
      return call.leaving
    })
  }

  #sendNow(wire: Wire, call: PendingCall): void {
    try {
      const others = wire.leaving
      wire.send('C', call.message)
      call.isSent = true
      call.leaving = wire.leaving === others ? null : wire.leaving
    } catch (error) {
      // A call with more bytes than a message may have is not sent, now or later.
      this.#close(call)
      return call.settle({ id: call.id, error: errorToWire(error) })
    }
    this.#repeatOrders(wire, call)
  }

  #giveUpLater(call: PendingCall): void {
    call.timer ??= setTimeout(() => this.#giveUp(call), this.#settings.linkWaitMs)
  }

  #giveUp(call: PendingCall): void {
    call.timer = null
    const downMs = this.#settings.link.downMs
    if (!call.isSent) return this.#end(call, { kind: 'not-started', downMs, why: this.lastProblem })
    call.isGivenUp = true
    call.lose({ kind: 'unanswered', downMs, call: call.name })
  }

  #close(call: PendingCall): void {
    this.#pending.delete(call.id)
    if (call.timer) clearTimeout(call.timer)
    if (this.#pending.size === 0) this.#settings.link.hold(false)
  }

  #end(call: PendingCall, loss: CallLoss): void {
    this.#close(call)
    call.lose(loss)
    call.settle({ id: call.id, error: { name: 'Lost', message: loss.kind } })
  }
}
