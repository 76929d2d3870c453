/**
 * What reading a command says about its tokens: where each stands, how it is quoted, which
 * commands and pipelines are around it.
 */
import type { Token } from './tokens.js'

/** How the text around a token is quoted, which decides how the variable must be written there. */
export type Quoting = 'bare' | 'single' | 'double' | 'ansi' | 'after-backslash' | 'number' | 'quoted-heredoc'

/** Why a token cannot be delivered at its place. */
export type Obstacle =
  | 'code'
  | 'stdin-code'
  | 'name'
  | 'parameter'
  | 'heredoc-delimiter'
  | 'odd-quoting'
  | 'unterminated'
  | 'make'

/** The place of one token. `start` may lie before the token when a backslash in front of it disappears with it. */
export interface Site {
  readonly token: Token
  readonly start: number
  readonly end: number
  quoting: Quoting
  obstacle?: Obstacle
  heredoc?: Heredoc
}

/** A word as the command will see it: quotes removed, `\ue000` for an expansion, `\ue001` for a token. */
export interface Word {
  readonly text: string
  readonly raw: string
  readonly start: number
  readonly end: number
  readonly sites: readonly Site[]
}

/** One simple command (or the words of `for`, `[[`), in order of appearance. */
export interface Command {
  readonly start: number
  readonly words: Word[]
}

/**
 * A pipeline; an element is one command or one compound. `stdin` are the tokens in
 * here-documents and here-strings that feed the element.
 */
export interface Pipeline {
  readonly elements: { start: number; end: number; stdin: Site[] }[]
}

/** A here-document with a quoted delimiter has to be rewritten as a whole when a token stands in it. */
export interface Heredoc {
  readonly word: readonly [number, number]
  readonly body: readonly [number, number]
  readonly closing: readonly [number, number]
}

export interface Scan {
  readonly sites: Site[]
  readonly commands: Command[]
  readonly pipelines: Pipeline[]
  /** Variables that are expanded, and where: a value that was assigned from a token is followed to its uses. */
  readonly expansions: { readonly name: string; readonly at: number }[]
  /** Texts that are evaluated as arithmetic, where a bare name is a variable as well. */
  readonly arithmetic: string[]
}
