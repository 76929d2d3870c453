/**
 * What a verdict found on the disk, and whether the disk still says so: a kept verdict that
 * rests on it is asked for again.
 */
import { lstatSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { attempt } from '../../../contract/attempt.js'
import type { Verdict } from '../../../contract/verdict.js'
import { PACKED } from '../../../guard/programs/row/decoding.js'
import { GUARD_LIMITS } from '../../../guard/words/limits.js'
import { isListed } from '../../../os/files/git-index.js'
import { readRegular } from '../../../os/files/shared-file.js'

const INDEX = '/.git/index/'

/**
 * The real path behind links; undefined where nothing is. Asking for what is missing is the
 * usual case and must not throw. Below `.git/index` are the names that git tracks.
 */
export function realPath(path: string): string | undefined {
  return attempt(() => {
    const at = path.lastIndexOf(INDEX)
    if (at >= 0) return isListed(path.slice(0, at + INDEX.length - 1), path.slice(at + INDEX.length)) ? path : undefined
    return lstatSync(path, { throwIfNoEntry: false }) === undefined ? undefined : realpathSync.native(path)
  })
}

export function stillHolds(verdict: Pick<Verdict, 'looked'>): boolean {
  return verdict.looked.every(({ path, real }) => (realPath(path) ?? null) === real)
}

/**
 * Whether the disk says another thing than the guard knows: a file that got a secret is known by the secret's name,
 * which does not stand in it; a copy of a program by what it starts; an archive by what was packed; and a descriptor
 * is the shell's.
 */
export function isNotOnDisk(path: string, known: string): boolean {
  return known.includes('{{') || known.startsWith('exec /') || known.startsWith(PACKED) || path.startsWith('/dev/fd/')
}

/** The text of a file; null where the file is missing or long; `before` for a pipe, whose text cannot be looked at. */
export function shortText(path: string, before: string): string | null {
  const look = (): string | null => {
    const facts = statSync(path)
    if (!facts.isFile()) return before
    return readRegular(path, GUARD_LIMITS.keptFileChars, 'follow')?.toString('utf8') ?? null
  }
  return attempt(look, null)
}

/** Paths by the names that they are given and by those that they have behind links, as the disk is now. */
export function namesOf(paths: readonly string[]): string[] {
  const real = (path: string): string =>
    realPath(path) ?? join(realPath(dirname(path)) ?? dirname(path), basename(path))
  return [...new Set(paths.flatMap((path) => [path, real(path)]))]
}

/** Files of the state directory that no command may read. */
export function secretFiles(stateDir: string): string[] {
  return namesOf(['vault', 'vault.key', 'http-tokens'].map((name) => join(stateDir, name)))
}
