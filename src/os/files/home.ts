/**
 * Where the user is at home. A user without an entry in the password file, as in many
 * containers, may have no such place.
 */
import { homedir, userInfo } from 'node:os'
import { attempt } from '../../contract/attempt.js'

/** HOME, else what the password file says; null when neither knows. */
export function knownHome(env: Readonly<Record<string, string | undefined>> = process.env): string | null {
  if (env['HOME']) return env['HOME']
  // Node asks HOME of this process first, which may not be the one of `env`, and may be empty; the password file knows
  // all the same.
  return attempt(() => homedir() || userInfo().homedir || null, null)
}

/** What the password file says, whatever HOME is. */
export function accountHome(): string | null {
  return attempt(() => userInfo().homedir || null, null)
}

/** HOME, else what the password file says; without a home bash takes `/` for `~`, and so do we. */
export function homeDirectory(env: Readonly<Record<string, string | undefined>> = process.env): string {
  return knownHome(env) ?? '/'
}
