/** Notices when the text of a secret's token would be read as code, by the same walk that judges the command. */
import { SECRET_TOKEN } from '../../contract/secret.js'
import type { Observer } from '../walk/walk.js'

export interface SecretWatch extends Observer {
  /** Tokens that became code. */
  readonly found: ReadonlySet<string>
}

/** Commands without a token are not looked at. */
export function watchSecrets(command: string): SecretWatch | null {
  if (!command.includes('{{')) return null
  const tokens = new RegExp(SECRET_TOKEN, 'g')
  const first = new RegExp(`^\\s*!?\\s*${SECRET_TOKEN}`)
  const found = new Set<string>()
  return {
    found,
    command: () => {},
    effect: () => {},
    opaque: () => {},
    code(text, certain) {
      if (!text.includes('{{')) return
      // Text that may be data counts only when it begins with the value, as a command would.
      for (const [token] of certain ? text.matchAll(tokens) : (first.exec(text)?.[0].trim().matchAll(tokens) ?? []))
        found.add(token)
    },
  }
}
