/**
 * Jobs of an engine: runs that are kept. Everything about one is in its directory, so this file
 * only starts, finds, lists and removes.
 */
import { badRequest, ShellError } from '../../contract/errors.js'
import type { Job, JobEvent, JobInfo } from '../../contract/job.js'
import type { Outcome } from '../../contract/outcome.js'
import type { StartRequest } from '../../contract/request.js'
import { endStrays, strayProcesses } from '../../os/job/control.js'
import { findJobDirectory } from '../../os/job/directory.js'
import { readEndRecord } from '../../os/job/record.js'
import { auditOutcome } from '../call/audit.js'
import { deliverCommand, isRefusal } from '../plan/delivery.js'
import { within } from '../services/within.js'
import type { Promote } from '../call/supervision.js'
import { passGate } from '../plan/gate.js'
import { endLeftovers, followAdopted, infoAt } from './adopt.js'
import { cleanByLimits, cleanJobs } from './clean.js'
import { JobHandle } from './handle.js'
import { jobState } from './look/info.js'
import { createJobList } from './look/list.js'
import { followJob, isRunning, JobNews, startOf, type LiveJob } from './look/live.js'
import { promoteRun } from './promote.js'
import { insideFor } from '../services/inside.js'
import { startJob, type Restore, type StartedJob } from './start.js'
import { abortedOutcome, refusedOutcome, runningOutcome } from '../services/outcomes.js'
import { withDirectoryEnv } from '../plan/directory-env.js'
import { planRun, type Surroundings } from '../plan/plan.js'
import type { Services } from '../services/services.js'
import { CLEAN_ROWS, checkFields, JOBS_ROWS } from '../plan/fields.js'
import { wrongValue } from '../plan/wrong-value.js'
import { attempt } from '../../contract/attempt.js'

const TIDY_AFTER_MS = 300
const CLOSE_PATIENCE_MS = 10_000
/** What a job costs on disk besides its output. */
const RECORDS_BYTES = 16_384

/** What a job that starts from a session needs of it. */
export interface SessionSource {
  /** Of a command without a session too. */
  surroundings(name: string | undefined): Promise<Surroundings>
  /** What gives a fresh shell the state of this session. */
  restore(name: string): Promise<Restore>
}

export interface Jobs {
  /** Throws REFUSED where `begin` returns an outcome. */
  start(request: StartRequest, sessions: SessionSource): Promise<Job>
  begin(request: StartRequest, sessions: SessionSource): Promise<{ readonly job: Job } | { readonly outcome: Outcome }>
  get(id: string): Promise<Job>
  list(which?: { readonly all?: boolean }): Promise<readonly JobInfo[]>
  clean(which?: { readonly olderThanMs?: number }): Promise<{ readonly removed: readonly string[] }>
  onEvent(listener: (event: JobEvent) => void): () => void
  readonly promote: Promote | null
  /** Takes a job that another part of this engine started (a run on a terminal) into the list of its own. */
  adopt(started: StartedJob): void
  close(): Promise<void>
}

export function createJobs(services: Services): Jobs {
  const live = new Map<string, LiveJob>()
  const news = new JobNews()
  const { stateDir, limits } = services
  const list = createJobList(stateDir, (id) => {
    const job = live.get(id)
    return job ? startOf(job) : null
  })
  let starting = 0
  let unfollow: (() => void) | null = null
  let unlooked = 0

  // Off the way of the first command: what earlier engines left, and what is too old or too much.
  const tidy = (): void => {
    unlooked = 0
    // Cleaning up is a courtesy; the next engine tries again.
    attempt(() => cleanByLimits(stateDir, limits))
  }
  const later = setTimeout(() => {
    if (services.state.closed) return
    void endLeftovers(stateDir).catch(() => {})
    tidy()
  }, TIDY_AFTER_MS).unref()

  const adopt = ({ record, dir, ward }: StartedJob): LiveJob => {
    const { id } = record
    const job = followJob(
      { id, dir, ward, apart: record.streams === 'separate', owner: record.owner, command: record.command },
      news,
      () => infoAt(dir, id, startOf({ ward })),
    )
    live.set(id, job)
    void ward.gone.then(async () => {
      await job.ended
      // A destroyed keeper can end nothing any more; what it kept must not outlive the engine all the same.
      if (ward.state.exited?.lost && record.owner === 'manager' && !services.state.closed)
        await endStrays(() => strayProcesses(id, startOf({ ward })), 0)
      live.delete(id)
      unlooked += Math.min(job.printed(), limits.storedBytes) + RECORDS_BYTES
      if (unlooked > limits.totalStoredBytes / 16) tidy()
    })
    const info = news.heard ? infoAt(dir, id, startOf(job)) : null
    if (info) news.tell({ kind: 'started', info })
    return job
  }

  const handle = (id: string, dir: string): Job => new JobHandle(id, dir, services, news, live.get(id) ?? null)

  const running = (): LiveJob[] => [...live.values()].filter(({ ward }) => !ward.state.exited)

  const begin: Jobs['begin'] = async (request, sessions) => {
    // Its fields are asked for before the plan checks them.
    if (typeof request !== 'object' || request === null)
      throw wrongValue('a request must be an object with a command', request, 'Pass { command: "..." }.')
    // A job may outlive its engine, which writes recordings.
    if ('record' in request && request.record !== undefined)
      throw badRequest(
        'Bad request: a job cannot be recorded',
        'Record a foreground run (engine.run with pty and record), or leave record out.',
      )
    const around = await sessions.surroundings(request.session)
    // A session has the variables of its directory already.
    const placed = request.session === undefined ? (await withDirectoryEnv(request, services)).request : request
    const plan = await planRun(placed, around, services, true)
    const stopped = await passGate(plan, services)
    if (stopped) return { outcome: stopped }
    if (request.signal?.aborted) return { outcome: abortedOutcome(plan) }
    const delivered = await deliverCommand(plan, services)
    if (isRefusal(delivered)) return { outcome: refusedOutcome(delivered, plan) }
    const restore = request.session === undefined ? null : await sessions.restore(request.session)
    // An end may be on disk before we were told of it.
    const taken =
      running().length + starting < limits.maxRunningJobs
        ? []
        : running().filter(({ dir }) => readEndRecord(dir) === null)
    if (taken.length + starting >= limits.maxRunningJobs) throw tooMany(taken, starting, limits.maxRunningJobs)
    starting += 1
    let begun!: () => void
    const call = { outcome: new Promise<void>((resolve) => (begun = resolve)), adorn: null }
    try {
      const inside = services.sandbox || request.sandbox ? await insideFor(services, request, call) : services
      const started = await startJob(plan, delivered, restore, inside)
      adopt(started)
      return { job: handle(started.record.id, started.dir) }
    } finally {
      starting -= 1
      begun()
    }
  }

  const audited: Jobs['begin'] = (request, sessions) => {
    const result = begin(request, sessions)
    if (services.audit)
      auditOutcome(
        services,
        request,
        'job',
        request.session ?? null,
        result.then(async (begun) => ('outcome' in begun ? begun.outcome : startedOutcome(await begun.job.info()))),
      )
    return result
  }

  return {
    begin: audited,
    async start(request, sessions) {
      const begun = await audited(request, sessions)
      if ('job' in begun) return begun.job
      throw notStarted(begun.outcome)
    },
    async get(id) {
      const found = findJobDirectory(stateDir, id)
      if (found && (live.has(id) || jobState(found.dir, id))) return handle(id, found.dir)
      // A job that runs is there also when its files were removed: it says so, and can be ended.
      const running = live.get(id)
      if (running && isRunning(running)) return handle(id, running.dir)
      throw notFound(id, list())
    },
    async list(which) {
      checkFields('jobs', which, JOBS_ROWS)
      const infos = list()
      return which?.all ? infos : infos.filter((info) => info.isRunning)
    },
    async clean(which) {
      checkFields('clean', which, CLEAN_ROWS)
      return cleanJobs(stateDir, which?.olderThanMs ?? 0)
    },
    onEvent(listener) {
      unfollow ??= followAdopted(stateDir, (id) => live.has(id), news)
      return news.subscribe(listener)
    },
    promote: (run) => promoteRun(run, services, (job) => void adopt(job)),
    adopt: (started) => void adopt(started),
    async close() {
      clearTimeout(later)
      unfollow?.()
      const ending = [...live.values()].filter(({ owner }) => owner === 'manager')
      for (const { ward } of ending) ward.kill({ graceMs: limits.graceMs, why: 'close' })
      // A process that the kernel does not let go (a dead disk) must not hold the host too; its keeper stays with it.
      await within(
        Promise.all(ending.map(({ ward, ended }) => Promise.all([ward.gone, ended]))),
        limits.graceMs + CLOSE_PATIENCE_MS,
      )
    },
  }
}

function startedOutcome(info: JobInfo): Outcome {
  const outcome = runningOutcome({
    outputFile: info.outputFile,
    durationMs: 0,
    cwd: info.cwd,
    pid: info.pid,
    pgid: info.pgid,
    id: info.id,
    notes: info.notes,
  })
  return info.sandbox ? { ...outcome, sandbox: { ...info.sandbox, blocked: [] } } : outcome
}

function notStarted(outcome: Outcome): ShellError {
  if (outcome.refused) return new ShellError('REFUSED', outcome.refused.reason, outcome.refused.guidance)
  if (outcome.status === 'dry_run')
    return new ShellError(
      'REFUSED',
      outcome.stdout,
      'This was a dry run; use `begin` to get its plan, or leave dryRun out.',
    )
  if (outcome.end?.kind === 'exit')
    return badRequest(
      `The command cannot be run: ${outcome.stderr.trim() || 'bash does not accept it'}`,
      'Fix its syntax; nothing of it was run.',
    )
  return new ShellError(
    'REFUSED',
    'The request was cancelled before it started; nothing was run.',
    'Start it again without the aborted signal.',
  )
}

function tooMany(jobs: readonly LiveJob[], starting: number, limit: number): ShellError {
  const listed = jobs.slice(0, 20).map(({ id, command }) => `${id} (${command.slice(0, 40)})`)
  const others = starting > 0 ? ` and ${starting} that are being started` : ''
  const names = listed.length > 0 ? `: ${listed.join(', ')}` : ''
  return new ShellError(
    'TOO_MANY_RUNS',
    `There are already ${jobs.length} running jobs${others} (the limit is ${limit})${names}` +
      (jobs.length > 20 ? ', ...' : ''),
    'Kill or wait for one of them, or raise limits.maxRunningJobs; it is there to stop a runaway, not to share ' +
      'a machine.',
  )
}

export function notFound(id: string, jobs: readonly JobInfo[]): ShellError {
  const known = jobs.slice(-20).map((info) => `${info.id} (${info.status})`)
  return new ShellError(
    'JOB_NOT_FOUND',
    `Job not found: ${String(id).slice(0, 80)}`,
    known.length > 0 ? `Existing ids: ${known.join(', ')}.` : 'There are no jobs.',
  )
}
