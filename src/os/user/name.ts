/** The user's name; a uid without a passwd entry, as in containers, is named by its number. */
import { userInfo } from 'node:os'
import { attempt } from '../../contract/attempt.js'

export function userName(): string {
  return attempt(() => userInfo().username, String(process.getuid?.() ?? 'unknown'))
}
