/**
 * The tries of a state directory: one folder each, with a record, and for every root the layer
 * that holds what was written.
 */
import { randomBytes } from 'node:crypto'
import {
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  chmodSync,
  chownSync,
  rmSync,
  writeFileSync,
  existsSync,
} from 'node:fs'
import { join } from 'node:path'
import { ensurePrivateDirectory } from '../files/state-dir.js'
import { namesIn } from '../files/quietly.js'
import { attempt } from '../../contract/attempt.js'

export interface TryRecord {
  readonly id: string
  readonly roots: readonly { readonly path: string; readonly dev: string; readonly ino: string }[]
  /** Names inside the roots that other programs of the person would run or believe. */
  readonly protect: readonly string[]
  readonly startedAt: number
  /** By the clock of the file system, in nanoseconds: what changed in an original from then on changed underneath. */
  readonly since: string
  usedAt: number
  keepDays: number
}

export interface TryFolder {
  readonly dir: string
  readonly record: TryRecord
}

export const TRY_ID = /^try_[0-9a-f]{10}$/
const DAY_MS = 24 * 60 * 60_000

/** A new one, whose layers are empty. */
export function makeTry(
  stateDir: string,
  roots: readonly string[],
  about: { readonly protect: readonly string[]; readonly keepDays: number },
): TryFolder {
  const id = `try_${randomBytes(5).toString('hex')}`
  const dir = ensurePrivateDirectory(join(ensurePrivateDirectory(join(stateDir, 'tries')), id))
  let since = 0n
  const known = roots.map((path, at) => {
    const upper = join(dir, String(at), 'upper')
    mkdirSync(join(dir, String(at), 'work'), { recursive: true, mode: 0o700 })
    mkdirSync(upper, { mode: 0o700 })
    // The root of the layer is what commands see of the root itself.
    const { dev, ino, mode, uid, gid } = statSync(path, { bigint: true })
    if (process.geteuid?.() === 0) chownSync(upper, Number(uid), Number(gid))
    chmodSync(upper, Number(mode) & 0o1777)
    since = statSync(upper, { bigint: true }).ctimeNs
    return { path, dev: String(dev), ino: String(ino) }
  })
  const now = Date.now()
  const record: TryRecord = { id, roots: known, since: String(since), startedAt: now, usedAt: now, ...about }
  const folder = { dir, record }
  saveTry(folder)
  return folder
}

export function saveTry({ dir, record }: TryFolder): void {
  const file = join(dir, 'try.json')
  writeFileSync(`${file}.new`, JSON.stringify(record), { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

/** Null where there is none, or none that can be read. */
export function findTry(stateDir: string, id: string): TryFolder | null {
  if (!TRY_ID.test(id)) return null
  const dir = join(stateDir, 'tries', id)
  const record = attempt(() => JSON.parse(readFileSync(join(dir, 'try.json'), 'utf8')) as Partial<TryRecord> | null)
  return record?.id === id && Array.isArray(record.roots) ? { dir, record: record as TryRecord } : null
}

/** The one that was used last comes first. */
export function listTries(stateDir: string): TryFolder[] {
  return namesIn(join(stateDir, 'tries'))
    .flatMap((id) => findTry(stateDir, id) ?? [])
    .sort((a, b) => b.record.usedAt - a.record.usedAt)
}

export function keptUntil({ usedAt, keepDays }: TryRecord): number {
  return usedAt + keepDays * DAY_MS
}

/** Of the same directories, which are still the same. */
export function isOf({ record }: TryFolder, roots: readonly string[]): boolean {
  return (
    record.roots.length === roots.length &&
    record.roots.every(({ path, dev, ino }, at) => {
      const facts = path === roots[at] ? statSync(path, { bigint: true, throwIfNoEntry: false }) : undefined
      return String(facts?.dev) === dev && String(facts?.ino) === ino
    })
  )
}

/** An accept was killed: the next look finishes or undoes what was on its way. */
export function isUnfinished({ dir, record }: TryFolder): boolean {
  return record.roots.some((_, at) => existsSync(join(dir, String(at), 'journal')))
}

/** Everything was accepted: what is written from now on is a new beginning. The layers hold nothing but empty ways. */
export function beginAgain({ dir, record }: TryFolder): void {
  const file = join(dir, 'again')
  writeFileSync(file, '')
  const since = String(statSync(file, { bigint: true }).ctimeNs)
  // The marks of what was accepted stay: it may bear the very tick of the clock that this file does.
  rmSync(file)
  saveTry({ dir, record: { ...record, since } })
}
