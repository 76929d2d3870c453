/** The text of a word, character by character: what the tree of a command says no more about. */
import type { Quoting, Scan, Site } from './sites.js'
import type { Token } from './tokens.js'

export const EXPANSION = '\ue000'
/** Stands for each character of a token while the command is parsed, so that nothing of its name is syntax. */
export const TOKEN = '\ue001'

/** The command is nested too deeply, or is none that bash would read to its end. */
export class Unreadable extends Error {}

/** What stands around a part of a word. */
export type Around = 'bare' | 'double' | 'heredoc'

export class TextReader {
  readonly scan: Scan = { sites: [], commands: [], pipelines: [], expansions: [], arithmetic: [] }

  constructor(
    readonly source: string,
    readonly tokens: ReadonlyMap<number, Token>,
  ) {}

  /** Text outside single quotes: a backslash takes the next character, and is gone unless quotes keep it. */
  protected literal(from: number, to: number, around: Around): string {
    let text = ''
    for (let at = from; at < to;) {
      const char = this.source[at] as string
      const escaped = char === '\\' && this.tokens.has(at + 1)
      if (this.tokens.has(at)) {
        at = this.site(at, around === 'bare' ? 'bare' : 'double').end
        text += TOKEN
      } else if (char === '$' && this.tokens.has(at + 1)) {
        // `${{secret:x}}` opens a `${`.
        const site = this.site(at + 1, 'bare')
        site.obstacle = 'parameter'
        at = site.end
        text += EXPANSION
      } else if (escaped && around === 'bare') {
        // Outside quotes `\{` is just `{`: the program would have received the token without the backslash.
        at = this.site(at + 1, 'bare', at).end
        text += TOKEN
      } else if (escaped) {
        // Here a backslash before `{` stays a backslash: it has to be doubled, or it would act on what is inserted.
        at = this.site(at + 1, 'after-backslash', at).end
        text += `\\${TOKEN}`
      } else if (char === '\\') {
        const next = this.source[at + 1] ?? ''
        const isKept = around !== 'bare' && !'$`"\\\n'.includes(next)
        text += (isKept ? '\\' : '') + (next === '\n' ? '' : next)
        at += 2
      } else {
        // The tree says what these open; where it does not, this is no command that can be rewritten.
        if (char === '`' || (char === '$' && /[\w({]/.test(this.source[at + 1] ?? ''))) throw new Unreadable()
        if (around === 'bare' && (char === '"' || char === "'")) throw new Unreadable()
        text += char
        at += 1
      }
    }
    return text
  }

  /** Text of which bash expands nothing. */
  protected quoted(from: number, to: number, quoting: 'single' | 'ansi' | 'quoted-heredoc'): string {
    let text = ''
    for (let at = from; at < to;) {
      const isEscape = quoting === 'ansi' && this.source[at] === '\\'
      if (this.tokens.has(at)) {
        at = this.site(at, quoting).end
        text += TOKEN
      } else if (isEscape && this.tokens.has(at + 1)) {
        const site = this.site(at + 1, quoting, at)
        site.obstacle = 'odd-quoting'
        at = site.end
        text += EXPANSION
      } else {
        text += isEscape ? EXPANSION : this.source[at]
        at += isEscape ? 2 : 1
      }
    }
    return text
  }

  /** `start` lies before the token when a backslash in front of it disappears with it. */
  protected site(at: number, quoting: Quoting, start = at): Site {
    const token = this.tokens.get(at) as Token
    const site: Site = { token, start, end: at + token.text.length, quoting }
    this.scan.sites.push(site)
    return site
  }

  protected expands(name: string, at: number): void {
    if (/^[A-Za-z_]/.test(name)) this.scan.expansions.push({ name, at })
  }

  /** Notes the tokens of a text of which nothing else is looked at. */
  protected marks(from: number, to: number): string {
    for (let at = from; at < to; at++) if (this.tokens.has(at)) this.site(at, 'bare')
    return ''
  }
}
