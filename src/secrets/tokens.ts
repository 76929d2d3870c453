/** Finds the reference tokens `{{secret:NAME}}` and `{{decrypt:ID}}`; whatever is not exactly of this form is ordinary text. */

/** One reference in a command or in text, with its place as UTF-16 offsets: `text.slice(start, end) === token.text`. */
export interface Token {
  readonly kind: TokenKind
  readonly name: string
  readonly text: string
  readonly start: number
  readonly end: number
}

export type TokenKind = 'secret' | 'decrypt'

// Every character of a name means nothing to a shell, quoted or not: an unknown token can stay where it is and nothing moves.
const NAME = '[A-Za-z0-9_][A-Za-z0-9_.:/@+=-]{0,254}'
const TOKEN = new RegExp(`\\{\\{(secret|decrypt):(${NAME})\\}\\}`, 'g')
const WHOLE_NAME = new RegExp(`^${NAME}$`)

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

/** Whether a secret may be called this: `secret set` refuses a name that no token could reach. */
export function isSecretName(name: string): boolean {
  return WHOLE_NAME.test(name)
}
