import { createHash, timingSafeEqual } from 'node:crypto'

/** Texts of any length and any characters; how long it takes does not tell where they differ. */
export function isSameSecret(given: string, wanted: string): boolean {
  return timingSafeEqual(digest(given), digest(wanted))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
