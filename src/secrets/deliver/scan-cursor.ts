/**
 * A place in a command that moves on, and the notes taken on the way: the small steps that all
 * levels of the scanner share.
 */
import type { Obstacle, Pipeline, Quoting, Scan, Site } from './sites.js'
import type { Token } from './tokens.js'

/** A here-document that was announced; its body follows the line. */
export interface Pending {
  readonly delimiter: string
  readonly quoted: boolean
  readonly dash: boolean
  readonly word: readonly [number, number]
  readonly stdin: Site[]
}

const BLANK = ' \t'

export abstract class Cursor {
  readonly scan: Scan = { sites: [], commands: [], pipelines: [], expansions: [], arithmetic: [] }
  protected at = 0
  /** Nothing beyond is looked at: what is left open in a here-document ends with it. */
  protected limit: number
  protected pending: Pending[] = []
  protected pipeline: Pipeline = { elements: [] }

  constructor(
    readonly text: string,
    readonly tokens: ReadonlyMap<number, Token>,
  ) {
    this.limit = text.length
  }

  protected char(ahead = 0): string {
    return this.at + ahead < this.limit ? (this.text[this.at + ahead] ?? '') : ''
  }

  protected site(token: Token, quoting: Quoting, start = this.at): Site {
    const length = this.tokens.has(start) ? token.text.length : token.text.length + 1
    const site: Site = { token, start, end: start + length, quoting }
    this.scan.sites.push(site)
    this.at = start + length
    return site
  }

  protected expands(name: string | undefined): void {
    if (name && /^[A-Za-z_]/.test(name)) this.scan.expansions.push({ name, at: this.at })
  }

  protected refuse(sites: readonly Site[], obstacle: Obstacle): void {
    for (const site of sites) site.obstacle ??= obstacle
  }

  protected skipBlanks(): void {
    while (this.at < this.limit && (BLANK.includes(this.char()) || this.text.startsWith('\\\n', this.at)))
      this.at += this.char() === '\\' ? 2 : 1
  }

  protected skipComment(): void {
    const newline = this.text.indexOf('\n', this.at)
    this.at = newline < 0 || newline > this.limit ? this.limit : newline
  }
}
