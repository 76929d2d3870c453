/**
 * What a verdict found on the disk, and whether the disk still says so: a kept verdict that
 * rests on it is asked for again.
 */
import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { attempt } from '../../../contract/attempt.js'
import type { Verdict } from '../../../contract/verdict.js'

/**
 * The real path behind links; undefined where nothing is. Asking for what is missing is the
 * usual case and must not throw.
 */
export function realPath(path: string): string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined ? undefined : realpathSync.native(path)
  } catch {
    return undefined
  }
}

export function stillHolds(verdict: Pick<Verdict, 'looked'>): boolean {
  return verdict.looked.every(({ path, real }) => (realPath(path) ?? null) === real)
}

const MOST_BYTES = 4_000

/** Null where there is no such file, or a long one. */
export function shortText(path: string): string | null {
  const isShort = (): boolean => {
    const facts = statSync(path)
    return facts.isFile() && facts.size <= MOST_BYTES
  }
  return attempt(() => (isShort() ? readFileSync(path, 'utf8') : null), null)
}

/** Paths by the names that they are given and by those that they have behind links, as the disk is now. */
export function namesOf(paths: readonly string[]): string[] {
  const real = (path: string): string =>
    realPath(path) ?? join(realPath(dirname(path)) ?? dirname(path), basename(path))
  return [...new Set(paths.flatMap((path) => [path, real(path)]))]
}
