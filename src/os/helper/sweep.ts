/** Cleans up behind engines that were killed: their folders, and whatever of theirs may still run. */
import { readFileSync, rmSync, statSync, unlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { hasProc, isAlive, processesMarked, signalProcess } from '../process/proc.js'
import { whereIs, type World } from '../process/world.js'
import { attempt } from '../../contract/attempt.js'
import { removeMemoryDirectory } from '../files/memory-dir.js'
import { namesIn } from '../files/quietly.js'

const KEEP_OUTPUTS_MS = 3 * 24 * 60 * 60_000
/** Whether an engine of another machine lives cannot be seen. One that does makes its folder anew. */
const KEEP_ELSEWHERE_MS = 7 * 24 * 60 * 60_000

/** What an engine writes into its folder about itself. */
export interface EngineRecord extends World {
  readonly pid: number
  readonly start: string
  readonly door?: string
  readonly cwd?: string
}

export interface DeadEngines {
  /** What each engine wrote about itself into its folder. */
  readonly records: readonly EngineRecord[]
  /** Ends what they left running and removes their folders; a second time does nothing. */
  sweep(): void
}

/**
 * `places` hold the folders of engines. Looking at every process of the machine takes longer than a command: the
 * caller chooses when.
 */
export function findDeadEngines(stateDir: string, places: readonly string[]): DeadEngines {
  const folders = new Set(places.flatMap((place) => namesIn(place).map((id) => join(place, id))))
  const dead = [...folders].filter(isDeadEngine)
  let isSwept = false
  return {
    records: dead.flatMap((folder) => recordIn(folder) ?? []),
    sweep() {
      if (isSwept) return
      isSwept = true
      // What cannot be looked at now (no descriptor is left) keeps its folder, and is left to the next engine.
      attempt(() => {
        // A warden notices the death of its engine by itself; the mark finds what a destroyed
        // warden could not end. Detached jobs carry none.
        for (const folder of hasProc ? dead : [])
          for (const { pid } of processesMarked(`CERITH_ENGINE=${basename(folder)}`)) signalProcess(pid, 'SIGKILL')
        for (const folder of dead) {
          rmSync(folder, { recursive: true, force: true })
          removeMemoryDirectory(basename(folder))
        }
        forgetOldOutputs(join(stateDir, 'outputs'))
      })
    },
  }
}

function recordIn(dir: string): EngineRecord | null {
  return attempt(() => JSON.parse(readFileSync(join(dir, 'engine.json'), 'utf8')) as EngineRecord, null)
}

/** By the folder of an engine. */
export function isDeadEngine(dir: string): boolean {
  try {
    const engine = JSON.parse(readFileSync(join(dir, 'engine.json'), 'utf8')) as EngineRecord
    const where = whereIs(engine)
    if (where === 'elsewhere') return Date.now() - statSync(dir).mtimeMs > KEEP_ELSEWHERE_MS
    return where === 'gone' || !isAlive(engine.pid, engine.start || undefined)
  } catch (error) {
    // One that cannot be looked at (no descriptor is left) may be alive.
    const { code } = error as NodeJS.ErrnoException
    if (code !== undefined && code !== 'ENOENT') return false
    // Torn, or just being made: only old ones are taken for dead.
    return attempt(() => Date.now() - statSync(dir).mtimeMs > 60_000, false)
  }
}

function forgetOldOutputs(dir: string): void {
  for (const name of namesIn(dir)) {
    // Another engine may remove it first.
    attempt(() => {
      if (Date.now() - statSync(join(dir, name)).mtimeMs > KEEP_OUTPUTS_MS) unlinkSync(join(dir, name))
    })
  }
}
