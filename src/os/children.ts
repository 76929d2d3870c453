/** Asks the kernel again and again how many children a process has, at the price of one system call. */
import { closeSync, openSync, readSync } from 'node:fs'
import { childrenOf } from './proc.js'

export interface ChildrenWatch {
  /** How many children the (single-threaded) process has right now, counted up to a handful; zombies count until they are reaped. */
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
