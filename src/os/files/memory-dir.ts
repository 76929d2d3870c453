/**
 * The folder of one engine in memory, for named pipes of sessions: on a disk each command would write the times of a pipe there.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { attempt } from '../../contract/attempt.js'

export function memoryDirectory(engine: string): string {
  return join('/dev/shm', `cerith-${engine}`)
}

/** Null where it cannot be had. What another user made there under that name is not used. */
export function makeMemoryDirectory(engine: string): string | null {
  const path = memoryDirectory(engine)
  return attempt(() => {
    mkdirSync(path, { mode: 0o700 })
    return path
  }, null)
}

export function removeMemoryDirectory(engine: string): void {
  attempt(() => rmSync(memoryDirectory(engine), { recursive: true, force: true }))
}
