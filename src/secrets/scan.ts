/**
 * Reads a command the way bash does, as far as needed to say in which kind of quoting every token stands and which command it belongs to.
 * A misreading can cost a clear result but never safety: what gets inserted is only ever the name of a variable.
 */
import type { Token } from './tokens.js'

/** How the text around a token is quoted, which decides how the variable must be written there. */
export type Quoting = 'bare' | 'single' | 'double' | 'ansi' | 'after-backslash' | 'number' | 'quoted-heredoc'

/** Why a token cannot be delivered at its place. */
export type Obstacle = 'code' | 'stdin-code' | 'name' | 'parameter' | 'heredoc-delimiter' | 'odd-quoting' | 'unterminated' | 'make'

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

/** A pipeline; an element is one command or one compound. `stdin` are the tokens in here-documents and here-strings that feed the element. */
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

interface Pending {
  readonly delimiter: string
  readonly quoted: boolean
  readonly dash: boolean
  readonly word: readonly [number, number]
  readonly stdin: Site[]
}

type Closer = ')' | 'case' | undefined
type Around = 'bare' | 'double' | 'heredoc'

const EXPANSION = '\ue000'
const TOKEN = '\ue001'
const BLANK = ' \t'
const META = ' \t\n;&|()<>'
const OPENERS = new Set(['if', 'while', 'until', '{'])
const CLOSERS = new Set(['fi', 'done', '}'])
const TRANSPARENT = new Set(['then', 'elif', 'else', 'do', '!', 'time', 'coproc'])
const NUMERIC_TESTS = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge'])

/** Scans a whole command. Only the tokens given are tokens; anything else between double braces is text, as it will be for bash. */
export function scanCommand(text: string, tokens: readonly Token[]): Scan {
  const scanner = new Scanner(text, new Map(tokens.map((token) => [token.start, token])))
  scanner.commandList(undefined)
  return scanner.scan
}

class Scanner {
  readonly scan: Scan = { sites: [], commands: [], pipelines: [], expansions: [], arithmetic: [] }
  #at = 0
  /** Nothing beyond is looked at: what is left open in a here-document ends with it. */
  #limit: number
  #pending: Pending[] = []
  /** Where `((` turned out to open no arithmetic: asked once each, or nested ones would cost double per level. */
  readonly #notArithmetic = new Set<number>()
  #pipeline: Pipeline = { elements: [] }
  #command: Command | undefined

  constructor(
    readonly text: string,
    readonly tokens: ReadonlyMap<number, Token>,
  ) {
    this.#limit = text.length
  }

  // --- command level -------------------------------------------------------------------------------------------------

  commandList(closer: Closer): void {
    const outer = this.#pipeline
    const outerCommand = this.#command
    this.#startPipeline()
    // Compounds written with words ({ }, if, while) are closed by words, so they need a stack; ( ) recurses.
    const compounds: Pipeline[] = []
    while (this.#at < this.#limit) {
      const char = this.#char()
      if (BLANK.includes(char)) this.#at++
      else if (char === '\\' && this.#char(1) === '\n') this.#at += 2
      else if (char === '\n') {
        this.#at++
        this.#startPipeline()
        this.#readHeredocs()
      } else if (char === '#') this.#skipComment()
      else if (char === ';' && closer === 'case' && (this.#char(1) === ';' || this.#char(1) === '&')) {
        this.#at += this.text.startsWith(';;&', this.#at) ? 3 : 2
        break
      } else if (char === '&' && this.#char(1) === '>') this.#redirection()
      else if (char === ';' || char === '&' || this.text.startsWith('||', this.#at)) {
        this.#at += this.#char(1) === char ? 2 : 1
        this.#startPipeline()
      } else if (char === '|') {
        this.#at += this.#char(1) === '&' ? 2 : 1
        this.#startElement()
      } else if (char === '(') this.#parenthesis()
      else if (char === ')') {
        this.#at++
        if (closer === ')') break
      } else if ((char === '<' || char === '>') && this.#char(1) !== '(') this.#redirection()
      else if (this.#atReservedWord('esac') && closer === 'case') break
      else this.#commandWord(compounds)
    }
    this.#closeElement()
    this.#pipeline = outer
    this.#command = outerCommand
  }

  #startPipeline(): void {
    this.#closeElement()
    this.#pipeline = { elements: [] }
    this.scan.pipelines.push(this.#pipeline)
    this.#startElement()
  }

  #startElement(): void {
    this.#closeElement()
    this.#command = undefined
    this.#pipeline.elements.push({ start: this.#at, end: this.text.length, stdin: [] })
  }

  #closeElement(): void {
    const element = this.#pipeline.elements.at(-1)
    if (element) element.end = this.#at
  }

  #parenthesis(): void {
    const words = this.#command?.words ?? []
    const isFunction = /^\([ \t]*\)/.exec(this.text.slice(this.#at, this.#at + 64))
    if (words.length === 1 && isFunction) {
      this.#refuse(words[0]?.sites ?? [], 'name')
      this.#at += isFunction[0].length
      this.#command = undefined
      return
    }
    const mayBeArithmetic = words.length === 0 || words[0]?.raw === 'for'
    if (mayBeArithmetic && this.#doubleParenthesis(0)) return
    this.#at++
    this.commandList(')')
  }

  #commandWord(compounds: Pipeline[]): void {
    const isFirst = !this.#command || this.#command.words.length === 0
    if (isFirst && this.#atReservedWord('case')) return this.#caseClause()
    if (isFirst && this.#atReservedWord('[[')) return this.#doubleBracket()
    const start = this.#at
    const isAssignmentPlace = !this.#command || this.#command.words.every(({ text }) => ASSIGNMENT.test(text))
    const word = this.#word(isAssignmentPlace)
    if (this.#at === start) {
      this.#at++ // A stray metacharacter: bash will complain about it, we only have to go on.
      return
    }
    if (isFirst && OPENERS.has(word.raw)) {
      compounds.push(this.#pipeline)
      return this.#startPipeline()
    }
    if (isFirst && CLOSERS.has(word.raw)) {
      this.#closeElement()
      this.#pipeline = compounds.pop() ?? this.#pipeline
      return
    }
    if (isFirst && TRANSPARENT.has(word.raw)) return
    if (isFirst && (word.raw === 'for' || word.raw === 'select')) compounds.push(this.#pipeline)
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
      this.#refuse(word.sites, 'name')
      this.#skipBlanks()
      const parentheses = /^\([ \t]*\)/.exec(this.text.slice(this.#at, this.#at + 64))
      this.#at += parentheses?.[0].length ?? 0
      this.#command = undefined
    }
  }

  #caseClause(): void {
    this.#at += 'case'.length
    this.#skipSpace()
    this.#word(false)
    this.#skipSpace()
    if (!this.#atReservedWord('in')) return
    this.#at += 'in'.length
    while (this.#at < this.#limit) {
      this.#skipSpace()
      if (this.#atReservedWord('esac')) {
        this.#at += 'esac'.length
        return
      }
      while (this.#at < this.#limit && this.#char() !== ')') {
        const before = this.#at
        this.#word(false)
        if (this.#at === before) this.#at++ // `(`, `|` and blanks between patterns
      }
      this.#at++
      this.commandList('case')
    }
  }

  #doubleBracket(): void {
    const words: Word[] = []
    this.#at += 2
    while (this.#at < this.#limit) {
      this.#skipSpace()
      const start = this.#at
      const word = this.#word(false)
      if (this.#at === start) this.#at++
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
      if (word.text === '-v' || word.text === '-R') this.#refuse(words[index + 1]?.sites ?? [], 'name')
    })
  }

  #redirection(): void {
    const operator = /^&>>?|^<<<|^<<-?|^<>|^>>|^>\||^[<>]&?/.exec(this.text.slice(this.#at, this.#at + 4))?.[0] ?? '>'
    this.#at += operator.length
    this.#skipBlanks()
    const start = this.#at
    const word = this.#word(false)
    const stdin = this.#pipeline.elements.at(-1)?.stdin ?? []
    if (operator === '<<<') stdin.push(...word.sites)
    if (operator !== '<<' && operator !== '<<-') return
    this.#refuse(word.sites, 'heredoc-delimiter')
    const raw = this.text.slice(start, this.#at)
    this.#pending.push({ delimiter: word.text, quoted: /['"\\]/.test(raw), dash: operator === '<<-', word: [start, this.#at], stdin })
  }

  #readHeredocs(): void {
    for (const pending of this.#pending.splice(0)) {
      const first = this.scan.sites.length
      const [end, closing] = this.#heredocEnd(pending)
      const heredoc = { word: pending.word, body: [this.#at, end], closing } as const
      const outerLimit = this.#limit
      this.#limit = end
      while (this.#at < end) {
        if (pending.quoted) {
          const token = this.tokens.get(this.#at)
          if (token) this.#site(token, 'quoted-heredoc').heredoc = heredoc
          else this.#at++
        } else this.#quotedChar('heredoc')
      }
      const found = this.scan.sites.slice(first)
      pending.stdin.push(...found)
      if (pending.quoted && closing[0] === closing[1]) this.#refuse(found, 'unterminated')
      this.#limit = outerLimit
      this.#at = closing[1]
    }
  }

  /** Where the body ends, and where the closing delimiter stands. */
  #heredocEnd({ delimiter, quoted, dash }: Pending): [number, readonly [number, number]] {
    let line = this.#at
    let continued = false
    while (line < this.#limit) {
      const newline = this.text.indexOf('\n', line)
      const end = newline < 0 || newline > this.#limit ? this.#limit : newline
      const raw = this.text.slice(line, end)
      const content = dash ? raw.replace(/^\t+/, '') : raw
      if (!continued && content === delimiter) return [line, [end - content.length, end]]
      continued = !quoted && /(^|[^\\])(\\\\)*\\$/.test(raw)
      line = end + 1
    }
    return [this.#limit, [this.#limit, this.#limit]]
  }

  // --- words ---------------------------------------------------------------------------------------------------------

  /** Reads one word, or nothing when a metacharacter stands here. */
  #word(isAssignmentPlace: boolean): Word {
    const start = this.#at
    const first = this.scan.sites.length
    let text = ''
    while (this.#at < this.#limit) {
      const char = this.#char()
      const token = this.tokens.get(this.#at)
      if (token) {
        this.#site(token, 'bare')
        text += TOKEN
      } else if ((char === '<' || char === '>') && this.#char(1) === '(') {
        this.#at += 2
        this.commandList(')')
        text += EXPANSION
      } else if (char === '(' && /[?*+@!]/.test(this.text[this.#at - 1] ?? '') && this.#at > start) {
        text += this.#extendedGlob()
      } else if (char === '(' && isArrayStart(text) && this.#at > start) {
        this.#arrayLiteral()
        text += '('
      } else if (META.includes(char)) break
      else if (char === '[' && isAssignmentPlace && /^[A-Za-z_]\w*$/.test(text)) {
        this.#at++
        this.#arithmetic(']')
        text += '[]'
      } else text += this.#bareChar(char)
    }
    return { text, raw: this.text.slice(start, this.#at), start, end: this.#at, sites: this.scan.sites.slice(first) }
  }

  /** One step through unquoted text; returns what it adds to the word. */
  #bareChar(char: string): string {
    if (char === '\\') {
      const token = this.tokens.get(this.#at + 1)
      // Outside quotes `\{` is just `{`: the program would have received the token without the backslash.
      if (token) {
        this.#site(token, 'bare', this.#at)
        return TOKEN
      }
      const next = this.#char(1)
      this.#at += 2
      return next === '\n' ? '' : next
    }
    if (char === "'") return this.#single()
    if (char === '"') return this.#double()
    if (char === '$') return this.#dollar('bare')
    if (char === '`') return this.#backticks(false)
    this.#at++
    return char
  }

  #extendedGlob(): string {
    let text = '('
    this.#at++
    while (this.#at < this.#limit && this.#char() !== ')') {
      const token = this.tokens.get(this.#at)
      if (token) {
        this.#site(token, 'bare')
        text += TOKEN
      } else if (this.#char() === '(') text += this.#extendedGlob()
      else text += this.#bareChar(this.#char())
    }
    this.#at++
    return `${text})`
  }

  #arrayLiteral(): void {
    // The words may be run later as a command ("${array[@]}"), so they are judged like one.
    const command: Command = { start: this.#at, words: [] }
    this.scan.commands.push(command)
    this.#at++
    while (this.#at < this.#limit && this.#char() !== ')') {
      this.#skipSpace()
      if (this.#char() === ')') break
      if (this.#char() === '[') {
        this.#at++
        this.#arithmetic(']') // `[subscript]=value`: evaluated, unless the array is associative, which nobody can know here
        continue
      }
      const before = this.#at
      const word = this.#word(false)
      if (this.#at === before) this.#at++
      else command.words.push(word)
    }
    this.#at++
  }

  #single(): string {
    let text = ''
    this.#at++
    while (this.#at < this.#limit && this.#char() !== "'") {
      const token = this.tokens.get(this.#at)
      if (token) {
        this.#site(token, 'single')
        text += TOKEN
      } else {
        text += this.#char()
        this.#at++
      }
    }
    this.#at++
    return text
  }

  #ansi(): string {
    let text = ''
    this.#at += 2
    while (this.#at < this.#limit && this.#char() !== "'") {
      const token = this.tokens.get(this.#at)
      if (token) {
        this.#site(token, 'ansi')
        text += TOKEN
      } else if (this.#char() === '\\') {
        if (this.tokens.has(this.#at + 1)) this.#site(this.tokens.get(this.#at + 1) as Token, 'ansi', this.#at).obstacle = 'odd-quoting'
        else this.#at += 2
        text += EXPANSION
      } else {
        text += this.#char()
        this.#at++
      }
    }
    this.#at++
    return text
  }

  #double(): string {
    let text = ''
    this.#at++
    while (this.#at < this.#limit && this.#char() !== '"') text += this.#quotedChar('double')
    this.#at++
    return text
  }

  /** One step through a double-quoted string or the body of a here-document; returns what it adds to the word. */
  #quotedChar(around: 'double' | 'heredoc'): string {
    const char = this.#char()
    const token = this.tokens.get(this.#at)
    if (token) {
      this.#site(token, 'double')
      return TOKEN
    }
    if (char === '\\') {
      const escaped = this.tokens.get(this.#at + 1)
      // Here a backslash before `{` stays a backslash: it has to be doubled, or it would act on what we insert.
      if (escaped) {
        this.#site(escaped, 'after-backslash', this.#at)
        return `\\${TOKEN}`
      }
      const next = this.#char(1)
      this.#at += 2
      return '$`"\\'.includes(next) ? next : next === '\n' ? '' : `\\${next}`
    }
    if (char === '$') return this.#dollar(around)
    if (char === '`') return this.#backticks(around === 'double')
    this.#at++
    return char
  }

  // --- expansions ----------------------------------------------------------------------------------------------------

  #dollar(around: Around): string {
    const token = this.tokens.get(this.#at + 1)
    if (token) {
      this.#at++
      this.#site(token, 'bare').obstacle = 'parameter' // `${{secret:x}}` opens a `${`
      return EXPANSION
    }
    const next = this.#char(1)
    if (next === '(') {
      if (!this.#doubleParenthesis(1)) {
        this.#at += 2
        this.commandList(')')
      }
    } else if (next === '{') this.#parameter(around)
    else if (next === '[') {
      this.#at += 2
      this.#arithmetic(']')
    } else if (next === "'" && around === 'bare') return this.#ansi()
    else if (next === '"' && around === 'bare') {
      this.#at++
      return this.#double()
    } else {
      const name = /^(?:[A-Za-z_]\w*|[0-9@*#?$!-])/.exec(this.text.slice(this.#at + 1, this.#at + 256))
      this.#expands(name?.[0])
      this.#at += 1 + (name?.[0].length ?? 0)
      if (!name) return '$'
    }
    return EXPANSION
  }

  /** `${name}` with its operators. A token may stand in the word of `:-` and its kin and in patterns, nowhere else. */
  #parameter(around: Around): void {
    this.#at += 2
    const name = /^[!#]?(?:[A-Za-z_]\w*|[0-9]+|[@*#?$!-])?/.exec(this.text.slice(this.#at, this.#at + 1024))?.[0] ?? ''
    this.#expands(name.replace(/^[!#]/, ''))
    this.#at += name.length
    if (this.#char() === '[') {
      this.#at++
      this.#arithmetic(']')
    }
    const operator = /^:[-=+?]|^[-=+?]|^##?|^%%?|^\/[/#%]?|^\^\^?|^,,?|^:|^@/.exec(this.text.slice(this.#at, this.#at + 2))?.[0] ?? ''
    this.#at += operator.length
    const isWord = /[-=+?]$/.test(operator)
    const isPattern = /^[#%/^,]/.test(operator)
    while (this.#at < this.#limit && this.#char() !== '}') {
      const char = this.#char()
      const token = this.tokens.get(this.#at)
      if (token) {
        const site = this.#site(token, operator === ':' ? 'number' : isWord && around !== 'bare' ? 'double' : 'bare')
        if (!isWord && !isPattern && operator !== ':') site.obstacle = 'parameter'
        if (isPattern && around === 'heredoc') site.obstacle = 'odd-quoting'
      } else if (char === '\\' && this.tokens.has(this.#at + 1)) this.#site(this.tokens.get(this.#at + 1) as Token, 'bare', this.#at).obstacle = 'odd-quoting'
      else if (char === "'" && (around === 'bare' || isPattern)) {
        const first = this.scan.sites.length
        this.#single()
        if (around !== 'bare') this.#refuse(this.scan.sites.slice(first), 'odd-quoting')
      } else if (char === "'" || (char === '"' && around === 'heredoc')) this.#at++
      else if (char === '$' && around !== 'bare') this.#dollar(around)
      else this.#bareChar(char)
    }
    this.#at++
  }

  /** `((` opens arithmetic only when `))` closes it; otherwise it was a subshell in parentheses, and what was read is forgotten. */
  #doubleParenthesis(ahead: number): boolean {
    if (this.#char(ahead) !== '(' || this.#char(ahead + 1) !== '(') return false
    const start = this.#at
    if (this.#notArithmetic.has(start)) return false
    const lists: unknown[][] = [...Object.values(this.scan as unknown as Record<string, unknown[]>), this.#pending]
    const lengths = lists.map((list) => list.length)
    this.#at += ahead + 2
    if (this.#arithmetic('))')) return true
    lists.forEach((list, index) => {
      list.length = lengths[index] as number
    })
    this.#at = start
    this.#notArithmetic.add(start)
    return false
  }

  /** Everything up to the closer is evaluated as arithmetic, where a variable's value is an expression again: only plain numbers may go there. */
  #arithmetic(closer: '))' | ']'): boolean {
    const start = this.#at
    let depth = 0
    const [open, close] = closer === ']' ? ['[', ']'] : ['(', ')']
    while (this.#at < this.#limit) {
      const char = this.#char()
      const token = this.tokens.get(this.#at)
      if (token) this.#site(token, 'number')
      else if (depth === 0 && this.text.startsWith(closer, this.#at)) {
        this.scan.arithmetic.push(this.text.slice(start, this.#at))
        this.#at += closer.length
        return true
      } else if (char === open || char === close) {
        depth += char === open ? 1 : -1
        this.#at++
        if (depth < 0) return false
      } else {
        const first = this.scan.sites.length
        this.#bareChar(char)
        for (const site of this.scan.sites.slice(first)) site.quoting = 'number'
      }
    }
    return false
  }

  /** The old substitution: bash first removes a layer of backslashes and then reads what is left as a command. */
  #backticks(inDoubleQuotes: boolean): string {
    const offsets: number[] = []
    let inner = ''
    this.#at++
    while (this.#at < this.#limit && this.#char() !== '`') {
      if (this.#char() === '\\' && (inDoubleQuotes ? '$`\\"' : '$`\\').includes(this.#char(1) || ' ')) this.#at++
      offsets.push(this.#at)
      inner += this.#char()
      this.#at++
    }
    this.#at++
    const tokens = new Map(
      offsets.flatMap((offset, index) => {
        const token = this.tokens.get(offset)
        return token ? [[index, token] as const] : []
      }),
    )
    const child = new Scanner(inner, tokens)
    child.commandList(undefined)
    const outerOf = (index: number) => offsets[index] ?? this.#at
    for (const site of child.scan.sites) {
      const isPlain = site.quoting !== 'after-backslash' && site.quoting !== 'quoted-heredoc' && inner.startsWith(site.token.text, site.start)
      this.scan.sites.push(Object.assign(site, { start: site.token.start, end: site.token.end, obstacle: site.obstacle ?? (isPlain ? undefined : 'odd-quoting') }))
    }
    this.scan.commands.push(
      ...child.scan.commands.map(({ start, words }) => ({ start: outerOf(start), words: words.map((word) => ({ ...word, start: outerOf(word.start), end: outerOf(word.end) })) })),
    )
    this.scan.expansions.push(...child.scan.expansions.map(({ name, at }) => ({ name, at: outerOf(at) })))
    this.scan.arithmetic.push(...child.scan.arithmetic)
    this.scan.pipelines.push(...child.scan.pipelines.map(({ elements }) => ({ elements: elements.map(({ start, end, stdin }) => ({ start: outerOf(start), end: outerOf(end), stdin })) })))
    return EXPANSION
  }

  // --- small steps ---------------------------------------------------------------------------------------------------

  #char(ahead = 0): string {
    return this.#at + ahead < this.#limit ? (this.text[this.#at + ahead] ?? '') : ''
  }

  #site(token: Token, quoting: Quoting, start = this.#at): Site {
    const length = this.tokens.has(start) ? token.text.length : token.text.length + 1
    const site: Site = { token, start, end: start + length, quoting }
    this.scan.sites.push(site)
    this.#at = start + length
    return site
  }

  #expands(name: string | undefined): void {
    if (name && /^[A-Za-z_]/.test(name)) this.scan.expansions.push({ name, at: this.#at })
  }

  #refuse(sites: readonly Site[], obstacle: Obstacle): void {
    for (const site of sites) site.obstacle ??= obstacle
  }

  #skipBlanks(): void {
    while (this.#at < this.#limit && (BLANK.includes(this.#char()) || this.text.startsWith('\\\n', this.#at))) this.#at += this.#char() === '\\' ? 2 : 1
  }

  #skipSpace(): void {
    for (;;) {
      this.#skipBlanks()
      if (this.#char() === '\n') {
        this.#at++
        this.#readHeredocs()
      } else if (this.#char() === '#') this.#skipComment()
      else return
    }
  }

  #skipComment(): void {
    const newline = this.text.indexOf('\n', this.#at)
    this.#at = newline < 0 || newline > this.#limit ? this.#limit : newline
  }

  #atReservedWord(word: string): boolean {
    if (!this.text.startsWith(word, this.#at)) return false
    const next = this.text[this.#at + word.length]
    const isFirst = !this.#command || this.#command.words.length === 0 || word === 'in'
    return isFirst && (next === undefined || META.includes(next))
  }
}

const ASSIGNMENT = /^[A-Za-z_]\w*(?:\[\])?\+?=/s

function isArrayStart(text: string): boolean {
  return /^[A-Za-z_]\w*(?:\[\])?\+?=$/.test(text)
}
