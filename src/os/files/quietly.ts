/** Looking, closing and removing where the thing may be gone already, which is as good as an empty one. */
import { accessSync, closeSync, readdirSync, statSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { attempt } from '../../contract/attempt.js'

export function closeQuietly(fd: number): void {
  attempt(() => closeSync(fd))
}

export function removeQuietly(file: string): void {
  attempt(() => unlinkSync(file))
}

/** Empty for a directory that is not there, or that may not be read. */
export function namesIn(dir: string): string[] {
  return attempt(() => readdirSync(dir), [])
}

/** Files of which the name ends so, the oldest first. */
export function filesIn(
  dir: string,
  ending: string,
): { name: string; path: string; size: number; changedAt: number }[] {
  return namesIn(dir)
    .filter((name) => name.endsWith(ending))
    .flatMap((name) => {
      const path = join(dir, name)
      const stat = statSync(path, { throwIfNoEntry: false })
      return stat ? [{ name, path, size: stat.size, changedAt: stat.mtimeMs }] : []
    })
    .sort((a, b) => a.changedAt - b.changedAt)
}

/** `mode`: what is asked for, as R_OK, W_OK or X_OK of the constants of `fs`. */
export function mayAccess(path: string, mode: number): boolean {
  return attempt(() => accessSync(path, mode) === undefined, false)
}
