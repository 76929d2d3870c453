/** Which names the index of a git repository lists. Read as it is on the disk; git itself is not started. */
import { readRegular } from './shared-file.js'

/** Larger ones (some 500,000 files) are not read: nothing in them counts as listed. */
const MAX_BYTES = 64 * 1024 * 1024
/** Times, device, owner, size, digest and flags stand in front of each name. */
const BEFORE_NAME = 62

/** True when the index lists the name; false also for versions that shorten names (4) and digests of 32 bytes. */
export function isListed(index: string, name: string): boolean {
  const bytes = readRegular(index, MAX_BYTES, 'follow')
  if (!bytes || bytes.length < 12 || bytes.toString('latin1', 0, 4) !== 'DIRC') return false
  const version = bytes.readUInt32BE(4)
  if (version !== 2 && version !== 3) return false
  const wanted = Buffer.from(name)
  let at = 12
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    if (at + BEFORE_NAME > bytes.length) return false
    const extended = (bytes.readUInt16BE(at + 60) & 0x4000) !== 0
    const start = at + BEFORE_NAME + (extended ? 2 : 0)
    const end = bytes.indexOf(0, start)
    if (end < start) return false
    // An entry that was only announced (`git add -N`) is tracked as well; one that is skipped is not on the disk.
    if (end - start === wanted.length && bytes.compare(wanted, 0, wanted.length, start, end) === 0) return true
    at += Math.ceil((end - at + 1) / 8) * 8
  }
  return false
}
