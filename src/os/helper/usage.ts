/** What the helper says about the end and the use of a command, in its events and in the record of a job's end. */
import type { LeaderExit } from './launcher.js'
import type { OverLimit, Usage } from '../../contract/outcome.js'

type Fields = Readonly<Record<string, string | undefined>>

const LIMITS: Readonly<Record<string, OverLimit['limit']>> = {
  memory: 'memoryBytes',
  processes: 'processes',
  cpu: 'cpuSeconds',
}

/** Null where it could not be measured (records of older versions, systems without /proc). */
export function usageOf({ cpu, maxrss, peak }: Fields): Usage | null {
  if (cpu === undefined) return null
  return { cpuMs: Number(cpu), peakBytes: peak === undefined ? Number(maxrss ?? 0) * 1_024 : Number(peak) }
}

export function overOf({ limit, used }: Fields): OverLimit | null {
  const name = LIMITS[limit ?? '']
  return name === undefined ? null : { limit: name, used: Number(used) }
}

/** How the leader ended, as `wait` told the helper. */
export function exitOf(fields: Fields): Omit<LeaderExit, 'lost'> {
  const status = Number(fields['status'])
  const signal = status & 0x7f
  return {
    code: signal === 0 ? (status >> 8) & 0xff : null,
    signal: signal === 0 ? null : signal,
    forced: fields['forced'] === '1',
    usage: usageOf(fields),
    over: overOf(fields),
    byLimit: fields['why'] === 'limit',
  }
}
