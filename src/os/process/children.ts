/** Asks the kernel again and again how many children a process has, at the price of one system call. */
import { closeSync, openSync, readSync } from 'node:fs'
import { attempt } from '../../contract/attempt.js'
import { childrenOf, fieldsOf, hasProc } from './proc.js'

export interface ChildrenWatch {
  /**
   * How many children the (single-threaded) process has right now, counted up to a handful;
   * zombies count until they are reaped.
   */
  count(): number
  close(): void
}

export function watchChildren(pid: number): ChildrenWatch {
  const file = openAgain(`/proc/${pid}/task/${pid}/children`, 64)
  if (!file) return { count: () => childrenOf(pid).length, close: () => {} }
  return {
    count() {
      // The kernel writes the list anew for every read from the beginning, with a space behind every number.
      let found = 0
      for (const byte of file.read() ?? []) if (byte === 0x20) found += 1
      return found
    },
    close: () => file.close(),
  }
}

export interface DoomWatch {
  /** The process has ended, or SIGKILL is on its way to it. */
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
  const file = openAgain(`/proc/${pid}/stat`, 1024)
  if (!file) return { isDoomed: () => hasProc, close: () => {} }
  return {
    isDoomed() {
      const stat = file.read()
      if (!stat) return true
      const fields = fieldsOf(stat.toString('latin1'))
      const ends = (Number(fields[6]) & EXITING) | (Number(fields[28]) & PENDING_KILL)
      return ends !== 0 || fields[0] === 'Z' || fields[0] === 'X'
    },
    close: () => file.close(),
  }
}

/** A file of a process that is read again and again from its beginning; null where there is none. */
function openAgain(path: string, size: number): { read(): Buffer | null; close(): void } | null {
  const buffer = Buffer.alloc(size)
  let fd = attempt(() => openSync(path, 'r'), -1)
  if (fd < 0) return null
  return {
    // Null: the process is gone, or the file was closed.
    read: () => (fd < 0 ? null : attempt(() => buffer.subarray(0, readSync(fd, buffer, 0, size, 0)), null)),
    close() {
      if (fd >= 0) closeSync(fd)
      fd = -1
    },
  }
}
