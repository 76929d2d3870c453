/** A lock between processes: a file that names its owner. An owner that died is noticed, and its lock is taken over. */
import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { isAlive, processFacts } from './proc.js'

export interface LockOptions {
  /** Give up after so long. Default: never. */
  readonly waitMs?: number
  /** Nobody honest holds it longer than this. Default: for as long as the owner lives. */
  readonly heldAtMostMs?: number
  /** Told once when it has to wait, with the process that holds it. */
  readonly onWait?: (owner: number) => void
  readonly signal?: AbortSignal
}

export interface LockFile {
  /** False when it could not be had in time, or waiting was given up. */
  readonly held: boolean
  release(): void
}

export async function takeLockFile(path: string, options: LockOptions = {}): Promise<LockFile> {
  // Linking a complete file into place is atomic: nobody ever sees a lock without its owner.
  const mine = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  writeFileSync(mine, `${process.pid} ${processFacts(process.pid)?.start ?? ''}`, { mode: 0o600 })
  let told = false
  try {
    for (let waited = 0, pause = 1; ; waited += pause, pause = Math.min(20, pause * 2)) {
      try {
        linkSync(mine, path)
        return { held: true, release: () => unlinkQuietly(path) }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      }
      const owner = ownerOf(path)
      if (owner && isAbandoned(path, owner, options)) {
        unlinkQuietly(path)
        continue
      }
      if (options.signal?.aborted || waited > (options.waitMs ?? Infinity)) return { held: false, release: () => {} }
      if (owner && !told && waited > 200) {
        told = true
        options.onWait?.(owner.pid)
      }
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  } finally {
    unlinkQuietly(mine)
  }
}

interface Owner {
  readonly pid: number
  readonly start: string
}

/** Null when it was released meanwhile. */
function ownerOf(path: string): Owner | null {
  try {
    const [pid = '', start = ''] = readFileSync(path, 'utf8').split(' ')
    return { pid: Number(pid), start }
  } catch {
    return null
  }
}

function isAbandoned(path: string, { pid, start }: Owner, { heldAtMostMs = Infinity }: LockOptions): boolean {
  if (!(pid > 0) || !isAlive(pid, start || undefined)) return true
  const made = statSync(path, { throwIfNoEntry: false })
  return made !== undefined && Date.now() - made.mtimeMs > heldAtMostMs
}

function unlinkQuietly(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // Somebody else did.
  }
}
