/** What processes use: CPU time and memory, from /proc. */
import { descendantsOf, statFields } from './proc.js'

/** Linux counts CPU time in hundredths of a second towards programs. */
const TICK_MS = 10
const PAGE_BYTES = 4_096

export interface Usage {
  readonly cpuMs: number
  readonly memoryBytes: number
}

/** A process and everything below it. */
export function treeOf(pid: number): number[] {
  return [pid, ...descendantsOf(pid)]
}

/** Of those that run, with the time of children that have ended. Memory that several share counts for each. */
export function usageOf(pids: readonly number[]): Usage {
  let cpuMs = 0
  let memoryBytes = 0
  for (const pid of pids) {
    const fields = statFields(pid) ?? []
    for (const at of [11, 12, 13, 14]) cpuMs += Number(fields[at] ?? 0) * TICK_MS
    memoryBytes += Number(fields[21] ?? 0) * PAGE_BYTES
  }
  return { cpuMs, memoryBytes }
}
