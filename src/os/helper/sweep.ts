/** Cleans up behind engines that were killed: their folders, and whatever of theirs may still run. */
import { readdirSync, readFileSync, rmSync, statSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { bootId, hasProc, isAlive, processesMarked } from '../proc.js'

const KEEP_OUTPUTS_MS = 3 * 24 * 60 * 60_000

/** What an engine writes into its folder about itself. */
export interface EngineRecord {
  readonly pid: number
  readonly start: string
  readonly boot: string
  readonly door?: string
  readonly cwd?: string
}

/** Ends what dead engines left running and removes their folders; gives what those engines said about themselves. */
export function sweepDeadEngines(stateDir: string): EngineRecord[] {
  const records: EngineRecord[] = []
  const swept: string[] = []
  const boot = bootId()
  for (const id of names(join(stateDir, 'run'))) {
    const dir = join(stateDir, 'run', id)
    if (!isDead(dir, boot)) continue
    swept.push(id)
    const record = recordIn(dir)
    if (record) records.push(record)
    rmSync(dir, { recursive: true, force: true })
  }
  // A warden notices the death of its engine by itself; the mark finds what a destroyed warden could not end. Detached jobs carry none.
  if (swept.length > 0 && hasProc) endMarked(swept)
  forgetOldOutputs(join(stateDir, 'outputs'))
  return records
}

function recordIn(dir: string): EngineRecord | null {
  try {
    return JSON.parse(readFileSync(join(dir, 'engine.json'), 'utf8')) as EngineRecord
  } catch {
    return null
  }
}

function isDead(dir: string, boot: string): boolean {
  try {
    const engine = JSON.parse(readFileSync(join(dir, 'engine.json'), 'utf8')) as EngineRecord
    return engine.boot !== boot || !isAlive(engine.pid, engine.start || undefined)
  } catch {
    // Torn, or just being made: only old ones are taken for dead.
    try {
      return Date.now() - statSync(dir).mtimeMs > 60_000
    } catch {
      return false
    }
  }
}

function endMarked(engines: readonly string[]): void {
  for (const engine of engines) {
    for (const { pid } of processesMarked(`CERITH_ENGINE=${engine}`)) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It ended by itself.
      }
    }
  }
}

function forgetOldOutputs(dir: string): void {
  for (const name of names(dir)) {
    try {
      if (Date.now() - statSync(join(dir, name)).mtimeMs > KEEP_OUTPUTS_MS) unlinkSync(join(dir, name))
    } catch {
      // Somebody else did.
    }
  }
}

function names(dir: string): string[] {
  try {
    return readdirSync(dir)
  } catch {
    return []
  }
}
