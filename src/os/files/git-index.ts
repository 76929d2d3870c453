/** The index of a git repository, read as it is on the disk; git itself is not started. */
import { readRegular } from './shared-file.js'

/** Larger ones (some 500,000 files) are not read: nothing in them counts as listed. */
const MAX_BYTES = 64 * 1024 * 1024
/** Times, device, owner, size, digest and flags stand in front of each name. */
const BEFORE_NAME = 62

export interface IndexEntry {
  readonly mode: number
  readonly name: Buffer
}

/** The entries of an index of version 2, 3 or 4 with digests of 20 bytes; a torn one ends where it cannot be read. */
export function* indexEntries(index: string, links: 'refuse' | 'follow'): Generator<IndexEntry> {
  const bytes = readRegular(index, MAX_BYTES, links)
  if (!bytes || bytes.length < 12 || bytes.toString('latin1', 0, 4) !== 'DIRC') return
  const version = bytes.readUInt32BE(4)
  if (version < 2 || version > 4) return
  let at = 12
  let name: Buffer = Buffer.alloc(0)
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    if (at + BEFORE_NAME > bytes.length) return
    const isExtended = version >= 3 && (bytes.readUInt16BE(at + 60) & 0x4000) !== 0
    let start = at + BEFORE_NAME + (isExtended ? 2 : 0)
    let kept: Buffer | null = null
    if (version === 4) {
      // The number of bytes to take off the name before, seven bits each, as git counts them.
      let byte = bytes[start++] as number
      let cut = byte & 0x7f
      while (byte & 0x80) {
        byte = bytes[start++] as number
        cut = ((cut + 1) << 7) | (byte & 0x7f)
      }
      kept = name.subarray(0, name.length - cut)
    }
    const end = bytes.indexOf(0, start)
    if (end < start) return
    const rest = bytes.subarray(start, end)
    name = kept ? Buffer.concat([kept, rest]) : rest
    yield { mode: bytes.readUInt32BE(at + 24), name }
    at = version === 4 ? end + 1 : at + ((end - at + 8) & ~7)
  }
}

/** An entry that was only announced (`git add -N`) is tracked as well; one that is skipped is not on the disk. */
export function isListed(index: string, name: string): boolean {
  const wanted = Buffer.from(name)
  for (const entry of indexEntries(index, 'follow')) if (wanted.equals(entry.name)) return true
  return false
}
