/** Asks the kernel again and again how many children a process has, at the price of one system call. */
import { closeSync, openSync, readSync } from 'node:fs'
import { childrenOf, hasProc } from './proc.js'

export interface ChildrenWatch {
  /**
   * How many children the (single-threaded) process has right now, counted up to a handful;
   * zombies count until they are reaped.
   */
  count(): number
  close(): void
}

export function watchChildren(pid: number): ChildrenWatch {
  const start = new Uint8Array(64)
  let fd: number
  try {
    fd = openSync(`/proc/${pid}/task/${pid}/children`, 'r')
  } catch {
    return { count: () => childrenOf(pid).length, close: () => {} }
  }
  return {
    count() {
      if (fd < 0) return 0
      try {
        // The kernel writes the list anew for every read from the beginning, with a space behind every number.
        const length = readSync(fd, start, 0, start.length, 0)
        let found = 0
        for (let at = 0; at < length; at++) if (start[at] === 0x20) found += 1
        return found
      } catch {
        return 0 // The process is gone.
      }
    },
    close() {
      if (fd >= 0) closeSync(fd)
      fd = -1
    },
  }
}

export interface DoomWatch {
  /** It has ended, or SIGKILL is on its way to it. */
  isDoomed(): boolean
  close(): void
}

/** Among the flags of the kernel, and among the signals that are pending. */
const EXITING = 4
const PENDING_KILL = 1 << 8

/**
 * Asks the kernel again and again whether a process is about to end, at the same price. Without /proc nothing is known.
 */
export function watchDoom(pid: number): DoomWatch {
  const text = Buffer.alloc(1024)
  let fd: number
  try {
    fd = openSync(`/proc/${pid}/stat`, 'r')
  } catch {
    return { isDoomed: () => hasProc, close: () => {} }
  }
  return {
    isDoomed() {
      if (fd < 0) return true
      try {
        const stat = text.toString('latin1', 0, readSync(fd, text, 0, text.length, 0))
        const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
        const ends = (Number(fields[6]) & EXITING) | (Number(fields[28]) & PENDING_KILL)
        return ends !== 0 || fields[0] === 'Z' || fields[0] === 'X'
      } catch {
        return true // The process is gone.
      }
    },
    close() {
      if (fd >= 0) closeSync(fd)
      fd = -1
    },
  }
}
