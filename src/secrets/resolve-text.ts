/** Puts values into text that no shell will read: what is typed into a running command's standard input. */
import { concat } from './mask/bytes.js'
import { findTokens, type Token } from './deliver/tokens.js'

/**
 * The text as bytes, known tokens replaced by the exact value. There is no syntax to break out
 * of, so nothing is quoted.
 */
export function resolveText(text: string, lookup: (token: Token) => Uint8Array | undefined): Uint8Array {
  const parts: Uint8Array[] = []
  let at = 0
  for (const token of findTokens(text)) {
    const value = lookup(token)
    if (!value) continue
    parts.push(new TextEncoder().encode(text.slice(at, token.start)), value)
    at = token.end
  }
  parts.push(new TextEncoder().encode(text.slice(at)))
  return concat(parts)
}
