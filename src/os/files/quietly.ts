/** Looking, closing and removing where the thing may be gone already, which is as good as an empty one. */
import { accessSync, closeSync, readdirSync, unlinkSync } from 'node:fs'
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

/** `mode`: what is asked for, as R_OK, W_OK or X_OK of the constants of `fs`. */
export function mayAccess(path: string, mode: number): boolean {
  return attempt(() => accessSync(path, mode) === undefined, false)
}
