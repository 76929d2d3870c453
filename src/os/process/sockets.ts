/** The sockets that a process holds, as inodes. */
import { readdirSync, readlinkSync } from 'node:fs'

/** Empty when it is gone, or belongs to another user. */
export function socketsOf(pid: number): string[] {
  const found: string[] = []
  try {
    for (const fd of readdirSync(`/proc/${pid}/fd`)) {
      try {
        const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1]
        if (inode) found.push(inode)
      } catch {
        // Closed meanwhile.
      }
    }
  } catch {
    // The process is gone, or another user's.
  }
  return found
}
