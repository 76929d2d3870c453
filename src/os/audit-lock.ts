/** A lock between the processes that write one audit log. Held for less than a millisecond; a holder that died is taken over. */
import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { isAlive } from './proc.js'

const WAIT_MS = 1_000

export interface AuditLock {
  /** False when it could not be had in time: the line is written all the same and says so. */
  readonly held: boolean
  release(): void
}

export async function takeAuditLock(path: string): Promise<AuditLock> {
  // Linking a complete file into place is atomic: nobody ever sees a lock without its owner.
  const mine = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  writeFileSync(mine, String(process.pid), { mode: 0o600 })
  try {
    for (let waited = 0, pause = 1; ; waited += pause, pause = Math.min(20, pause * 2)) {
      try {
        linkSync(mine, path)
        return { held: true, release: () => unlinkQuietly(path) }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      }
      if (isAbandoned(path)) unlinkQuietly(path)
      else if (waited > WAIT_MS) return { held: false, release: () => {} }
      else await new Promise((resolve) => setTimeout(resolve, pause))
    }
  } finally {
    unlinkQuietly(mine)
  }
}

function isAbandoned(path: string): boolean {
  try {
    const pid = Number(readFileSync(path, 'utf8'))
    return !isAlive(pid) || Date.now() - statSync(path).mtimeMs > 10_000
  } catch {
    return false // Released meanwhile.
  }
}

function unlinkQuietly(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // Somebody else did.
  }
}
