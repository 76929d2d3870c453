/** Closing and removing where the thing may be gone already, which is as good. */
import { closeSync, unlinkSync } from 'node:fs'

export function closeQuietly(fd: number): void {
  try {
    closeSync(fd)
  } catch {
    // It was closed.
  }
}

export function removeQuietly(file: string): void {
  try {
    unlinkSync(file)
  } catch {
    // Gone already, or with its folder.
  }
}
