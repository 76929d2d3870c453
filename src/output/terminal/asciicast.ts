/** Recordings of terminals as text (asciicast, version 2): one JSON value per line, a header and then events. */
import { attempt, parseRecord } from '../../contract/attempt.js'

export interface CastEvent {
  readonly atMs: number
  /**
   * `o` was printed, `m` marks a place (here: a command), `x` is the moment, in epoch
   * milliseconds, at which that command was asked for.
   */
  readonly kind: string
  readonly text: string
}

export interface Cast {
  /** Epoch milliseconds; 0 where the recording does not say. */
  readonly startedAt: number
  readonly events: readonly CastEvent[]
}

/** Null: it is no recording. A line that was torn by a full disk is left out. */
export function parseCast(text: string): Cast | null {
  const [first = '', ...lines] = text.split('\n')
  const header = parseRecord(first) as { version?: number; timestamp?: number; startedAt?: number } | null
  if (header?.version !== 2) return null
  const events = lines.flatMap((line) => {
    const event: unknown = attempt(() => JSON.parse(line))
    if (!Array.isArray(event)) return []
    const [at, kind, data] = event as unknown[]
    if (typeof at !== 'number' || typeof kind !== 'string' || typeof data !== 'string') return []
    return [{ atMs: at * 1_000, kind, text: data }]
  })
  return { startedAt: header.startedAt ?? (header.timestamp ?? 0) * 1_000, events }
}
