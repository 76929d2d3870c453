/**
 * What is written down about a job: by its engine before the start, by its keeper at the start
 * and at the end. Torn files read as missing.
 */
import { join } from 'node:path'
import type { Note } from '../../contract/note.js'
import type { SandboxPlace } from '../../contract/sandbox.js'
import type { OverLimit, Usage } from '../../contract/outcome.js'
import type { JobOwner, ResourceLimits } from '../../contract/request.js'
import { fieldsIn } from '../helper/frames.js'
import { overOf, usageOf } from '../helper/usage.js'
import type { World } from '../process/world.js'
import { readSmall, writeNew } from './directory.js'
import { isRecord, parseRecord } from '../../contract/attempt.js'

/** `job.json`, written once, before anything is started. Secret tokens in the command are unresolved. */
export interface JobRecord extends World {
  readonly id: string
  readonly command: string
  readonly description: string | null
  readonly cwd: string
  readonly owner: JobOwner
  readonly labels: Readonly<Record<string, string>>
  readonly engine: { readonly id: string; readonly pid: number; readonly start: string }
  readonly streams: 'separate' | 'merged'
  readonly pty: boolean
  readonly openStdin: boolean
  readonly createdAt: number
  readonly timeoutMs: number | null
  readonly session: string | null
  /** What confines it. Records from before this was written have none. */
  readonly sandbox: SandboxPlace | null
  readonly limits?: ResourceLimits
  /** What advice about its end depends on: the last command of its line. */
  readonly finalCommand?: string
  readonly notes: readonly Note[]
}

/** `started`, written by the keeper: pid + start time name a process for ever. */
export interface StartRecord {
  readonly pid: number
  readonly pgid: number
  readonly warden: number
  readonly wardenStart: string
  readonly leaderStart: string
  /** The first process of its own ids, in a room: no process of the job's. Null where there is none. */
  readonly init: number | null
  readonly at: number | null
  /** By the clock that is never set (`sinceBootMs`); NaN where an older version wrote it. */
  readonly clock: number
}

/** `status`, written by the keeper when the leader has ended and its output is stored. */
export interface EndRecord {
  readonly code: number
  readonly signal: number
  readonly why: string
  readonly forced: boolean
  readonly endedAt: number
  readonly clock: number
  readonly incomplete: boolean
  /** The client or person that ended it, where the caller gave a name. */
  readonly by: string | null
  readonly usage: Usage | null
  readonly over: OverLimit | null
  readonly out: StoredStream
  readonly err: StoredStream
}

export interface StoredStream {
  readonly total: number
  readonly omitted: number
  /** Where the kept bytes are: their offset in the stream, how many, and their place in the joined file. */
  readonly pieces: readonly { readonly start: number; readonly size: number; readonly at: number }[]
  /** The last bytes, when there was no room for them in a file. */
  readonly last: Uint8Array
}

const MAX_RECORD_BYTES = 64 * 1024 * 1024
const MAX_STATUS_BYTES = 65_536

/** Nothing is started before this is written: a torn record belongs to a job that never was. */
export function writeJobRecord(dir: string, record: JobRecord): void {
  writeNew(join(dir, 'job.json'), Buffer.from(JSON.stringify(record)))
}

export function readJobRecord(dir: string, id: string): JobRecord | null {
  const text = readSmall(dir, 'job.json', MAX_RECORD_BYTES)
  if (text === null) return null
  const value = parseRecord(text) as Partial<JobRecord> | null
  if (value?.id !== id || typeof value.command !== 'string' || typeof value.cwd !== 'string') return null
  if (typeof value.boot !== 'string' || typeof value.engine?.pid !== 'number' || typeof value.createdAt !== 'number')
    return null
  return {
    id,
    command: value.command,
    description: typeof value.description === 'string' ? value.description : null,
    cwd: value.cwd,
    owner: value.owner === 'detached' ? 'detached' : 'manager',
    labels: textsOf(value.labels),
    boot: value.boot,
    ...(typeof value.host === 'string' ? { host: value.host } : {}),
    engine: { id: String(value.engine.id ?? ''), pid: value.engine.pid, start: String(value.engine.start ?? '') },
    streams: value.streams === 'merged' ? 'merged' : 'separate',
    pty: value.pty === true,
    openStdin: value.openStdin === true,
    createdAt: value.createdAt,
    timeoutMs: typeof value.timeoutMs === 'number' ? value.timeoutMs : null,
    session: typeof value.session === 'string' ? value.session : null,
    sandbox: typeof value.sandbox?.room === 'string' ? value.sandbox : null,
    ...(typeof value.limits === 'object' && value.limits !== null ? { limits: value.limits } : {}),
    ...(typeof value.finalCommand === 'string' ? { finalCommand: value.finalCommand } : {}),
    notes: notesIn(value.notes),
  }
}

export function readStartRecord(dir: string): StartRecord | null {
  const fields = readFields(dir, 'started')
  if (!fields) return null
  const [pid, pgid, warden, init] = ['pid', 'pgid', 'warden', 'init'].map((name) => Number(fields[name]))
  const at = Number(fields['at'])
  const { warden_start: wardenStart, leader_start: leaderStart } = fields
  if (!isPid(pid) || !isPid(pgid) || !isPid(warden) || !wardenStart || !leaderStart) return null
  return {
    pid,
    pgid,
    warden,
    wardenStart,
    leaderStart,
    init: isPid(init) ? init : null,
    at: Number.isFinite(at) && at > 0 ? at : null,
    clock: Number(fields['clock']),
  }
}

export function readEndRecord(dir: string): EndRecord | null {
  const fields = readFields(dir, 'status')
  // The last field is the sign that the record is whole.
  if (fields?.['whole'] !== '1') return null
  const number = (key: string): number => Number(fields[key] ?? 0)
  const stream = (name: string): StoredStream => ({
    total: number(`${name}_total`),
    omitted: number(`${name}_omitted`),
    pieces: piecesOf(fields[`${name}_map`] ?? ''),
    last: Buffer.from(fields[`${name}_last`] ?? '', 'hex'),
  })
  return {
    code: number('code'),
    signal: number('signal'),
    why: fields['why'] ?? '',
    forced: fields['forced'] === '1',
    endedAt: number('ended'),
    clock: Number(fields['clock']),
    incomplete: fields['incomplete'] === '1',
    by: fields['by'] || null,
    usage: usageOf(fields),
    over: overOf(fields),
    out: stream('out'),
    err: stream('err'),
  }
}

/** `start:size@at` parted by blanks. */
function piecesOf(text: string): { start: number; size: number; at: number }[] {
  return [...text.matchAll(/(\d+):(\d+)@(\d+)/g)].map(([, start, size, at]) => ({
    start: Number(start),
    size: Number(size),
    at: Number(at),
  }))
}

function readFields(dir: string, name: string): Record<string, string> | null {
  const text = readSmall(dir, name, MAX_STATUS_BYTES)
  return text ? fieldsIn(text) : null
}

function isPid(value: number | undefined): value is number {
  return value !== undefined && Number.isInteger(value) && value > 1
}

function textsOf(value: unknown): Record<string, string> {
  const entries = Object.entries(isRecord(value) ? value : {})
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}

/** Versions before this one wrote plain sentences. */
function notesIn(value: unknown): Note[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((note: string | Partial<Note> | null) =>
    typeof note === 'string'
      ? [{ code: 'record', text: note }]
      : typeof note?.code === 'string' && typeof note.text === 'string'
        ? [{ code: note.code, text: note.text }]
        : [],
  )
}
