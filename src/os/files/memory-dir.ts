/**
 * The folder of one engine in memory, for named pipes of sessions: on a disk each command would write the times of a
 * pipe there.
 */
import { mkdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { attempt } from '../../contract/attempt.js'
import { namesIn, removeQuietly } from './quietly.js'

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

/**
 * The launcher removes what is in it by descriptor. Here no deeper than its folders: a detached job may write in one of
 * them.
 */
export function removeMemoryDirectory(engine: string): void {
  const path = memoryDirectory(engine)
  for (const folder of namesIn(path)) {
    for (const name of namesIn(join(path, folder))) removeQuietly(join(path, folder, name))
    attempt(() => rmdirSync(join(path, folder)))
  }
  attempt(() => rmdirSync(path))
}
