/**
 * Files below a writable directory, reached by descriptor. A command may exchange any name on
 * the way for a link at any moment: every step is opened from the one before, through no link.
 */
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  writeFileSync,
  type Stats,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { isInside } from '../../contract/names/inside.js'
import { attempt } from '../../contract/attempt.js'
import { readRegular } from '../files/shared-file.js'
import { ensurePrivateDirectory } from '../files/state-dir.js'

/** The same number on every processor that has a sandbox; Node has no word for it. It needs no right to read. */
const O_PATH = 0o10000000
const THROUGH = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW
const MAX_TEXT = 1 << 20

/** A directory, open for questions about itself; -1 where it cannot be. */
export function hold(directory: string): number {
  return attempt(() => openSync(directory, THROUGH), -1)
}

/** Calls `use` with a path for the names in a directory; null where it cannot be reached without a link. */
function within<T>(root: string, directory: string, use: (held: string) => T): T | null {
  let fd = -1
  try {
    fd = openSync(root, THROUGH)
    for (const part of relative(root, directory).split('/').filter(Boolean)) {
      const next = openSync(`/proc/self/fd/${fd}/${part}`, THROUGH)
      closeSync(fd)
      fd = next
    }
    return use(`/proc/self/fd/${fd}`)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return null
    throw error
  } finally {
    if (fd >= 0) closeSync(fd)
  }
}

/** The thing itself, a link is a link; null where there is none. */
export function factsBeneath(root: string, path: string): Stats | null {
  return within(
    root,
    dirname(path),
    (held) => lstatSync(`${held}/${basename(path)}`, { throwIfNoEntry: false }) ?? null,
  )
}

export function namesBeneath(root: string, directory: string): string[] {
  return within(root, directory, (held) => readdirSync(`${held}/.`)) ?? []
}

/** The text of a small file; null where it is none. A named pipe is not waited for. */
export function textBeneath(root: string, path: string): string | null {
  return within(root, dirname(path), (held) => readSmall(`${held}/${basename(path)}`))
}

export function readSmall(path: string): string | null {
  return readRegular(path, MAX_TEXT, 'refuse')?.toString('utf8') ?? null
}

/** Makes a file where there is none. */
export function writeBeneath(root: string, path: string, text: string): void {
  within(root, dirname(path), (held) => writeFileSync(`${held}/${basename(path)}`, text, { flag: 'wx', mode: 0o644 }))
}

/** Moves one name, and never what a link leads to. Returns where it is now; throws where that cannot be done. */
export function setAside(root: string, path: string, stateDir: string): string {
  const name = basename(path)
  const mark = `${Date.now().toString(36)}-${randomBytes(3).toString('hex')}`
  // A name that is as long as names can be has no room for the mark.
  const known = name.slice(0, 60)
  // A process that stands in what is moved goes with it: a state directory inside the root would be open to it from
  // there.
  const away = isInside(stateDir, root)
    ? null
    : join(ensurePrivateDirectory(join(stateDir, 'quarantine')), `${mark}-${known}`)
  const moved = within(root, dirname(path), (held) =>
    allowing(held, name, () => {
      if (away !== null && isRenamed(`${held}/${name}`, away)) return away
      // A new name beside it, which no program looks for.
      renameSync(`${held}/${name}`, `${held}/${known}.quarantined-${mark}`)
      return join(dirname(path), `${known}.quarantined-${mark}`)
    }),
  )
  if (moved === null) throw new Error('its directory was exchanged')
  return moved
}

/** False where that is on another file system. */
function isRenamed(from: string, to: string): boolean {
  try {
    renameSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    return false
  }
}

/** A command may have taken away the owner's right to move a directory, or to change the one that holds it. */
function allowing<T>(held: string, name: string, move: () => T): T {
  try {
    return move()
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
  const holder = openSync(held, O_PATH)
  const { mode } = fstatSync(holder)
  chmodSync(`/proc/self/fd/${holder}`, (mode & 0o7777) | 0o700)
  let thing = -1
  try {
    thing = openSync(`${held}/${name}`, O_PATH | constants.O_NOFOLLOW)
    const facts = fstatSync(thing)
    if (facts.isDirectory()) chmodSync(`/proc/self/fd/${thing}`, (facts.mode & 0o7777) | 0o700)
    return move()
  } finally {
    chmodSync(`/proc/self/fd/${holder}`, mode & 0o7777)
    closeSync(holder)
    if (thing >= 0) closeSync(thing)
  }
}
