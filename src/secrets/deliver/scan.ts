/**
 * Says of every token of a command in which kind of quoting it stands and which command it belongs to, from the
 * same syntax tree that the guard follows. What gets inserted is only ever the name of a variable.
 */
import {
  forEachChild,
  parse,
  type Assignment,
  type Command as CommandNode,
  type HereDoc,
  type ParameterExpansionPart,
  type ParsedScript,
  type SyntaxNode,
  type Word as WordNode,
  type WordPart,
} from 'unbash'
import type { Command, Heredoc, Obstacle, Pipeline, Scan, Site, Word } from './sites.js'
import { EXPANSION, TextReader, TOKEN, Unreadable, type Around } from './text-reader.js'
import type { Token } from './tokens.js'

const NUMERIC_TESTS = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge'])

/** Scans a whole command. Only the tokens given are tokens; anything else between double braces is text. */
export function scanCommand(text: string, tokens: readonly Token[]): Scan {
  let marked = text
  for (const { start, end } of tokens) marked = marked.slice(0, start) + TOKEN.repeat(end - start) + marked.slice(end)
  const reader = new Reader(marked, new Map(tokens.map((token) => [token.start, token])))
  reader.script(parse(marked))
  reader.scan.sites.sort((a, b) => a.start - b.start)
  return reader.scan
}

type Element = Pipeline['elements'][number]

class Reader extends TextReader {
  constructor(
    source: string,
    tokens: ReadonlyMap<number, Token>,
    /** The text between backticks, without a layer of backslashes. */
    readonly isDecoded = false,
  ) {
    super(source, tokens)
  }

  script(script: ParsedScript | undefined): void {
    const [error] = script?.errors ?? []
    if (!script || error) throw new Unreadable(error?.message)
    for (const statement of script.commands) this.visit(statement, null)
  }

  visit(node: SyntaxNode, element: Element | null): void {
    const children = (): void => forEachChild(node, (child) => this.visit(child, element))
    switch (node.type) {
      case 'Statement':
      case 'AndOr':
        for (const each of node.type === 'AndOr' ? node.commands : [node.command]) this.#pipeline(each)
        return
      case 'Command':
        return this.#command(node, element)
      case 'For':
      case 'Select': {
        const word = (text: string): Word => ({ text, raw: text, start: node.pos, end: node.pos, sites: [] })
        const words = [word(node.type === 'For' ? 'for' : 'select'), this.word(node.name), word('in')]
        for (const each of node.wordlist ?? []) words.push(this.word(each))
        this.scan.commands.push({ start: node.pos, words })
        return this.visit(node.body, element)
      }
      case 'Function':
        refuse(this.word(node.name).sites, 'name')
        return this.visit(node.body, element)
      case 'TestUnary': {
        const { sites } = this.word(node.operand)
        if (node.operator === '-v' || node.operator === '-R') refuse(sites, 'name')
        return
      }
      case 'TestBinary':
        if (!NUMERIC_TESTS.has(node.operator)) return children()
        for (const each of [node.left, node.right]) this.#arithmetic(each.pos, each.end, () => this.word(each))
        return
      case 'ArithmeticCommand':
        return this.#arithmetic(node.pos + 2, node.end - 2, () => children())
      case 'ArithmeticFor':
        for (const each of [node.initialize, node.test, node.update])
          if (each) this.#arithmetic(each.pos, each.end, () => this.visit(each, element))
        return this.visit(node.body, element)
      case 'HereDoc':
        return this.#hereDocument(node, element)
      case 'HereString':
        if (node.target) element?.stdin.push(...this.word(node.target).sites)
        return
      case 'Word':
        return void this.word(node)
      case 'Assignment':
        return void this.#assignment(node)
      default:
        if (isPart(node)) return void this.#part(node, 'bare')
        return children()
    }
  }

  #pipeline(node: SyntaxNode): void {
    if (node.type === 'AndOr') return this.visit(node, null)
    const commands = node.type === 'Pipeline' ? node.commands : [node]
    const elements = commands.map(({ pos, end }): Element => ({ start: pos, end, stdin: [] }))
    this.scan.pipelines.push({ elements })
    commands.forEach((command, at) => this.visit(command, elements[at] as Element))
  }

  #command(node: CommandNode, element: Element | null): void {
    const command: Command = { start: node.pos, words: [] }
    for (const each of [...node.prefix, ...(node.name ? [node.name] : []), ...node.suffix]) {
      if (each.type !== 'Word' && each.type !== 'Assignment') {
        this.visit(each, element)
        continue
      }
      const word = each.type === 'Word' ? this.word(each) : this.#assignment(each)
      const before = command.words.at(-1)
      // The tree has two words for `X=<(...)`.
      if (before?.end === word.start) command.words.splice(-1, 1, joined(before, word))
      else command.words.push(word)
    }
    if (command.words.length > 0) this.scan.commands.push(command)
  }

  #assignment({ pos, end, name, index, append, value }: Assignment): Word {
    return this.#noted(pos, end, () => {
      if (index) this.#arithmetic(index.pos, index.end, () => this.word(index))
      const left = `${name}${index ? '[]' : ''}${append ? '+' : ''}=`
      if (value.type === 'Word') return left + this.word(value).text
      // The words may be run later as a command ("${array[@]}"), so they are judged like one.
      this.scan.commands.push({ start: value.pos, words: value.elements.map((each) => this.#arrayElement(each)) })
      return `${left}(`
    })
  }

  /** `[subscript]=value`: evaluated, unless the array is associative, which cannot be known here. */
  #arrayElement(node: WordNode): Word {
    if (this.source[node.pos] !== '[') return this.word(node)
    let close = node.pos
    for (let depth = 0; close < node.end; close++) {
      if (this.source[close] === '[') depth += 1
      if (this.source[close] === ']' && --depth === 0) break
    }
    const parts = node.parts ?? []
    if (parts.some(({ pos, end }) => pos < close && end > close)) return this.word(node)
    this.#arithmetic(node.pos + 1, close, () =>
      this.#pieces(
        parts.filter(({ end }) => end <= close),
        node.pos + 1,
        close,
        'bare',
      ),
    )
    const rest = parts.filter(({ pos }) => pos > close)
    return this.#noted(close + 1, node.end, () => this.#pieces(rest, close + 1, node.end, 'bare'))
  }

  word({ pos, end, parts = [] }: WordNode): Word {
    return this.#noted(pos, end, () => this.#pieces(parts, pos, end, 'bare'))
  }

  #noted(start: number, end: number, read: () => string): Word {
    const first = this.scan.sites.length
    const text = read()
    return { text, raw: this.source.slice(start, end), start, end, sites: this.scan.sites.slice(first) }
  }

  /** The parts, and the literal text between them; returns what they add to the word. */
  #pieces(parts: readonly WordPart[], from: number, to: number, around: Around): string {
    let text = ''
    let at = from
    for (const part of parts) {
      text += this.literal(at, part.pos, around) + this.#part(part, around)
      at = part.end
    }
    return text + this.literal(at, to, around)
  }

  #part(part: WordPart, around: Around): string {
    switch (part.type) {
      case 'Literal':
        return this.literal(part.pos, part.end, around)
      case 'SingleQuoted':
        // In a here-document quotes are text.
        if (around === 'heredoc') return this.literal(part.pos, part.end, around)
        return this.quoted(part.pos + 1, part.end - 1, 'single')
      case 'AnsiCQuoted':
        return this.quoted(part.pos + 2, part.end - 1, 'ansi')
      case 'DoubleQuoted':
        if (around === 'heredoc') return this.#pieces(part.parts, part.pos, part.end, around)
        return this.#pieces(part.parts, part.pos + 1, part.end - 1, 'double')
      case 'LocaleString':
        return this.#pieces(part.parts, part.pos + 2, part.end - 1, 'double')
      case 'SimpleExpansion':
        this.expands(part.text.slice(1), part.pos)
        return EXPANSION
      case 'ParameterExpansion':
        this.#parameter(part, around)
        return EXPANSION
      case 'CommandExpansion':
      case 'ProcessSubstitution': {
        const first = this.scan.sites.length
        if (part.script?.source === undefined) this.script(part.script)
        else this.#backticks(part.pos, part.script, part.script.source, around)
        // Backticks within backticks.
        if (this.isDecoded && part.text.startsWith('`')) refuse(this.scan.sites.slice(first), 'odd-quoting')
        return EXPANSION
      }
      case 'ArithmeticExpansion': {
        const isOld = this.source[part.pos + 1] === '['
        const { pos, end } = { pos: part.pos + (isOld ? 2 : 3), end: part.end - (isOld ? 1 : 2) }
        this.#arithmetic(pos, end, () => part.expression && this.visit(part.expression, null))
        return EXPANSION
      }
      default:
        return this.#pieces(part.parts ?? [], part.pos, part.end, around)
    }
  }

  /**
   * Everything in the range is evaluated, and a variable's value is an expression again: only plain numbers may go
   * there.
   */
  #arithmetic(from: number, to: number, read: () => void): void {
    this.scan.arithmetic.push(this.source.slice(from, to))
    read()
    for (let at = from; at < to; at++)
      if (this.tokens.has(at) && !this.scan.sites.some(({ token }) => token.start === at)) this.site(at, 'number')
    for (const site of this.scan.sites) if (from <= site.start && site.start < to) site.quoting = 'number'
  }

  /** A token may stand in the word of `:-` and its kin and in patterns, nowhere else. */
  #parameter({ pos, end, parameter, index, operation }: ParameterExpansionPart, around: Around): void {
    this.expands(parameter, pos)
    const first = this.scan.sites.length
    if (index) this.#arithmetic(index.pos, index.end, () => this.word(index))
    const kind = operation?.type
    const from = operation?.operatorEnd ?? end - 1
    if (kind === 'Slice')
      this.#arithmetic(from, end - 1, () => forEachChild(operation as never, (each) => this.visit(each, null)))
    else if (operation && kind !== 'Unknown' && kind !== 'Transform' && kind !== 'Names') {
      const isWord = kind === 'Default'
      const begun = this.scan.sites.length
      forEachChild(operation, (each) => {
        const { pos: start, end: stop, parts = [] } = each as WordNode
        this.#pieces(parts, start, stop, isWord ? around : 'bare')
      })
      for (const site of this.scan.sites.slice(begun)) {
        const isEscaped = site.start !== site.token.start
        if (isEscaped || (!isWord && (around === 'heredoc' || (around !== 'bare' && site.quoting === 'single'))))
          site.obstacle ??= 'odd-quoting'
      }
    }
    for (let at = pos; at < end; at++)
      if (this.tokens.has(at) && !this.scan.sites.slice(first).some(({ token }) => token.start === at))
        this.site(at, 'bare').obstacle = 'parameter'
  }

  #hereDocument({ delimiter, body, closing }: HereDoc, element: Element | null): void {
    if (!delimiter) throw new Unreadable()
    refuse(
      this.#noted(delimiter.pos, delimiter.end, () => this.marks(delimiter.pos, delimiter.end)).sites,
      'heredoc-delimiter',
    )
    const end = closing?.pos ?? body.end
    const heredoc: Heredoc = {
      word: [delimiter.pos, delimiter.end],
      body: [body.pos, body.end],
      closing: [end, closing?.end ?? end],
    }
    const { sites } = this.#noted(body.pos, body.end, () =>
      delimiter.quoted
        ? this.quoted(body.pos, body.end, 'quoted-heredoc')
        : this.#pieces(body.parts ?? [], body.pos, body.end, 'heredoc'),
    )
    if (delimiter.quoted) {
      for (const site of sites) site.heredoc = heredoc
      if (!closing) refuse(sites, 'unterminated')
    }
    element?.stdin.push(...sites)
  }

  /** The old substitution: bash removes a layer of backslashes first. Its tree counts in the text that is left. */
  #backticks(pos: number, script: ParsedScript, inner: string, around: Around): void {
    const offsets: number[] = []
    for (let at = pos + 1; offsets.length < inner.length; at++) {
      const isLayer =
        this.source[at] === '\\' && (around === 'double' ? '$`\\"' : '$`\\').includes(this.source[at + 1] ?? ' ')
      if (isLayer && this.source[at + 1] === inner[offsets.length]) at += 1
      if (this.source[at] !== inner[offsets.length]) throw new Unreadable()
      offsets.push(at)
    }
    const outer = (index: number): number => offsets[index] ?? (offsets.at(-1) ?? pos) + 1
    const tokens = offsets.flatMap((offset, index) => {
      const token = this.tokens.get(offset)
      return token ? [[index, token] as const] : []
    })
    const child = new Reader(inner, new Map(tokens), true)
    child.script({ ...script, source: undefined } as never)
    for (const site of child.scan.sites) {
      const isPlain =
        site.quoting !== 'after-backslash' &&
        site.quoting !== 'quoted-heredoc' &&
        outer(site.start) === site.token.start
      const obstacle = site.obstacle ?? (isPlain ? undefined : 'odd-quoting')
      this.scan.sites.push(Object.assign(site, { start: site.token.start, end: site.token.end, obstacle }))
    }
    const { commands, pipelines, expansions, arithmetic } = child.scan
    for (const { start, words } of commands)
      this.scan.commands.push({
        start: outer(start),
        words: words.map((word) => ({ ...word, start: outer(word.start), end: outer(word.end) })),
      })
    for (const { elements } of pipelines)
      this.scan.pipelines.push({
        elements: elements.map(({ start, end, stdin }) => ({ start: outer(start), end: outer(end), stdin })),
      })
    this.scan.expansions.push(...expansions.map(({ name, at }) => ({ name, at: outer(at) })))
    this.scan.arithmetic.push(...arithmetic)
  }
}

function joined(first: Word, { text, raw, end, sites }: Word): Word {
  return { text: first.text + text, raw: first.raw + raw, start: first.start, end, sites: [...first.sites, ...sites] }
}

function refuse(sites: readonly Site[], obstacle: Obstacle): void {
  for (const site of sites) site.obstacle ??= obstacle
}

const PARTS =
  /^(?:Literal|Glob|ExtendedGlob|SingleQuoted|DoubleQuoted|AnsiCQuoted|LocaleString|BraceExpansion|.*Expansion|ProcessSubstitution)$/

function isPart(node: SyntaxNode): node is WordPart {
  return PARTS.test(node.type) && node.type !== 'ArithmeticCommandExpansion'
}
