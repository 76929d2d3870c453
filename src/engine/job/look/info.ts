/** What a job is and how it is doing, from its directory alone: any process gets the same answer, days later too. */
import { ShellError } from '../../../contract/errors.js'
import type { Note } from '../../../contract/note.js'
import type { JobInfo, JobStatus } from '../../../contract/job.js'
import { type End, statusOf } from '../../../contract/outcome.js'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { hasLeftovers } from '../../../os/job/control.js'
import { lastBytes, storedSize } from '../../../os/job/output.js'
import {
  readEndRecord,
  readJobRecord,
  readStartRecord,
  type EndRecord,
  type JobRecord,
  type StartRecord,
} from '../../../os/job/record.js'
import { sinceBootMs } from '../../../os/process/clock.js'
import { hasProc, isAlive } from '../../../os/process/proc.js'
import { thisWorld, whereIs } from '../../../os/process/world.js'
import { signalName } from '../../../os/process/signals.js'
import { adviceFor } from '../../call/advice.js'
import { overNote } from '../../plan/resources.js'
import { whoTyped } from './who-typed.js'

/** A start takes milliseconds; its engine gives up on one after ten seconds. */
const MAX_PENDING_MS = 30_000
const LAST_ORDER_MS = 5_000
const ADVICE_BYTES = 4_096
const SIGXFSZ = 25

/** Everything the files say, and what the process table says about them. */
export interface JobState {
  readonly record: JobRecord
  readonly started: StartRecord | null
  readonly ended: EndRecord | null
  /** The job runs, or something that it left behind does. A keeper that has nothing left to keep is about to go. */
  readonly busy: boolean
  readonly lost: string | null
}

/**
 * Null when the directory holds nothing that is a job. An engine knows the start of its own jobs before it is on disk.
 */
export function jobState(dir: string, id: string, known: StartRecord | null = null): JobState | null {
  const written = readJobRecord(dir, id)
  const started = readStartRecord(dir) ?? (written && known)
  let ended = readEndRecord(dir)
  if (!written && !started && !ended) return null
  const record = written ?? damagedRecord(dir, id)
  const where = written ? whereIs(written) : 'here'
  const keeperAlive =
    started !== null &&
    where === 'here' &&
    (!hasProc || existsSync(`/proc/${started.warden}`)) &&
    isAlive(started.warden, started.wardenStart)
  // Without a keeper it may have recorded the end and left between our two looks.
  if (!ended && !keeperAlive) ended = readEndRecord(dir)
  const state = { record, started, ended, busy: keeperAlive || where === 'elsewhere', lost: null }
  if (ended) return { ...state, busy: keeperAlive && existsSync(join(dir, 'control')) && hasLeftovers(id, started) }
  return state.busy ? state : { ...state, lost: lossOf(record, started, where === 'here') }
}

/** Of one that has not ended as far as can be seen from here. */
export function elsewhereNotes(dir: string, record: JobRecord): Note[] {
  if (whereIs(record) !== 'elsewhere') return []
  const text =
    `It runs on ${record.host ?? 'another machine'}, which shares this state directory: only there can it be ` +
    `looked at and ended. If that machine is gone, remove ${dir}.`
  return [{ code: 'place', text }]
}

/** What is typed goes through the keeper of the job, which reads on its own machine only. */
export function checkHere(dir: string, record: JobRecord): void {
  const [note] = elsewhereNotes(dir, record)
  if (note) throw new ShellError('NOT_RUNNING', note.text, `Do it on ${record.host ?? 'that machine'}.`)
}

function lossOf(record: JobRecord, started: StartRecord | null, sameBoot: boolean): string | null {
  if (!sameBoot)
    return started ? 'the machine was restarted while it ran' : 'the machine was restarted before it was started'
  if (started) return 'its keeper was destroyed; nobody can say how it ended'
  // The order to start it may have outlived the engine by a moment.
  const age = Date.now() - record.createdAt
  if (!isAlive(record.engine.pid, record.engine.start || undefined))
    return age > LAST_ORDER_MS ? 'its engine ended before it was started' : null
  return age > MAX_PENDING_MS ? 'its keeper was destroyed before it could write anything down' : null
}

/** A job whose record was torn still has its output, its end and its processes. */
function damagedRecord(dir: string, id: string): JobRecord {
  const createdAt = statSync(dir, { throwIfNoEntry: false })?.birthtimeMs ?? 0
  const apart = statSync(join(dir, 'stderr.log'), { throwIfNoEntry: false }) !== undefined
  return {
    id,
    command: '(unknown: the record of this job is damaged)',
    description: null,
    cwd: '/',
    owner: 'manager',
    labels: {},
    ...thisWorld(),
    engine: { id: '', pid: -1, start: '' },
    streams: apart ? 'separate' : 'merged',
    pty: false,
    openStdin: false,
    createdAt,
    timeoutMs: null,
    session: null,
    sandbox: null,
    notes: [{ code: 'record', text: 'The record of this job is damaged.' }],
  }
}

export function endOfJob({ record, ended, lost }: JobState): End | null {
  if (lost !== null) return { kind: 'lost', reason: lost }
  if (!ended) return null
  if (ended.why === 'timeout') return { kind: 'timeout', afterMs: record.timeoutMs ?? 0, forced: ended.forced }
  const { why, forced, by, over } = ended
  if (why === 'caller' || why === 'close' || why === 'limit')
    return { kind: 'kill', forced, by: why, ...(by === null ? {} : { who: by }), ...(over ? { over } : {}) }
  if (ended.signal > 0) return { kind: 'signal', signal: signalName(ended.signal) }
  return { kind: 'exit', code: ended.code }
}

export function jobStatusOf(end: End | null, started: boolean): JobStatus {
  if (!end) return started ? 'running' : 'pending'
  return end.kind === 'lost' ? 'lost' : statusOf(end)
}

/** By a clock that is never set; null where its end or its beginning is known by the wall clock only. */
function durationOf({ started, ended, lost }: JobState, startedAt: number): number | null {
  if (!started || lost !== null) return null
  const kept = (ended ? ended.clock : sinceBootMs()) - started.clock
  return Number.isFinite(kept) ? kept + Math.max(0, (started.at ?? startedAt) - startedAt) : null
}

export function infoOf(dir: string, state: JobState): JobInfo {
  const { record, started, ended } = state
  const end = endOfJob(state)
  const status = jobStatusOf(end, started !== null)
  // A command that was moved here from the foreground is older than its keeper's record.
  const startedAt = Math.min(started?.at ?? Number.POSITIVE_INFINITY, record.createdAt)
  const endedAt = ended?.endedAt ?? (state.lost === null ? null : lastSign(dir, startedAt))
  const apart = record.streams === 'separate' && !record.pty
  const out = ended ? ended.out : storedSize(dir, 'output.log')
  const err = apart ? (ended ? ended.err : storedSize(dir, 'stderr.log')) : { total: 0, omitted: 0 }
  return {
    id: record.id,
    status,
    isRunning: end === null,
    command: record.command,
    description: record.description,
    cwd: record.cwd,
    owner: record.owner,
    pid: started?.pid ?? null,
    pgid: started?.pgid ?? null,
    end,
    exitCode: end?.kind === 'exit' ? end.code : null,
    signal: end?.kind === 'signal' ? end.signal : null,
    startedAt,
    endedAt,
    durationMs: Math.max(0, durationOf(state, startedAt) ?? (endedAt ?? Date.now()) - startedAt),
    outputFile: join(dir, 'output.log'),
    streams: apart ? 'separate' : 'merged',
    pty: record.pty,
    bytes: { total: out.total + err.total, omitted: out.omitted + err.omitted },
    outputComplete: ended ? !ended.incomplete : true,
    usage: ended?.usage ?? null,
    notes: notesOf(dir, state, end),
    labels: record.labels,
    engine: record.engine.id,
    session: record.session,
    sandbox: record.sandbox,
  }
}

function notesOf(dir: string, { record, ended, busy, lost }: JobState, end: End | null): Note[] {
  const notes = [...record.notes]
  const typists = record.pty ? whoTyped(dir) : null
  if (typists) notes.push({ code: 'typed-by-person', text: typists })
  if (lost !== null) notes.push({ code: 'lost', text: `Lost: ${lost}.` })
  if (!ended && lost === null) notes.push(...elsewhereNotes(dir, record))
  if (ended?.over) notes.push(overNote(ended.over, record.limits ?? null))
  if (ended?.incomplete)
    notes.push({ code: 'output-lost', text: 'Some output could not be stored (disk full or not writable).' })
  // What was told to end is being ended.
  if (ended && busy && ended.why === '')
    notes.push({ code: 'still-there', text: 'Processes that it started are still running; kill the job to end them.' })
  if (ended && statSync(join(dir, 'late.log'), { throwIfNoEntry: false }))
    notes.push({ code: 'output-late', text: 'Output that came after its end follows the rest of its output.' })
  if (ended?.signal === SIGXFSZ && (end?.kind === 'signal' || ended.why === ''))
    notes.push({ code: 'over-limit', text: 'It wrote a file larger than its limit (SIGXFSZ).' })
  if (end) notes.push(...adviceOf(dir, record, end))
  return notes
}

/**
 * What a foreground command that ended like this would be told; a job that did what it should
 * costs no look at its output.
 */
function adviceOf(dir: string, { command, cwd, streams, pty, finalCommand }: JobRecord, end: End): Note[] {
  if (end.kind !== 'timeout' && (end.kind !== 'exit' || end.code === 0)) return []
  return adviceFor({
    end,
    plan: { command, cwd, verdict: { facts: { finalCommand: finalCommand ?? null } } },
    stderr: lastWords(dir, streams === 'separate' && !pty),
    pipeStatus: null,
  })
}

/** The end of what it printed where errors are told. `apart`: it has two streams. */
export function lastWords(dir: string, apart: boolean): string {
  const file = apart ? 'stderr.log' : 'output.log'
  return lastBytes(join(dir, file), ADVICE_BYTES).replace(/\n?\[background process [^\n]*\]\n$/, '')
}

/** The end was not recorded: the last change of its output stands for it. */
function lastSign(dir: string, startedAt: number): number {
  return Math.max(
    startedAt,
    ...['output.log', 'stderr.log'].map((name) => statSync(join(dir, name), { throwIfNoEntry: false })?.mtimeMs ?? 0),
  )
}
