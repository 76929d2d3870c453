/**
 * The engine's live socket: what an engine tells other processes of its user while they listen,
 * and the orders that it takes from them.
 *
 *   engine -> peer   hello · begin · end · out · sessions · lines · ask · answered · said
 *   peer -> engine   look · sessions · follow · unfollow · interrupt · kill · background · approve-here ·
 *                    answer
 *
 * Nothing is decoded, masked or sent before a peer is there, and a command never waits for one.
 * A peer that an engine started is told nothing.
 */
import { join } from 'node:path'
import type { SessionInfo } from '../../contract/engine.js'
import type { Outcome } from '../../contract/outcome.js'
import { isAnswer } from '../../contract/request.js'
import {
  listenLines,
  LIVE_SOCKET,
  type LineHandler,
  type LinePeer,
  type LineServer,
} from '../../os/peer/live-socket.js'
import type { LiveCall } from '../services/live-calls.js'
import { Follower } from './follower.js'
import { callFacts, lastLineOf, type LiveHost } from './facts.js'
import { auditDeed } from '../services/deeds.js'
import { userName } from '../../os/user/name.js'

/** Engines of a moment (`cerith run true`) are gone before a page or a terminal could look. */
const OPEN_AFTER_MS = 150

export function openLiveDoor(
  services: LiveHost,
  sessions: () => Promise<readonly SessionInfo[]>,
): { readonly close: () => void } {
  let server: Promise<LineServer | null> | null = null
  let closed = false
  const open = async (): Promise<void> => {
    if (closed) return
    server ??= listenLines(join(services.runDir, LIVE_SOCKET), (peer) => new Looker(peer, services, sessions))
    await server
  }
  const timer = setTimeout(() => void open(), OPEN_AFTER_MS).unref()
  services.questions.reach = open
  const unwatch = services.questions.watch({
    asked: () => {},
    answered: (waiting, { as, by }, waitedMs) =>
      auditDeed(services, as === 'deny' ? 'deny' : 'approve', { ...waiting, by, waitedMs, status: as }),
  })
  return {
    close() {
      closed = true
      unwatch()
      clearTimeout(timer)
      void server?.then((opened) => opened?.close())
    },
  }
}

/** One process that looks. */
class Looker implements LineHandler {
  readonly #peer: LinePeer
  readonly #services: LiveHost
  readonly #sessions: () => Promise<readonly SessionInfo[]>
  readonly #followed = new Map<LiveCall, Follower>()
  readonly #unwatch: () => void
  /** For the record: `ann: node 812 on pts/3`. */
  readonly #by: string

  constructor(peer: LinePeer, services: LiveHost, sessions: () => Promise<readonly SessionInfo[]>) {
    this.#peer = peer
    this.#services = services
    this.#sessions = sessions
    const { program, pid, terminal } = peer.who
    this.#by = `${userName()}: ${program} ${pid}${terminal ? ` on ${terminal}` : ''}`
    const { calls, questions } = services
    const watcher = {
      began: (call: LiveCall) => peer.send({ t: 'begin', ...callFacts(call, services) }),
      ended: (call: LiveCall, outcome: Outcome | null) => this.#ended(call, outcome),
    }
    calls.watchers.add(watcher)
    const unwatchQuestions = questions.watch({
      asked: (waiting, isWaiting) => peer.send({ t: 'ask', ...waiting, isWaiting }),
      answered: ({ id }, { as, by }) => peer.send({ t: 'answered', id, as, by }),
    })
    this.#unwatch = () => {
      calls.watchers.delete(watcher)
      unwatchQuestions()
    }
    const { id, door, cwd } = services
    peer.send({ t: 'hello', v: 1, engine: id, pid: process.pid, door, cwd })
    for (const call of calls.all) watcher.began(call)
    for (const { waiting, isWaiting } of questions.open()) peer.send({ t: 'ask', ...waiting, isWaiting })
    this.#tellSessions()
  }

  message(value: Record<string, unknown>): void {
    const run = typeof value['run'] === 'number' ? value['run'] : null
    const call = run === null ? undefined : this.#services.calls.byNumber(run)
    switch (value['do']) {
      case 'sessions':
        return this.#tellSessions()
      case 'look':
        return this.#tellLastLines()
      case 'follow':
        return call && this.#follow(call)
      case 'unfollow':
        return call && this.#unfollow(call)
      case 'interrupt':
      case 'kill':
      case 'background':
        return this.#order(value['do'], run, call)
      case 'approve-here':
        if (value['on'] === false) this.#services.questions.approvers.delete(this)
        else this.#services.questions.approvers.add(this)
        return
      case 'answer':
        return this.#answer(value)
    }
  }

  closed(): void {
    this.#unwatch()
    this.#services.questions.approvers.delete(this)
    for (const call of this.#followed.keys()) this.#unfollow(call)
  }

  #follow(call: LiveCall): void {
    if (this.#followed.has(call)) return
    const run = this.#services.calls.numberOf(call)
    this.#followed.set(call, new Follower(call, run, this.#peer))
  }

  #unfollow(call: LiveCall): void {
    this.#followed.get(call)?.stop()
    this.#followed.delete(call)
  }

  #ended(call: LiveCall, outcome: Outcome | null): void {
    this.#followed.get(call)?.flush()
    this.#unfollow(call)
    const { calls } = this.#services
    this.#peer.send({
      t: 'end',
      run: calls.numberOf(call),
      session: call.session,
      status: outcome?.status ?? 'error',
      exitCode: outcome?.exitCode ?? null,
      signal: outcome?.signal ?? null,
      durationMs: call.age,
      job: outcome?.id ?? null,
      rule: outcome?.refused?.rule ?? null,
    })
  }

  #order(what: 'interrupt' | 'kill' | 'background', run: number | null, call: LiveCall | undefined): void {
    if (!call) return this.#peer.send({ t: 'said', run, ok: false, why: 'it has ended' })
    const { command } = callFacts(call, this.#services)
    const { session, request } = call
    const { cwd = this.#services.cwd, client } = request
    auditDeed(this.#services, what, { command, cwd, session, client, by: this.#by, status: 'ordered' })
    if (what === 'interrupt') call.interrupt()
    else if (what === 'kill') call.kill()
    else void call.toBackground().catch(() => {})
    this.#peer.send({ t: 'said', run, ok: true, what })
  }

  #answer({ id, digest, as }: Record<string, unknown>): void {
    if (typeof id !== 'string' || typeof digest !== 'string' || !isAnswer(as)) return this.#peer.close()
    // Its processes may have been let loose: nothing tells an agent's process from a person's any more.
    const lost = this.#services.launcher.lost
    const result = lost ? 'untrusted' : this.#services.questions.answer(id, digest, { as, by: this.#by })
    this.#peer.send({ t: 'said', id, ok: result === 'accepted', what: as, result })
  }

  #tellSessions(): void {
    const tell = (all: readonly SessionInfo[]): void =>
      this.#peer.send({
        t: 'sessions',
        all: all.map(({ name, cwd, busy, calls, pid, startedAt, leftovers }) => ({
          name,
          cwd,
          busy,
          calls,
          pid,
          startedAt,
          leftovers: leftovers.length,
        })),
      })
    void this.#sessions().then(tell, () => {})
  }

  #tellLastLines(): void {
    const { calls } = this.#services
    const all = [...calls.all].map((call) => ({
      run: calls.numberOf(call),
      pid: call.pid,
      bytes: call.captures.reduce((sum, { bytes }) => sum + bytes, 0),
      lastLine: lastLineOf(call),
    }))
    this.#peer.send({ t: 'lines', all })
  }
}
