/**
 * Who typed into a job's terminal, in one sentence of the job's notes: an agent should know that a person typed, too.
 */
import { readInputNotes } from '../../../os/job/terminal.js'

/** Null when only the agent typed. */
export function whoTyped(dir: string): string | null {
  const others = new Map<string, { bytes: number; last: number }>()
  for (const { by, bytes = 0, text, size, at } of readInputNotes(dir)) {
    if (by === 'start' || by === 'agent' || size) continue
    others.set(by, { bytes: (others.get(by)?.bytes ?? 0) + bytes + (text?.length ?? 0), last: at })
  }
  if (others.size === 0) return null
  return (
    'Typed into by ' +
    `${[...others].map(([by, { bytes, last }]) => `${by} (${bytes} bytes, last at ${new Date(last).toISOString()})`).join(', ')}.`
  )
}
