/**
 * The engine's face for another place: the same methods, one round trip each. Nothing here
 * knows how the place is reached; `open` arrives there and gives a link.
 */
import type { Note } from '../../contract/note.js'
import { randomBytes } from 'node:crypto'
import type { Engine, RunHandle, Session, SessionInfo } from '../../contract/engine.js'
import { visible } from '../../output/terminal/visible.js'
import { attempt } from '../../contract/attempt.js'
import { ShellError } from '../../contract/errors.js'
import type { Job, JobEvent } from '../../contract/job.js'
import { LIMITS } from '../../contract/limits.js'
import type { Outcome } from '../../contract/outcome.js'
import type { LinkEvent, PlaceInfo } from '../../contract/place.js'
import type { RunRequest, StartRequest } from '../../contract/request.js'
import {
  ACCEPT_ROWS,
  CHANGES_ROWS,
  CHECK_ROWS,
  checkFields,
  CLEAN_ROWS,
  DISCARD_ROWS,
  JOBS_ROWS,
} from '../../engine/plan/fields.js'
import { checkRequest } from '../../engine/plan/request.js'
import { checkSessionName } from '../../engine/plan/wrong-value.js'
import type { AuditEntry } from '../../engine/services/audit-sink.js'
import type { EngineOptions } from '../../engine/services/options.js'
import { SecretStore } from '../../engine/services/secret-store.js'
import { within } from '../../engine/services/within.js'
import { secretsFace } from '../../engine/secrets-face.js'
import { BadFrame } from '../frames.js'
import { errorFromWire, pack, type Question, type Welcome, type WireError } from '../messages.js'
import type { KnownSessions } from '../records.js'
import { Answers } from './answers.js'
import { Calls } from './calls.js'
import { createDesk } from './desk.js'
import { Endings, lossError } from './endings.js'
import { nearJob, type JobWire } from './job.js'
import { Link, type OpenLink } from './link.js'
import { CallLost, type PendingCall } from './pending-call.js'
import { requestArgs, settingsOf } from './request-args.js'
import { NearRun } from './run.js'
import { NearSession, type SessionHost } from './session.js'
import { sessionGoneText } from './texts.js'
import { Whereabouts } from './whereabouts.js'

export interface NearSettings {
  readonly url: string
  readonly key: Buffer
  readonly options: EngineOptions
  readonly sessions?: KnownSessions
  open(lookMs: number): Promise<OpenLink>
  /** Removes what was made for this engine (a container, a pod). */
  release(): Promise<void>
}

/** Of what a place says about the end of its engine. */
const MAX_FAILURE = 300
/** Kinds of audit entries that a place may report about itself; approvals are only ever written here. */
const FAR_KINDS = ['run', 'session', 'job', 'kill', 'send', 'attach', 'accept', 'discard', 'refused', 'dry_run']
/** An engine there ends its commands within their grace; a link that is cut meanwhile is not mended. */
const CLOSE_MS = 15_000
/** An ask function of the caller may never answer. */
const ANSWERS_MS = 1_000

export async function createNearEngine(settings: NearSettings): Promise<Engine> {
  const { url, options } = settings
  const { leaseMs = 600_000, linkWaitMs = 20_000, beatMs = 5_000, keep } = options.reach ?? {}
  const id = randomBytes(5).toString('hex')
  const client = randomBytes(12).toString('hex')
  const limits = { ...LIMITS, ...options.limits }
  const secrets = new SecretStore(options.secretSources ?? [])
  const linkListeners = new Set<(event: LinkEvent) => void>()
  const jobListeners = new Set<(event: JobEvent) => void>()
  const desk = createDesk(id, url, options, secrets)
  let isClosed = false
  const sessions = new Map<string, NearSession>()
  const news: Note[] = options.reach?.note === undefined ? [] : [{ code: 'place', text: options.reach.note }]
  const there = new Whereabouts(url, leaseMs, news)

  const tell = (event: LinkEvent): void => {
    for (const listener of linkListeners) attempt(() => listener(event))
  }
  const link = new Link(
    { url, client, key: settings.key, beatMs, leaseMs, open: settings.open },
    {
      hello: () => ({
        options: pack(settingsOf(options)),
        keep: keep !== undefined,
        events: jobListeners.size > 0,
        audit: !!options.audit,
        pending: calls.hello(),
        heard: calls.heard,
      }),
      onUp(wire, given, downMs, isSameBuild) {
        const arrival = there.arrive(given, downMs, isSameBuild)
        if (!given.isKnown) calls.heard = 0
        if (arrival.kind === 'same') calls.resume(wire, given)
        else if (arrival.kind === 'other') calls.loseAll(arrival.why)
        else calls.restart(wire, arrival.why)
        if (arrival.kind === 'new' || arrival.kind === 'other') tell({ kind: 'gone', reason: arrival.why })
        tell({ kind: 'up', afterMs: Math.round(downMs), place: there.place as PlaceInfo })
      },
      onMessage: (kind, payload) => take(kind, payload),
      onDown(said) {
        const reason = secrets.mask(said)
        calls.lastProblem = reason
        calls.wentDown()
        tell({ kind: 'down', reason })
        link.wake()
      },
      onGone(error) {
        there.goneWhy = secrets.mask(error.message)
        calls.loseAll(there.goneWhy, error)
        tell({ kind: 'gone', reason: there.goneWhy })
      },
    },
  )
  const calls: Calls = new Calls({
    client,
    linkWaitMs,
    masker: () => secrets.activeMasker,
    clockMs: () => there.clockMs,
    link,
    onNews({ job, audit, failure }) {
      // A listener's mistake is no reason to end the link, or this process.
      if (job) for (const listener of jobListeners) attempt(() => listener(job))
      if (audit) writeAudit(audit)
      if (typeof failure === 'string') there.failure = visible(secrets.mask(failure.slice(0, MAX_FAILURE)))
    },
  })
  const answers = new Answers({
    url,
    options,
    secrets,
    desk,
    calls,
    onRefused: (what) => news.push({ code: 'place', text: `${what}; it was refused.` }),
  })

  const endings = new Endings({
    url,
    secrets,
    news,
    cwd: () => there.welcome?.cwd ?? '',
    unknownOf: (done) => answers.unknownOf(done),
  })

  const answering = new Set<Promise<void>>()
  /** What the engine there could not do when it was closed. */
  let trouble: WireError | null = null
  const take = (kind: string, payload: Buffer): void => {
    if (calls.take(kind, payload)) return
    if (kind === 'Q') {
      const said = answers.answer(calls.hear<Question>(payload)).then((each) => link.wire?.send('q', each))
      answering.add(said)
      return void said.finally(() => answering.delete(said))
    }
    if (kind !== 'B' || !isClosed) throw new BadFrame(`${kind} is not said by far`)
    trouble = calls.hear<{ error?: WireError }>(payload).error ?? null
    link.finish()
  }

  const writeAudit = (entry: AuditEntry): void => {
    if (!FAR_KINDS.includes(entry.kind)) return
    const by = entry.by === undefined ? {} : { by: `${url} says ${entry.by}` }
    options.audit?.write({
      ...entry,
      ...by,
      at: Date.now(),
      engine: id,
      door: options.door ?? 'library',
      place: url,
    })
  }

  const begin: JobWire['begin'] = (...about) => {
    if (isClosed) throw new ShellError('CLOSED', 'The engine is closed', 'Create a new one.')
    there.throwIfReplaced()
    return calls.begin(...about)
  }

  /** The result of a call that runs nothing. */
  const answer = async <T>(call: PendingCall): Promise<T> => {
    try {
      return (await call.result) as T
    } catch (error) {
      throw error instanceof CallLost ? lossError(url, error, call.message.verb) : error
    }
  }
  /** `request`: what a person is shown where the place asks about the call. */
  const call = async <T>(
    verb: string,
    args: Record<string, unknown> = {},
    signal?: AbortSignal,
    request: RunRequest | null = null,
  ): Promise<T> => {
    const begun = begin(verb, { ...args, ...(signal?.aborted ? { aborted: true } : {}) })
    begun.request = request
    if (!signal) return answer(begun)
    const abort = (): void => calls.order(begun, { how: 'abort' })
    signal.addEventListener('abort', abort, { once: true })
    return answer<T>(begun).finally(() => signal.removeEventListener('abort', abort))
  }
  /** A method whose options are refused here as an engine here refuses them: not all that is wrong can travel. */
  const asked = async <T>(
    name: string,
    rows: Parameters<typeof checkFields>[2],
    options: object | undefined,
    args: Record<string, unknown> = {},
  ): Promise<T> => {
    checkFields(name, options, rows)
    return call(`engine.${name}`, { ...args, ...(options ? { options } : {}) })
  }
  const jobWire: JobWire = {
    ask: call,
    begin,
    order: (each, order) => calls.order(each, order),
    answer,
    maskBytes: (bytes) => secrets.activeMasker?.maskBytes(bytes) ?? bytes,
  }

  const stream = (verb: string, session: NearSession | null, request: RunRequest): RunHandle => {
    checkRequest(request, limits)
    const startedAt = performance.now()
    const args = { ...requestArgs(request), ...(session ? { session: session.name } : {}) }
    const run = new NearRun(request, session?.name ?? null, {
      begin(listener, live, isCalledOff) {
        session?.use()
        const begun = begin(verb, isCalledOff ? { ...args, aborted: true } : args, listener, live)
        begun.request = request
        return begun
      },
      order: (each, order) => calls.order(each, order),
      finish: (done, gap) => endings.of(done, session, startedAt, gap),
    })
    desk.calls.began(run)
    run.outcome.then(
      (outcome) => desk.calls.ended(run, outcome),
      () => desk.calls.ended(run, null),
    )
    return run
  }

  const sessionHost: SessionHost = {
    engine: () => ({
      id: there.welcome?.engine ?? '',
      generation: there.generation,
      cwd: there.welcome?.cwd,
      goneText: (name) =>
        sessionGoneText(url, name, there.goneWhy || 'the engine there was ended', options.persistSessions),
    }),
    known: settings.sessions,
    stream: (session, request) => stream('session.run', session, request),
    call,
    open: (name) => openSession(name),
    forget: (name) => void sessions.delete(name),
  }

  async function openSession(name = 'main'): Promise<Session> {
    const known = sessions.get(checkSessionName(name))
    if (known) return known
    const { name: given, cwd } = await call<{ name: string; cwd: string }>('engine.session', { session: name })
    const session = sessions.get(given) ?? new NearSession(given, cwd, sessionHost)
    sessions.set(given, session)
    return session
  }

  const begun = async (verb: string, request: StartRequest): Promise<{ job: Job } | { outcome: Outcome }> => {
    checkRequest(request, limits)
    const args = { ...requestArgs(request), ...(request.newId ? { newId: request.newId() } : {}) }
    const { job, outcome } = await call<{ job: string; outcome?: Outcome }>(verb, args, request.signal, request)
    return outcome ? { outcome } : { job: nearJob(job, jobWire) }
  }

  await secrets.ready
  await link.connect()
  // A place that was just found answers; from here on cuts are mended in the background.
  const first = there.welcome as Welcome
  const sessionsThere = (): Promise<readonly SessionInfo[]> => call('engine.sessions')
  desk.open(first.cwd, sessionsThere)

  let closing: Promise<void> | null = null
  const close = async (): Promise<void> => {
    isClosed = true
    // What waits for a person waits no longer; the place hears that before it is closed.
    await desk.close()
    await within(Promise.all(answering), ANSWERS_MS)
    link.wire?.send('B', { how: keep === undefined ? 'close' : 'keep' })
    await link.close(CLOSE_MS)
    calls.loseAll('the engine was closed')
    await settings.release()
    await options.audit?.close?.()
    if (trouble) throw errorFromWire(trouble)
  }

  return {
    id,
    cwd: first.cwd,
    shell: first.shell,
    run: async (request) => stream('engine.run', null, request).outcome,
    stream: (request) => stream('engine.run', null, request),
    session: openSession,
    sessions: sessionsThere,
    start: async (request) => ((await begun('engine.start', request)) as { job: Job }).job,
    begin: (request) => begun('engine.begin', request),
    async job(job) {
      await call('engine.job', { job })
      return nearJob(job, jobWire)
    },
    jobs: (which) => asked('jobs', JOBS_ROWS, which),
    clean: (which) => asked('clean', CLEAN_ROWS, which),
    async check(command, where) {
      checkRequest({ command }, limits)
      if (where?.session !== undefined) checkSessionName(where.session)
      return asked('check', CHECK_ROWS, where, { command })
    },
    sandboxPolicy: () => call('engine.sandboxPolicy'),
    async plan(request) {
      checkRequest(request, limits)
      return call('engine.plan', requestArgs(request))
    },
    tries: () => call('engine.tries'),
    changes: (which) => asked('changes', CHANGES_ROWS, which),
    async accept(wanted = {}) {
      checkFields('accept', wanted, ACCEPT_ROWS)
      const { ask: _, signal, ...rest } = wanted
      return call('engine.accept', { options: rest }, signal, { ...wanted, command: '' })
    },
    discard: (which) => asked('discard', DISCARD_ROWS, which),
    secrets: secretsFace(secrets),
    onJobEvent(listener) {
      if (jobListeners.size === 0) link.wire?.send('E', {})
      jobListeners.add(listener)
      return () => void jobListeners.delete(listener)
    },
    setAsk: (ask) => void (desk.ask = ask),
    sandbox: options.sandbox && options.sandbox.profile !== 'off' ? options.sandbox : null,
    get place() {
      return there.place
    },
    onLink(listener) {
      linkListeners.add(listener)
      return () => void linkListeners.delete(listener)
    },
    recover: (name) => endings.recover(name),
    close: () => (closing ??= close()),
  }
}
