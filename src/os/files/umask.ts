/** The mask that files are made with, and whether cerith could use its own under it. */

/**
 * Under a mask with bits of the owner only root can read the files it has just written:
 * sessions, jobs and the audit log would fail one by one, each in its own words.
 */
export function umaskNow(): { readonly text: string; readonly takesOwnRights: boolean } {
  const mask = process.umask()
  return { text: mask.toString(8).padStart(4, '0'), takesOwnRights: (mask & 0o700) !== 0 && process.getuid?.() !== 0 }
}

export const UMASK_FIX = 'Set a usual one first: umask 022'
