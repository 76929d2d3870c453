/**
 * One directory per job, named by its id: made so that no other job can have it, listed without
 * trusting what is in there, removed at once.
 */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { ShellError } from '../../contract/errors.js'
import { ensurePrivateDirectory } from '../files/state-dir.js'
import { attempt } from '../../contract/attempt.js'
import { namesIn } from '../files/quietly.js'
import { whileOpen } from '../files/shared-file.js'

/** What an id may look like: every dialect's form, and nothing that could leave the directory. */
const ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/
const MADE_TRIES = 64

export function isJobId(id: unknown): id is string {
  return typeof id === 'string' && ID.test(id)
}

export function jobsDirectory(stateDir: string): string {
  return join(stateDir, 'jobs')
}

/**
 * Makes the directory of a new job. mkdir succeeds for one process only: that is what makes ids
 * unique per state directory.
 */
export function makeJobDirectory(stateDir: string, newId: () => string): { id: string; dir: string } {
  const jobs = ensurePrivateDirectory(jobsDirectory(stateDir))
  for (let attempt = 0; attempt < MADE_TRIES; attempt++) {
    const id = newId()
    if (!isJobId(id))
      throw new ShellError(
        'BAD_REQUEST',
        `Not usable as the id of a job: ${JSON.stringify(String(id).slice(0, 80))}`,
        'Use up to 64 letters, digits, dots, dashes and underscores.',
      )
    const dir = join(jobs, id)
    try {
      mkdirSync(dir, { mode: 0o700 })
      return { id, dir }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'EEXIST')
        throw new ShellError(
          'STATE_UNWRITABLE',
          `Cannot make a directory for the job in ${jobs} (${code})`,
          code === 'ENOSPC'
            ? 'The disk is full; free some space (`cerith clean`).'
            : 'Set CERITH_HOME to a directory of your own.',
          { cause: error },
        )
    }
  }
  throw new ShellError(
    'BAD_REQUEST',
    `The id ${JSON.stringify(newId())} is taken`,
    'Use another id, or leave `newId` out.',
  )
}

/** The ids that have a directory; links and files are not jobs. */
export function jobIds(stateDir: string): string[] {
  return attempt(
    () =>
      readdirSync(jobsDirectory(stateDir), { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && isJobId(entry.name))
        .map((entry) => entry.name),
    [],
  )
}

/**
 * The directory of a job, or null; never through a link. `made` tells a directory from a later one of the same name.
 */
export function findJobDirectory(stateDir: string, id: string): { dir: string; made: string } | null {
  if (!isJobId(id)) return null
  const dir = join(jobsDirectory(stateDir), id)
  return attempt(() => {
    const stat = lstatSync(dir)
    return stat.isDirectory() ? { dir, made: `${stat.ino}:${stat.birthtimeMs}` } : null
  }, null)
}

/** Takes the whole directory away in one step, so that two cleaners never meet in the middle of it. */
export function removeJobDirectory(dir: string): boolean {
  const aside = `${dir}${ASIDE}${randomBytes(4).toString('hex')}`
  const isMoved = attempt(() => renameSync(dir, aside) === undefined, false)
  if (isMoved) removeQuietly(aside)
  return isMoved
}

/** Directories that a cleaner moved aside and could not finish removing. */
export function removeLeftAside(stateDir: string): void {
  for (const name of namesIn(jobsDirectory(stateDir)))
    if (name.includes(ASIDE)) removeQuietly(join(jobsDirectory(stateDir), name))
}

/** A small file that must not be there yet, and never through a link. */
export function writeNew(file: string, ...parts: readonly Uint8Array[]): void {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  whileOpen(file, flags, (fd) => {
    for (const part of parts) for (let at = 0; at < part.length;) at += writeSync(fd, part, at)
  })
}

/** The text of a small file, or null; never through a link, never more than it may hold. */
export function readSmall(dir: string, name: string, maxBytes: number): string | null {
  const fd = attempt(
    () => openSync(join(dir, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK),
    null,
  )
  if (fd === null) return null
  try {
    // Nearly always one read: looking at a thousand jobs is mostly this.
    let bytes = Buffer.allocUnsafe(8_192)
    for (let have = 0; ;) {
      const got = readSync(fd, bytes, have, bytes.length - have, null)
      have += got
      if (got === 0 || have < bytes.length) return have > maxBytes ? null : bytes.toString('utf8', 0, have)
      bytes = Buffer.concat([bytes], bytes.length * 4)
    }
  } catch {
    return null
  } finally {
    closeSync(fd)
  }
}

/** What another engine removes at the same time, or the disk refuses, is found by the next cleaner. */
function removeQuietly(dir: string): void {
  attempt(() => rmSync(dir, { recursive: true, force: true }))
}

/** `~` is in no id. */
const ASIDE = '~'
