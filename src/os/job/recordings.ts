/** The recordings of sessions: where they stand, which there are, and which are too old or too many. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { filesIn } from '../files/quietly.js'

const FOLDER = 'recordings'
const ENDING = '.cast'
/** Names of files end at 255 bytes. */
const LONGEST_NAME = 180

export function recordingsDirectory(stateDir: string): string {
  return join(stateDir, FOLDER)
}

export function recordingName({ engine, session }: { engine: string; session: string }): string {
  return `${engine}.${encodeURIComponent(session).slice(0, LONGEST_NAME)}${ENDING}`
}

/** Of a session, latest first; without an engine those of all engines that had a session of that name. */
export function recordingsOf(
  stateDir: string,
  { session, engine = null }: { readonly session: string; readonly engine?: string | null },
): string[] {
  const ending = recordingName({ engine: '', session })
  return filesIn(recordingsDirectory(stateDir), ENDING)
    .filter(({ name }) => name.endsWith(ending) && (engine === null || name === `${engine}${ending}`))
    .map(({ path }) => path)
    .reverse()
}

/** The oldest go first. Files that cannot be removed are left for the next time. */
export function sweepRecordings(stateDir: string, limits: { keepMs: number; totalBytes: number }): void {
  const files = filesIn(recordingsDirectory(stateDir), ENDING)
  let total = files.reduce((sum, { size }) => sum + size, 0)
  for (const { path, size, changedAt } of files) {
    if (Date.now() - changedAt < limits.keepMs && total <= limits.totalBytes) return
    rmSync(path, { force: true })
    total -= size
  }
}
