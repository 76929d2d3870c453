/**
 * The recording of a session as the page plays it: events at the moments of the day, of one
 * engine or of all that had the session.
 */
import { readFileSync } from 'node:fs'
import { recordingsOf } from '../os/job/recordings.js'
import { parseCast } from '../output/terminal/asciicast.js'
import { attempt } from '../contract/attempt.js'

/** Of files together; older ones are left out. */
const MAX_BYTES = 32 * 1024 * 1024

export type RecordedEvent = readonly [atMs: number, kind: string, text: string]

/** Null: nothing was recorded. */
export function recordedEvents(
  stateDir: string,
  of: { readonly session: string; readonly engine: string | null },
): RecordedEvent[] | null {
  const parts: RecordedEvent[][] = []
  let bytes = 0
  for (const file of recordingsOf(stateDir, of)) {
    // Empty where it was removed since.
    const text = attempt(() => readFileSync(file, 'utf8'), '')
    bytes += text.length
    if (bytes > MAX_BYTES) break
    const cast = parseCast(text)
    if (cast) parts.push(cast.events.map(({ atMs, kind, text: what }) => [cast.startedAt + atMs, kind, what]))
  }
  if (parts.length === 0) return null
  return parts.flat().sort(([a], [b]) => a - b)
}
