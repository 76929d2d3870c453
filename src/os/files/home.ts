/**
 * Where the user is at home. A user without an entry in the password file, as in many
 * containers, may have no such place.
 */
import { homedir, userInfo } from 'node:os'

/** HOME, else what the password file says; null when neither knows. */
export function knownHome(env: Readonly<Record<string, string | undefined>> = process.env): string | null {
  if (env['HOME']) return env['HOME']
  try {
    // Node asks HOME of this process first, which may not be the one of `env`, and may be
    // empty; the password file knows all the same.
    return homedir() || userInfo().homedir || null
  } catch {
    return null
  }
}

/** The same; without a home bash takes `/` for `~`, and so do we. */
export function homeDirectory(env: Readonly<Record<string, string | undefined>> = process.env): string {
  return knownHome(env) ?? '/'
}
