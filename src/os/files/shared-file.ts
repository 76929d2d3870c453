/**
 * Files in directories that commands can write too, such as the workspace or the folder of a session: any name there
 * may have become a link, or a pipe that never says anything, in this moment.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, readlinkSync, rmSync, unlinkSync } from 'node:fs'
import { attempt } from '../../contract/attempt.js'

/** What a command leaves for the engine is short. */
const MAX_TAKEN = 1 << 20
const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW, O_WRONLY, O_CREAT, O_EXCL } = constants

/**
 * The bytes of a regular file; null where it is none, or is longer than that. `refuse`: the last name is no link;
 * `none`: no name on the way is one, so the path must be canonical.
 */
export function readRegular(path: string, maxBytes: number, links: 'refuse' | 'none' | 'follow'): Buffer | null {
  const read = (fd: number): Buffer | null => {
    if (links === 'none' && readlinkSync(`/proc/self/fd/${fd}`) !== path) return null
    const facts = fstatSync(fd)
    return facts.isFile() && facts.size <= maxBytes ? readFileSync(fd) : null
  }
  return attempt(() => whileOpen(path, O_RDONLY | O_NONBLOCK | (links === 'follow' ? 0 : O_NOFOLLOW), read), null)
}

/** What `use` gives for a file that is open only so long; `mode` is that of a new one. */
export function whileOpen<T>(path: string, flags: number, use: (fd: number) => T, mode = 0o600): T {
  const fd = openSync(path, flags, mode)
  try {
    return use(fd)
  } finally {
    closeSync(fd)
  }
}

/** The text of a file that a command left for the engine, which is gone then; null where it left none. */
export function takeText(path: string): string | null {
  const text = readRegular(path, MAX_TAKEN, 'refuse')
  attempt(() => unlinkSync(path))
  return text === null ? null : text.toString('utf8')
}

/** A file that was not there before, in the place of whatever is: opened for writing. */
export function openAnew(path: string): number {
  rmSync(path, { force: true })
  return openSync(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
}
