/** A lock between processes: a file that names its owner. An owner that died is noticed, and its lock is taken over. */
import { randomBytes } from 'node:crypto'
import { chmodSync, linkSync, mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs'
import { pause, sinceBootMs } from '../process/clock.js'
import { isAlive, processFacts } from '../process/proc.js'
import { thisWorld, whereIs } from '../process/world.js'
import { attempt } from '../../contract/attempt.js'
import { removeQuietly } from './quietly.js'

export interface LockOptions {
  /** Give up after so long. Default: never. */
  readonly waitMs?: number
  /** A lock that is older than this is taken for abandoned. Default: only when its owner is gone. */
  readonly heldAtMostMs?: number
  /** Told once when it has to wait, with the process that holds it. */
  readonly onWait?: (owner: number) => void
  readonly signal?: AbortSignal
}

export interface LockFile {
  /** False when it could not be had in time, or waiting was given up. */
  readonly held: boolean
  /** When the lock was made that a process had left behind; null when there was none. */
  readonly abandonedSince: number | null
  release(): void
}

export async function takeLockFile(path: string, options: LockOptions = {}): Promise<LockFile> {
  // Linking a complete file into place is atomic: no process ever sees a lock without its owner.
  const mine = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  let told = false
  let abandonedSince: number | null = null
  try {
    const { boot, host } = thisWorld()
    // As `sinceBootMs`, but to the nanosecond: no two locks of one process say the same.
    const since = Number(process.hrtime.bigint()) / 1e6
    const about = [process.pid, processFacts(process.pid)?.start ?? '', since, host, boot].join(' ')
    writeFileSync(mine, about, { mode: 0o600 })
    // With any umask: a lock that cannot be read is neither given back nor taken over.
    chmodSync(mine, 0o600)
    for (let waited = 0, pauseMs = 1; ; waited += pauseMs, pauseMs = Math.min(20, pauseMs * 2)) {
      try {
        linkSync(mine, path)
        return { held: true, abandonedSince, release: () => giveBack(path, about) }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      }
      const owner = ownerOf(path)
      if (owner && isAbandoned(owner, options)) {
        abandonedSince = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? abandonedSince
        if (removeAbandoned(path, options)) continue
      }
      if (options.signal?.aborted || waited > (options.waitMs ?? Infinity))
        return { held: false, abandonedSince, release: () => {} }
      if (owner && !told && waited > 200) {
        told = true
        options.onWait?.(owner.pid)
      }
      await pause(pauseMs)
    }
  } finally {
    removeQuietly(mine)
  }
}

/** A process that stood still for longer than it may hold the lock finds another's in its place, and leaves it. */
function giveBack(path: string, about: string): void {
  if (attempt(() => readFileSync(path, 'utf8'), null) === about) removeQuietly(path)
}

/**
 * Between reading a dead owner's name and removing its lock, another process may have taken it. So only one process
 * at a time may remove, and it looks again first: no other process can remove a dead owner's lock in between.
 */
function removeAbandoned(path: string, options: LockOptions): boolean {
  const guard = `${path}.removing`
  try {
    mkdirSync(guard)
  } catch {
    const made = statSync(guard, { throwIfNoEntry: false })
    // The process that was removing died too.
    if (made && Math.abs(Date.now() - made.mtimeMs) > 5_000) attempt(() => rmdirSync(guard))
    return false
  }
  try {
    const owner = ownerOf(path)
    if (owner && isAbandoned(owner, options)) removeQuietly(path)
    return true
  } finally {
    attempt(() => rmdirSync(guard))
  }
}

const KEPT_ELSEWHERE_MS = 24 * 60 * 60_000

interface Owner {
  readonly pid: number
  readonly start: string
  /** When its wait for the lock began; NaN in the file of an older version. */
  readonly since: number
  readonly where: ReturnType<typeof whereIs>
  readonly madeAt: number
}

/** Null when it was released meanwhile. One of another user cannot be read, and would be waited for without an end. */
function ownerOf(path: string): Owner | null {
  try {
    const [pid = '', start = '', since, host, ...boot] = readFileSync(path, 'utf8').split(' ')
    const where = host === undefined ? 'here' : whereIs({ host, boot: boot.join(' ') })
    return { pid: Number(pid), start, since: Number(since), where, madeAt: statSync(path).mtimeMs }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') throw error
    return null
  }
}

/** Of an owner on another machine only the age of its lock is known. */
function isAbandoned({ pid, start, since, where, madeAt }: Owner, { heldAtMostMs = Infinity }: LockOptions): boolean {
  if (where === 'elsewhere') return Date.now() - madeAt > Math.min(heldAtMostMs, KEPT_ELSEWHERE_MS)
  if (where === 'gone') return true
  return !(pid > 0) || !isAlive(pid, start || undefined) || sinceBootMs() - since > heldAtMostMs
}
