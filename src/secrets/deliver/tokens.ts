/**
 * Finds the reference tokens `{{secret:NAME}}` and `{{decrypt:ID}}`; whatever is not exactly of
 * this form is ordinary text.
 */
import { SECRET_TOKEN, type TokenKind } from '../../contract/secret.js'

/** One reference in a command or in text, with its place as UTF-16 offsets: `text.slice(start, end) === token.text`. */
export interface Token {
  readonly kind: TokenKind
  readonly name: string
  readonly text: string
  readonly start: number
  readonly end: number
}

const TOKEN = new RegExp(SECRET_TOKEN, 'g')

/** All tokens from left to right. They never overlap. */
export function findTokens(command: string): readonly Token[] {
  if (!command.includes('{{')) return []
  return Array.from(command.matchAll(TOKEN), (match) => ({
    kind: match[1] as TokenKind,
    name: match[2] as string,
    text: match[0],
    start: match.index,
    end: match.index + match[0].length,
  }))
}
