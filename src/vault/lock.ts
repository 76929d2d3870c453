/** Lets one process at a time write a vault. A lock left behind by a process that died is taken over. */
import { basename, dirname, join } from 'node:path'
import { takeLockFile } from '../os/files/lock.js'
import { namesIn, removeQuietly } from '../os/files/quietly.js'
import { isAlive } from '../os/process/proc.js'
import { VaultError } from './error.js'

/** Runs `work` while holding `<file>.lock`, waiting up to `waitMs` for another holder. */
export async function withVaultLock<T>(file: string, waitMs: number, work: () => Promise<T>): Promise<T> {
  const lock = await takeLockFile(`${file}.lock`, { waitMs })
  if (!lock.held)
    throw new VaultError(
      'VAULT_LOCKED',
      'Another process is writing the vault.',
      `Try again; if no cerith is running, remove ${file}.lock.`,
    )
  try {
    sweep(file)
    return await work()
  } finally {
    lock.release()
  }
}

/**
 * Removes what writers that were killed left behind: half-made vaults, which only the holder of
 * the lock makes, and lock drafts of the dead.
 */
function sweep(file: string): void {
  const left = /^\.(?:[0-9a-f]{12}|lock\.(\d+)\.[0-9a-f]{8})$/
  for (const name of namesIn(dirname(file))) {
    const found = name.startsWith(basename(file)) ? left.exec(name.slice(basename(file).length)) : null
    if (found && !(found[1] && isAlive(Number(found[1])))) removeQuietly(join(dirname(file), name))
  }
}
