/**
 * Drives a job from any process: orders through the keeper's FIFO once the keeper is known to
 * be the same process, signals to verified processes otherwise.
 */
import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { attempt } from '../../contract/attempt.js'
import { processesOf } from '../helper/processes.js'
import type { StartRecord } from './record.js'
import { pause } from '../process/clock.js'
import { allProcesses, descendantsOf, isAlive, processesMarked, processFacts, signalProcess } from '../process/proc.js'

/** False when the keeper is gone. Lines of up to a page are never mixed with another writer's. */
export function orderKeeper(dir: string, started: StartRecord, line: string): boolean {
  if (!isAlive(started.warden, started.wardenStart)) return false
  return writeFifo(join(dir, 'control'), Buffer.from(`${line}\n`)) !== null
}

/** How many of the bytes a FIFO took at once; null when it has no reader. */
export function writeFifo(path: string, bytes: Uint8Array): number | null {
  // Without a reader a non-blocking open fails (ENXIO) instead of waiting for one.
  const flags = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW
  const fd = attempt(() => openSync(path, flags), null)
  if (fd === null) return null
  try {
    if (!fstatSync(fd).isFIFO()) return null
    return writeSync(fd, bytes)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 0 : null
  } finally {
    closeSync(fd)
  }
}

/** What runs under the keeper of a job; empty when the keeper is gone. */
export function processesUnder(id: string, started: StartRecord): number[] {
  if (!isAlive(started.warden, started.wardenStart)) return []
  if (!keepsOne(started)) return strayProcesses(id, started).map(({ pid }) => pid)
  const { pid, leaderStart, warden, init } = started
  return processesOf({ pid, leaderStart, wardenPid: warden, initPid: init, mark: null })
}

/** Whether something that the job started is still there after its leader. (The init of a room ends a moment later.) */
export function hasLeftovers(id: string, started: StartRecord): boolean {
  return keepsOne(started)
    ? descendantsOf(started.warden).some((pid) => pid !== started.init)
    : strayProcesses(id, started).length > 0
}

/** Without native code one process keeps many jobs, and orphans are not its children: marks and groups tell then. */
function keepsOne(started: StartRecord): boolean {
  return processFacts(started.warden)?.name === 'cerith-warden'
}

/**
 * The processes of a job whose keeper was destroyed, as far as they can be told from others: by
 * start time, group and mark.
 */
export function strayProcesses(id: string, started: StartRecord | null): { pid: number; start: string }[] {
  const found = new Map<number, string>()
  for (const { pid, start } of processesMarked(`CERITH_JOB=${id}`)) found.set(pid, start)
  // A group number names the job's group only while its first member is the process that was recorded.
  if (started && isAlive(started.pid, started.leaderStart)) {
    for (const { pid, group, start, state } of allProcesses())
      if (group === started.pgid && state !== 'Z') found.set(pid, start)
    for (const pid of descendantsOf(started.pid)) {
      const facts = processFacts(pid)
      if (facts) found.set(pid, facts.start)
    }
  }
  found.delete(process.pid)
  return [...found].map(([pid, start]) => ({ pid, start }))
}

/** Polite signal, grace, SIGKILL, to exactly these processes. True when force was needed. */
export async function endStrays(
  find: () => { pid: number; start: string }[],
  graceMs: number,
): Promise<{ forced: boolean; left: number[] }> {
  const until = performance.now() + graceMs
  for (const { pid, start } of find()) {
    signalProcess(pid, 'SIGTERM', start)
    signalProcess(pid, 'SIGCONT', start)
  }
  while (find().length > 0 && performance.now() < until) await pause(20)
  let left = find()
  const forced = left.length > 0
  const giveUp = performance.now() + 3_000
  while (left.length > 0 && performance.now() < giveUp) {
    for (const { pid, start } of left) signalProcess(pid, 'SIGKILL', start)
    await pause(10)
    left = find()
  }
  return { forced, left: left.map(({ pid }) => pid) }
}
