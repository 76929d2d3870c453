/**
 * Reads a command the way bash does, as far as needed to say in which kind of quoting every
 * token stands and which command it belongs to. A misreading can cost a clear result but never
 * safety: what gets inserted is only ever the name of a variable.
 */
import { META } from './scan-words.js'
import { RedirectionScanner } from './scan-redirections.js'
import type { Command, Pipeline, Scan, Word } from './sites.js'
import type { Token } from './tokens.js'

type Closer = ')' | 'case' | undefined

const OPENERS = new Set(['if', 'while', 'until', '{'])
const CLOSERS = new Set(['fi', 'done', '}'])
const TRANSPARENT = new Set(['then', 'elif', 'else', 'do', '!', 'time', 'coproc'])
const NUMERIC_TESTS = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge'])
const ASSIGNMENT = /^[A-Za-z_]\w*(?:\[\])?\+?=/s

/**
 * Scans a whole command. Only the tokens given are tokens; anything else between double braces
 * is text, as it will be for bash.
 */
export function scanCommand(text: string, tokens: readonly Token[]): Scan {
  return scanWith(text, new Map(tokens.map((token) => [token.start, token])))
}

function scanWith(text: string, tokens: ReadonlyMap<number, Token>): Scan {
  const scanner = new CommandScanner(text, tokens)
  scanner.commandList(undefined)
  return scanner.scan
}

class CommandScanner extends RedirectionScanner {
  #command: Command | undefined

  protected scanApart(text: string, tokens: ReadonlyMap<number, Token>): Scan {
    return scanWith(text, tokens)
  }

  commandList(closer: Closer): void {
    const outer = this.pipeline
    const outerCommand = this.#command
    this.#startPipeline()
    // Compounds written with words ({ }, if, while) are closed by words, so they need a stack; ( ) recurses.
    const compounds: Pipeline[] = []
    while (this.at < this.limit) {
      const char = this.char()
      if (char === ' ' || char === '\t') this.at++
      else if (char === '\\' && this.char(1) === '\n') this.at += 2
      else if (char === '\n') {
        this.at++
        this.#startPipeline()
        this.readHeredocs()
      } else if (char === '#') this.skipComment()
      else if (char === ';' && closer === 'case' && (this.char(1) === ';' || this.char(1) === '&')) {
        this.at += this.text.startsWith(';;&', this.at) ? 3 : 2
        break
      } else if (char === '&' && this.char(1) === '>') this.redirection()
      else if (char === ';' || char === '&' || this.text.startsWith('||', this.at)) {
        this.at += this.char(1) === char ? 2 : 1
        this.#startPipeline()
      } else if (char === '|') {
        this.at += this.char(1) === '&' ? 2 : 1
        this.#startElement()
      } else if (char === '(') this.#parenthesis()
      else if (char === ')') {
        this.at++
        if (closer === ')') break
      } else if ((char === '<' || char === '>') && this.char(1) !== '(') this.redirection()
      else if (this.#atReservedWord('esac') && closer === 'case') break
      else this.#commandWord(compounds)
    }
    this.#closeElement()
    this.pipeline = outer
    this.#command = outerCommand
  }

  #startPipeline(): void {
    this.#closeElement()
    this.pipeline = { elements: [] }
    this.scan.pipelines.push(this.pipeline)
    this.#startElement()
  }

  #startElement(): void {
    this.#closeElement()
    this.#command = undefined
    this.pipeline.elements.push({ start: this.at, end: this.text.length, stdin: [] })
  }

  #closeElement(): void {
    const element = this.pipeline.elements.at(-1)
    if (element) element.end = this.at
  }

  #parenthesis(): void {
    const words = this.#command?.words ?? []
    const isFunction = /^\([ \t]*\)/.exec(this.text.slice(this.at, this.at + 64))
    if (words.length === 1 && isFunction) {
      this.refuse(words[0]?.sites ?? [], 'name')
      this.at += isFunction[0].length
      this.#command = undefined
      return
    }
    const mayBeArithmetic = words.length === 0 || words[0]?.raw === 'for'
    if (mayBeArithmetic && this.doubleParenthesis(0)) return
    this.at++
    this.commandList(')')
  }

  #commandWord(compounds: Pipeline[]): void {
    const isFirst = !this.#command || this.#command.words.length === 0
    if (isFirst && this.#atReservedWord('case')) return this.#caseClause()
    if (isFirst && this.#atReservedWord('[[')) return this.#doubleBracket()
    const start = this.at
    const isAssignmentPlace = !this.#command || this.#command.words.every(({ text }) => ASSIGNMENT.test(text))
    const word = this.word(isAssignmentPlace)
    if (this.at === start) {
      this.at++ // A stray metacharacter: bash will complain about it, we only have to go on.
      return
    }
    if (isFirst && OPENERS.has(word.raw)) {
      compounds.push(this.pipeline)
      return this.#startPipeline()
    }
    if (isFirst && CLOSERS.has(word.raw)) {
      this.#closeElement()
      this.pipeline = compounds.pop() ?? this.pipeline
      return
    }
    if (isFirst && TRANSPARENT.has(word.raw)) return
    if (isFirst && (word.raw === 'for' || word.raw === 'select')) compounds.push(this.pipeline)
    if (this.#command?.words.length === 2 && this.#command.words[0]?.raw === 'for' && word.raw === 'do') {
      this.#command = undefined
      return
    }
    if (!this.#command) {
      this.#command = { start, words: [] }
      this.scan.commands.push(this.#command)
    }
    this.#command.words.push(word)
    if (this.#command.words.length === 2 && this.#command.words[0]?.raw === 'function') {
      this.refuse(word.sites, 'name')
      this.skipBlanks()
      const parentheses = /^\([ \t]*\)/.exec(this.text.slice(this.at, this.at + 64))
      this.at += parentheses?.[0].length ?? 0
      this.#command = undefined
    }
  }

  #caseClause(): void {
    this.at += 'case'.length
    this.skipSpace()
    this.word(false)
    this.skipSpace()
    if (!this.#atReservedWord('in')) return
    this.at += 'in'.length
    while (this.at < this.limit) {
      this.skipSpace()
      if (this.#atReservedWord('esac')) {
        this.at += 'esac'.length
        return
      }
      while (this.at < this.limit && this.char() !== ')') {
        const before = this.at
        this.word(false)
        if (this.at === before) this.at++ // `(`, `|` and blanks between patterns
      }
      this.at++
      this.commandList('case')
    }
  }

  #doubleBracket(): void {
    const words: Word[] = []
    this.at += 2
    while (this.at < this.limit) {
      this.skipSpace()
      const start = this.at
      const word = this.word(false)
      if (this.at === start) this.at++
      else if (word.raw === ']]') break
      else words.push(word)
    }
    words.forEach((word, index) => {
      if (NUMERIC_TESTS.has(word.text)) {
        for (const operand of [words[index - 1], words[index + 1]]) {
          this.scan.arithmetic.push(operand?.raw ?? '')
          for (const site of operand?.sites ?? []) site.quoting = 'number'
        }
      }
      if (word.text === '-v' || word.text === '-R') this.refuse(words[index + 1]?.sites ?? [], 'name')
    })
  }

  #atReservedWord(word: string): boolean {
    if (!this.text.startsWith(word, this.at)) return false
    const next = this.text[this.at + word.length]
    const isFirst = !this.#command || this.#command.words.length === 0 || word === 'in'
    return isFirst && (next === undefined || META.includes(next))
  }
}
