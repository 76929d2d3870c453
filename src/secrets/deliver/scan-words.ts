/**
 * Reads words: quotes, backslashes, globs and array literals. What a `$` or a backtick opens is
 * left to the level above.
 */
import { Cursor } from './scan-cursor.js'
import type { Command, Word } from './sites.js'
import type { Token } from './tokens.js'

/** What stands around an expansion. */
export type Around = 'bare' | 'double' | 'heredoc'

export const EXPANSION = '\ue000'
const TOKEN = '\ue001'
/** What ends a word. */
export const META = ' \t\n;&|()<>'

export abstract class WordScanner extends Cursor {
  /** Reads commands up to the closer. */
  abstract commandList(closer: ')' | 'case' | undefined): void
  protected abstract dollar(around: Around): string
  protected abstract backticks(inDoubleQuotes: boolean): string
  /** Says whether the closer was found. */
  protected abstract arithmetic(closer: '))' | ']'): boolean
  /** Past white space, comments and the here-documents between lines. */
  protected abstract skipSpace(): void

  /** Reads one word, or nothing when a metacharacter stands here. */
  protected word(isAssignmentPlace: boolean): Word {
    const start = this.at
    const first = this.scan.sites.length
    let text = ''
    while (this.at < this.limit) {
      const char = this.char()
      const token = this.tokens.get(this.at)
      if (token) {
        this.site(token, 'bare')
        text += TOKEN
      } else if ((char === '<' || char === '>') && this.char(1) === '(') {
        this.at += 2
        this.commandList(')')
        text += EXPANSION
      } else if (char === '(' && /[?*+@!]/.test(this.text[this.at - 1] ?? '') && this.at > start) {
        text += this.#extendedGlob()
      } else if (char === '(' && isArrayStart(text) && this.at > start) {
        this.#arrayLiteral()
        text += '('
      } else if (META.includes(char)) break
      else if (char === '[' && isAssignmentPlace && /^[A-Za-z_]\w*$/.test(text)) {
        this.at++
        this.arithmetic(']')
        text += '[]'
      } else text += this.bareChar(char)
    }
    return { text, raw: this.text.slice(start, this.at), start, end: this.at, sites: this.scan.sites.slice(first) }
  }

  /** One step through unquoted text; returns what it adds to the word. */
  protected bareChar(char: string): string {
    if (char === '\\') {
      const token = this.tokens.get(this.at + 1)
      // Outside quotes `\{` is just `{`: the program would have received the token without the backslash.
      if (token) {
        this.site(token, 'bare', this.at)
        return TOKEN
      }
      const next = this.char(1)
      this.at += 2
      return next === '\n' ? '' : next
    }
    if (char === "'") return this.single()
    if (char === '"') return this.double()
    if (char === '$') return this.dollar('bare')
    if (char === '`') return this.backticks(false)
    this.at++
    return char
  }

  #extendedGlob(): string {
    let text = '('
    this.at++
    while (this.at < this.limit && this.char() !== ')') {
      const token = this.tokens.get(this.at)
      if (token) {
        this.site(token, 'bare')
        text += TOKEN
      } else if (this.char() === '(') text += this.#extendedGlob()
      else text += this.bareChar(this.char())
    }
    this.at++
    return `${text})`
  }

  #arrayLiteral(): void {
    // The words may be run later as a command ("${array[@]}"), so they are judged like one.
    const command: Command = { start: this.at, words: [] }
    this.scan.commands.push(command)
    this.at++
    while (this.at < this.limit && this.char() !== ')') {
      this.skipSpace()
      if (this.char() === ')') break
      if (this.char() === '[') {
        this.at++
        this.arithmetic(']') // `[subscript]=value`: evaluated, unless the array is associative, which cannot be known here
        continue
      }
      const before = this.at
      const word = this.word(false)
      if (this.at === before) this.at++
      else command.words.push(word)
    }
    this.at++
  }

  protected single(): string {
    let text = ''
    this.at++
    while (this.at < this.limit && this.char() !== "'") {
      const token = this.tokens.get(this.at)
      if (token) {
        this.site(token, 'single')
        text += TOKEN
      } else {
        text += this.char()
        this.at++
      }
    }
    this.at++
    return text
  }

  protected ansi(): string {
    let text = ''
    this.at += 2
    while (this.at < this.limit && this.char() !== "'") {
      const token = this.tokens.get(this.at)
      if (token) {
        this.site(token, 'ansi')
        text += TOKEN
      } else if (this.char() === '\\') {
        if (this.tokens.has(this.at + 1))
          this.site(this.tokens.get(this.at + 1) as Token, 'ansi', this.at).obstacle = 'odd-quoting'
        else this.at += 2
        text += EXPANSION
      } else {
        text += this.char()
        this.at++
      }
    }
    this.at++
    return text
  }

  protected double(): string {
    let text = ''
    this.at++
    while (this.at < this.limit && this.char() !== '"') text += this.quotedChar('double')
    this.at++
    return text
  }

  /** One step through a double-quoted string or the body of a here-document; returns what it adds to the word. */
  protected quotedChar(around: 'double' | 'heredoc'): string {
    const char = this.char()
    const token = this.tokens.get(this.at)
    if (token) {
      this.site(token, 'double')
      return TOKEN
    }
    if (char === '\\') {
      const escaped = this.tokens.get(this.at + 1)
      // Here a backslash before `{` stays a backslash: it has to be doubled, or it would act on what we insert.
      if (escaped) {
        this.site(escaped, 'after-backslash', this.at)
        return `\\${TOKEN}`
      }
      const next = this.char(1)
      this.at += 2
      return '$`"\\'.includes(next) ? next : next === '\n' ? '' : `\\${next}`
    }
    if (char === '$') return this.dollar(around)
    if (char === '`') return this.backticks(around === 'double')
    this.at++
    return char
  }
}

function isArrayStart(text: string): boolean {
  return /^[A-Za-z_]\w*(?:\[\])?\+?=$/.test(text)
}
