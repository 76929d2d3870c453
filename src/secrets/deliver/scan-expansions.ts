/** Reads what `$` and backticks open: variables, `${ }` with its operators, arithmetic, substitutions. */
import { EXPANSION, WordScanner, type Around } from './scan-words.js'
import type { Scan } from './sites.js'
import type { Token } from './tokens.js'

export abstract class ExpansionScanner extends WordScanner {
  /** Where `((` turned out to open no arithmetic: asked once each, or nested ones would cost double per level. */
  readonly #notArithmetic = new Set<number>()

  /** Scans another text on its own. */
  protected abstract scanApart(text: string, tokens: ReadonlyMap<number, Token>): Scan

  protected dollar(around: Around): string {
    const token = this.tokens.get(this.at + 1)
    if (token) {
      this.at++
      this.site(token, 'bare').obstacle = 'parameter' // `${{secret:x}}` opens a `${`
      return EXPANSION
    }
    const next = this.char(1)
    if (next === '(') {
      if (!this.doubleParenthesis(1)) {
        this.at += 2
        this.commandList(')')
      }
    } else if (next === '{') this.#parameter(around)
    else if (next === '[') {
      this.at += 2
      this.arithmetic(']')
    } else if (next === "'" && around === 'bare') return this.ansi()
    else if (next === '"' && around === 'bare') {
      this.at++
      return this.double()
    } else {
      const name = /^(?:[A-Za-z_]\w*|[0-9@*#?$!-])/.exec(this.text.slice(this.at + 1, this.at + 256))
      this.expands(name?.[0])
      this.at += 1 + (name?.[0].length ?? 0)
      if (!name) return '$'
    }
    return EXPANSION
  }

  /** `${name}` with its operators. A token may stand in the word of `:-` and its kin and in patterns, nowhere else. */
  #parameter(around: Around): void {
    this.at += 2
    const name = /^[!#]?(?:[A-Za-z_]\w*|[0-9]+|[@*#?$!-])?/.exec(this.text.slice(this.at, this.at + 1024))?.[0] ?? ''
    this.expands(name.replace(/^[!#]/, ''))
    this.at += name.length
    if (this.char() === '[') {
      this.at++
      this.arithmetic(']')
    }
    const operator =
      /^:[-=+?]|^[-=+?]|^##?|^%%?|^\/[/#%]?|^\^\^?|^,,?|^:|^@/.exec(this.text.slice(this.at, this.at + 2))?.[0] ?? ''
    this.at += operator.length
    const isWord = /[-=+?]$/.test(operator)
    const isPattern = /^[#%/^,]/.test(operator)
    while (this.at < this.limit && this.char() !== '}') {
      const char = this.char()
      const token = this.tokens.get(this.at)
      if (token) {
        const site = this.site(token, operator === ':' ? 'number' : isWord && around !== 'bare' ? 'double' : 'bare')
        if (!isWord && !isPattern && operator !== ':') site.obstacle = 'parameter'
        if (isPattern && around === 'heredoc') site.obstacle = 'odd-quoting'
      } else if (char === '\\' && this.tokens.has(this.at + 1))
        this.site(this.tokens.get(this.at + 1) as Token, 'bare', this.at).obstacle = 'odd-quoting'
      else if (char === "'" && (around === 'bare' || isPattern)) {
        const first = this.scan.sites.length
        this.single()
        if (around !== 'bare') this.refuse(this.scan.sites.slice(first), 'odd-quoting')
      } else if (char === "'" || (char === '"' && around === 'heredoc')) this.at++
      else if (char === '$' && around !== 'bare') this.dollar(around)
      else this.bareChar(char)
    }
    this.at++
  }

  /**
   * `((` opens arithmetic only when `))` closes it; otherwise it was a subshell in parentheses,
   * and what was read is forgotten.
   */
  protected doubleParenthesis(ahead: number): boolean {
    if (this.char(ahead) !== '(' || this.char(ahead + 1) !== '(') return false
    const start = this.at
    if (this.#notArithmetic.has(start)) return false
    // A here-document may have been announced before and read since: then it is announced again.
    const pending = [...this.pending]
    const lists: unknown[][] = [
      ...Object.values(this.scan as unknown as Record<string, unknown[]>),
      ...pending.map(({ stdin }) => stdin),
    ]
    const lengths = lists.map((list) => list.length)
    this.at += ahead + 2
    if (this.arithmetic('))')) return true
    lists.forEach((list, index) => {
      list.length = lengths[index] as number
    })
    this.pending = pending
    this.at = start
    this.#notArithmetic.add(start)
    return false
  }

  /**
   * Everything up to the closer is evaluated as arithmetic, where a variable's value is an
   * expression again: only plain numbers may go there.
   */
  protected arithmetic(closer: '))' | ']'): boolean {
    const start = this.at
    let depth = 0
    const [open, close] = closer === ']' ? ['[', ']'] : ['(', ')']
    while (this.at < this.limit) {
      const char = this.char()
      const token = this.tokens.get(this.at)
      if (token) this.site(token, 'number')
      else if (depth === 0 && this.text.startsWith(closer, this.at)) {
        this.scan.arithmetic.push(this.text.slice(start, this.at))
        this.at += closer.length
        return true
      } else if (char === open || char === close) {
        depth += char === open ? 1 : -1
        this.at++
        if (depth < 0) return false
      } else {
        const first = this.scan.sites.length
        this.bareChar(char)
        for (const site of this.scan.sites.slice(first)) site.quoting = 'number'
      }
    }
    return false
  }

  /** The old substitution: bash first removes a layer of backslashes and then reads what is left as a command. */
  protected backticks(inDoubleQuotes: boolean): string {
    const offsets: number[] = []
    let inner = ''
    this.at++
    while (this.at < this.limit && this.char() !== '`') {
      if (this.char() === '\\' && (inDoubleQuotes ? '$`\\"' : '$`\\').includes(this.char(1) || ' ')) this.at++
      offsets.push(this.at)
      inner += this.char()
      this.at++
    }
    this.at++
    const tokens = new Map(
      offsets.flatMap((offset, index) => {
        const token = this.tokens.get(offset)
        return token ? [[index, token] as const] : []
      }),
    )
    const child = this.scanApart(inner, tokens)
    const outerOf = (index: number) => offsets[index] ?? this.at
    for (const site of child.sites) {
      const isPlain =
        site.quoting !== 'after-backslash' &&
        site.quoting !== 'quoted-heredoc' &&
        inner.startsWith(site.token.text, site.start)
      this.scan.sites.push(
        Object.assign(site, {
          start: site.token.start,
          end: site.token.end,
          obstacle: site.obstacle ?? (isPlain ? undefined : 'odd-quoting'),
        }),
      )
    }
    this.scan.commands.push(
      ...child.commands.map(({ start, words }) => ({
        start: outerOf(start),
        words: words.map((word) => ({ ...word, start: outerOf(word.start), end: outerOf(word.end) })),
      })),
    )
    this.scan.expansions.push(...child.expansions.map(({ name, at }) => ({ name, at: outerOf(at) })))
    this.scan.arithmetic.push(...child.arithmetic)
    this.scan.pipelines.push(
      ...child.pipelines.map(({ elements }) => ({
        elements: elements.map(({ start, end, stdin }) => ({ start: outerOf(start), end: outerOf(end), stdin })),
      })),
    )
    return EXPANSION
  }
}
