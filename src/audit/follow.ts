/** Follows the audit log as it grows, through its rotations. */
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { watchDirectory } from '../os/files/watching.js'
import { parseRecord } from '../contract/attempt.js'
import type { AuditLine } from './chain.js'

const LOOK_EVERY_MS = 500
const MAX_READ = 1024 * 1024

/** Told of every line that is written from now on, until the returned function is called. */
export function followAudit(file: string, told: (entry: AuditLine) => void): () => void {
  const first = statSync(file, { throwIfNoEntry: false })
  let inode = first?.ino
  let offset = first?.size ?? 0
  let rest = ''
  const size = (): number => {
    const stat = statSync(file, { throwIfNoEntry: false })
    // Rotated: the new file begins where the old one ended. What was written to the old one in
    // between was read already.
    if (stat && stat.ino !== inode) {
      inode = stat.ino
      offset = 0
      rest = ''
    }
    return stat?.size ?? 0
  }
  const look = (): void => {
    const end = size()
    while (offset < end) {
      const bytes = Buffer.alloc(Math.min(MAX_READ, end - offset))
      const fd = openSync(file, 'r')
      const got = readSync(fd, bytes, 0, bytes.length, offset)
      closeSync(fd)
      if (got === 0) return
      offset += got
      const lines = (rest + bytes.toString('utf8', 0, got)).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const entry = parseRecord(line)
        if (entry) told(entry)
      }
    }
  }
  return watchDirectory(dirname(file), LOOK_EVERY_MS, (name) => (name ?? basename(file)) === basename(file) && look())
}
