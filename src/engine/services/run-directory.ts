/**
 * The folder of one engine below the state directory: its short-lived files, its live socket,
 * and a word about whose it is.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EngineRecord } from '../../os/helper/sweep.js'
import { processFacts } from '../../os/process/proc.js'
import { thisWorld } from '../../os/process/world.js'
import { ensurePrivateDirectory } from '../../os/files/state-dir.js'
import { attempt } from '../../contract/attempt.js'
import { pause } from '../../os/process/clock.js'

export type RunDirectoryOwner = Pick<EngineRecord, 'door' | 'cwd'>

/** A folder for this engine's short-lived files. A full or read-only state directory costs jobs, not every command. */
export function makeRunDirectory(dir: string, id: string, about: RunDirectoryOwner): string {
  try {
    return furnishRunDirectory(join(ensurePrivateDirectory(dir), id), about)
  } catch {
    return mkdtempSync(join(tmpdir(), 'cerith-run-'))
  }
}

/** With a word about whose it is: engines that start later sweep the folders of the dead. */
function furnishRunDirectory(path: string, about: RunDirectoryOwner): string {
  ensurePrivateDirectory(path)
  const record: EngineRecord = {
    pid: process.pid,
    start: processFacts(process.pid)?.start ?? '',
    ...thisWorld(),
    ...about,
  }
  writeFileSync(join(path, 'engine.json'), JSON.stringify(record), { mode: 0o600 })
  return path
}

/** For a living engine whose directory a cleaner of temporary files has removed. */
export function remakeRunDirectory(path: string, about: RunDirectoryOwner): void {
  // Told when a file cannot be written into it.
  attempt(() => furnishRunDirectory(path, about))
}

/**
 * On the lower tier a shell that has just been ended may still write its state down: a file
 * that appears meanwhile is removed too.
 */
export async function removeRunDirectory(path: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return rmSync(path, { recursive: true, force: true })
    } catch (error) {
      // The folder that it was in is a file by now.
      if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return
      if (attempt === 20) throw error
      await pause(10 * attempt)
    }
  }
}
