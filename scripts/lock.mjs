// One builder at a time: a lock directory that names its owner and is taken over when that owner is gone.
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Waits for the lock and gives the function that releases it. */
export async function takeLock(dir, { waitMs = 120_000 } = {}) {
  for (const until = Date.now() + waitMs; ;) {
    try {
      mkdirSync(dir)
      writeFileSync(join(dir, 'pid'), String(process.pid))
      return () => rmSync(dir, { recursive: true, force: true })
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    if (isAbandoned(dir)) rmSync(dir, { recursive: true, force: true })
    else if (Date.now() > until) throw new Error(`${dir} is held by another build; remove it if none is running.`)
    else await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

function isAbandoned(dir) {
  try {
    const pid = Number(readFileSync(join(dir, 'pid'), 'utf8'))
    if (!pid) return Date.now() - statSync(dir).mtimeMs > 10_000
    process.kill(pid, 0)
    return false
  } catch (error) {
    if (error.code === 'ESRCH') return true
    // No pid yet: it was made a moment ago, or its maker died between two system calls.
    const made = statSync(dir, { throwIfNoEntry: false })
    return made !== undefined && Date.now() - made.mtimeMs > 10_000
  }
}
