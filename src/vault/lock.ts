/** Lets one process at a time write a vault. A lock left behind by a process that died is taken over. */
import { link, open, readdir, readFile, rm, stat } from 'node:fs/promises'
import { randomBytes } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { VaultError } from './error.js'

/** Runs `work` while holding `<file>.lock`, waiting up to `waitMs` for another holder. */
export async function withVaultLock<T>(file: string, waitMs: number, work: () => Promise<T>): Promise<T> {
  const lock = `${file}.lock`
  const started = await startTimeOf(process.pid)
  const mine = `${process.pid} ${started} ${randomBytes(8).toString('hex')}\n`
  // The draft is named after its maker: killed between making the file and filling it, it must
  // still be known for what it is.
  const draft = `${lock}.${process.pid}-${started}-${randomBytes(6).toString('hex')}`
  await writePrivate(draft, mine)
  try {
    const deadline = performance.now() + waitMs
    // link() either makes the name with its content complete or fails: a half-written lock is never read.
    while (
      !(await link(draft, lock).then(
        () => true,
        (error: NodeJS.ErrnoException) => {
          if (error.code === 'EEXIST') return false
          throw error
        },
      ))
    ) {
      if (await isAbandoned(lock)) await removeIfUnchanged(lock)
      else if (performance.now() > deadline)
        throw new VaultError(
          'VAULT_LOCKED',
          'Another process is writing the vault.',
          `Try again; if no cerith is running, remove ${lock}.`,
        )
      else await sleep(20)
    }
    try {
      await sweep(file)
      return await work()
    } finally {
      if ((await readFile(lock, 'utf8').catch(() => '')) === mine) await rm(lock, { force: true })
    }
  } finally {
    await rm(draft, { force: true })
  }
}

/**
 * Removes what writers that were killed left behind: half-made vaults, which only the holder of
 * the lock makes, and lock drafts of the dead.
 */
async function sweep(file: string): Promise<void> {
  const directory = dirname(file)
  const name = basename(file)
  for (const entry of await readdir(directory)) {
    const halfMade = entry.startsWith(`.${name}.`) && /^[0-9a-f]{12}$/.test(entry.slice(name.length + 2))
    const draft = entry.startsWith(`${name}.lock.`)
      ? /^(\d+)-(\d+|unknown)-[0-9a-f]{12}$/.exec(entry.slice(name.length + 6))
      : null
    if (halfMade || (draft && (await isGone(Number(draft[1]), draft[2]))))
      await rm(join(directory, entry), { force: true })
  }
}

async function writePrivate(path: string, text: string): Promise<void> {
  const handle = await open(path, 'wx', 0o600)
  try {
    await handle.writeFile(text)
  } finally {
    await handle.close()
  }
}

/** The holder is gone, or its pid belongs to a younger process now. */
async function isAbandoned(lock: string): Promise<boolean> {
  const text = await readFile(lock, 'utf8').catch(() => undefined)
  if (text === undefined) return false
  const [pid, started] = text.split(' ')
  return isGone(Number(pid), started)
}

async function isGone(pid: number, started: string | undefined): Promise<boolean> {
  const now = await startTimeOf(pid)
  return now === 'gone' || (now !== 'unknown' && started !== 'unknown' && now !== started)
}

/** Two waiters may see the same dead lock; only the one that still finds the same file may remove it. */
async function removeIfUnchanged(lock: string): Promise<void> {
  const before = await stat(lock).catch(() => undefined)
  if (!before || !(await isAbandoned(lock))) return
  const after = await stat(lock).catch(() => undefined)
  if (after && after.ino === before.ino && after.ctimeMs === before.ctimeMs) await rm(lock, { force: true })
}

/** The kernel's start time of a process, which together with the pid names it for good. */
async function startTimeOf(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  const field = text?.slice(text.lastIndexOf(')') + 2).split(' ')[19]
  if (field !== undefined) return field
  try {
    process.kill(pid, 0)
    return 'unknown'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? 'unknown' : 'gone'
  }
}
