/** Looks at a try, accepts from it, discards it. Permission is checked by the caller (`engine/changes.ts`). */
import { createHash } from 'node:crypto'
import { chosen, withDirectories, type Entry } from '../../confine/changes.js'
import type { Accepted, AcceptOptions, Change, Changes, ChangesOptions, Discarded } from '../../contract/changes.js'
import { unifiedDiff } from '../../output/unified-diff.js'
import { acceptEntries, readSides, removeTry, scanTry } from './try-helper.js'
import { beginAgain, keptUntil, type TryFolder } from './try-store.js'
import { attempt } from '../../contract/attempt.js'

/** How much of a try is shown as text. */
const MAX_DIFFED = 500

/** `cwd`: what relative paths count from. */
export async function changesOf(folder: TryFolder, options: ChangesOptions, cwd: string): Promise<Changes> {
  const entries = chosen(await scanTry(folder), options.paths, cwd)
  const { record } = folder
  return {
    id: record.id,
    roots: record.roots.map(({ path }) => path),
    startedAt: record.startedAt,
    keptUntil: keptUntil(record),
    digest: digestOf(entries),
    changes: options.text ? await withText(folder, entries) : entries.map(({ change }) => change),
  }
}

/** What an accept with these options would take and leave, before a person is asked. */
export interface Intent {
  readonly taken: readonly Entry[]
  readonly kept: Accepted['kept']
  readonly digest: string
  /** How many changes there are. */
  readonly count: number
}

export async function intentOf(folder: TryFolder, options: AcceptOptions, cwd: string): Promise<Intent> {
  const all = await scanTry(folder)
  const picked = chosen(all, options.paths, cwd)
  const digest = digestOf(picked)
  if (options.digest !== undefined && options.digest !== digest)
    return {
      taken: [],
      kept: picked.map(({ change }) => ({ path: change.path, reason: 'it is not what was looked at; look again' })),
      digest,
      count: all.length,
    }
  const problems = new Map(picked.map((entry) => [entry, problemOf(entry.change, options)]))
  const willing = picked.filter((entry) => problems.get(entry) === null)
  // A new directory that may not be accepted keeps everything in it.
  const taken = withDirectories(willing, all).filter((entry) => problemOf(entry.change, options) === null)
  const mistaken = (options.paths ?? []).filter((path) => chosen(all, [path], cwd).length === 0)
  const kept = picked.flatMap((entry) => {
    const reason = problems.get(entry)
    return reason ? [{ path: entry.change.path, reason }] : []
  })
  return {
    taken,
    kept: [...kept, ...mistaken.map((path) => ({ path, reason: 'nothing of this name was changed' }))],
    digest,
    count: all.length,
  }
}

function problemOf(change: Change, { force, protected: alsoProtected }: AcceptOptions): string | null {
  if (change.refused !== null) return change.refused
  if (change.conflict !== null && (!force || change.conflict.startsWith('it cannot'))) return change.conflict
  if (change.protected && !alsoProtected) return 'it is protected: other programs of the person would run or believe it'
  return null
}

export async function acceptFrom(
  folder: TryFolder,
  { taken, kept }: Intent,
  { force, isGoingOn }: { readonly force: boolean; readonly isGoingOn: boolean },
): Promise<Accepted> {
  const done = taken.length > 0 ? await acceptEntries(folder, taken, force) : []
  const left = (await scanTry(folder)).length
  // An engine that is still at it begins anew; else nothing is left to keep.
  if (left === 0 && isGoingOn) beginAgain(folder)
  else if (left === 0) await removeTry(folder).catch(() => {})
  return {
    id: folder.record.id,
    accepted: done.flatMap(({ entry, problem }) => (problem === null ? [entry.change.path] : [])),
    kept: [
      ...done.flatMap(({ entry, problem }) => (problem === null ? [] : [{ path: entry.change.path, reason: problem }])),
      ...kept,
    ],
    left,
    refused: null,
    approvalId: null,
  }
}

export async function discardTry(folder: TryFolder): Promise<Discarded> {
  // Also finishes or undoes what a killed accept left in the original.
  const discarded = await scanTry(folder).then(
    (entries) => entries.map(({ change }) => change.path),
    () => [], // A root is gone: there is nothing to compare with.
  )
  await removeTry(folder)
  return { id: folder.record.id, discarded }
}

/** Of exactly these changes: a file that is written again has another. */
function digestOf(entries: readonly Entry[]): string {
  const hash = createHash('sha256')
  for (const { index, bytes, upper, lower } of entries)
    hash.update(`${index}\0${bytes}\0${upper}\0${lower}\0`, 'latin1')
  return hash.digest('hex').slice(0, 32)
}

async function withText(folder: TryFolder, entries: readonly Entry[]): Promise<Change[]> {
  const files = entries
    .filter(({ change }) => [change.before, change.after].some((side) => side?.type === 'file') && isContent(change))
    .slice(0, MAX_DIFFED)
  const sides = await readSides(folder, files)
  const texts = new Map(files.map((entry, at) => [entry, textOf(entry.change, sides[at]!)]))
  return entries.map((entry) => ({ ...entry.change, diff: texts.get(entry) ?? null }))
}

function isContent({ kind, parts }: Change): boolean {
  return kind === 'deleted' || parts.includes('content')
}

function textOf({ path, before, after }: Change, [old, fresh]: readonly [Buffer | null, Buffer | null]): string | null {
  const one = before?.type === 'file' ? decoded(old) : ''
  const other = after?.type === 'file' ? decoded(fresh) : ''
  if (one === null || other === null) return null
  return unifiedDiff(one, other, { from: before ? path : '/dev/null', to: after ? path : '/dev/null' })
}

/** Null for what is no text. */
function decoded(bytes: Buffer | null): string | null {
  if (bytes === null || bytes.includes(0)) return null
  return attempt(() => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), null)
}
