/** Notices when the text of a secret's token would be read as code, by the same walk that judges the command. */
import { SECRET_TOKEN } from '../../contract/secret.js'
import type { Observer } from '../walk/effects.js'

export interface SecretWatch extends Partial<Observer> {
  /** Tokens that became code. */
  readonly found: ReadonlySet<string>
}

/** A value that an earlier call gave to this shell: its token, and what stands there now. */
export type KnownSecret = readonly [token: string, value: string]

/** A shorter value is only known by being the whole text: parts of ordinary code would look like it. */
const SHORTEST_PART = 6

/** Commands without a token are not looked at, unless their shell may hold a value. */
export function watchSecrets(command: string, held: readonly KnownSecret[] = []): SecretWatch | null {
  // What stands in the command itself (`docker`, which is also a user's name) did not come from a secret.
  const known = held.filter(([, value]) => !command.includes(value))
  if (!command.includes('{{') && known.length === 0) return null
  const tokens = new RegExp(SECRET_TOKEN, 'g')
  const first = new RegExp(`^\\s*!?\\s*${SECRET_TOKEN}`)
  const found = new Set<string>()
  const addTokens = (text: string): void => {
    for (const [token] of text.matchAll(tokens)) found.add(token)
  }
  return {
    found,
    command(argv) {
      const [program = ''] = argv
      if (program.includes('{{')) addTokens(program)
      for (const [token, value] of known) {
        const words = value.trim().split(/\s+/)
        if (words.every((word, i) => argv[i] === word) && !command.includes(words[0] ?? '')) found.add(token)
      }
    },
    code(text, certain) {
      for (const [token, value] of known)
        if (value === text.trim() || (value.length >= SHORTEST_PART && holds(text, value, certain))) found.add(token)
      // Text that may be data counts only when it begins with the value, as a command would.
      if (text.includes('{{')) addTokens(certain ? text : (first.exec(text)?.[0] ?? ''))
    },
  }
}

function holds(text: string, value: string, certain: boolean): boolean {
  return certain ? text.includes(value) : text.trimStart().replace(/^!\s*/, '').startsWith(value)
}
