/** Reads redirections and the here-documents they announce. */
import type { Pending } from './scan-cursor.js'
import { ExpansionScanner } from './scan-expansions.js'

export abstract class RedirectionScanner extends ExpansionScanner {
  protected redirection(): void {
    const operator = /^&>>?|^<<<|^<<-?|^<>|^>>|^>\||^[<>]&?/.exec(this.text.slice(this.at, this.at + 4))?.[0] ?? '>'
    this.at += operator.length
    this.skipBlanks()
    const start = this.at
    const word = this.word(false)
    const stdin = this.pipeline.elements.at(-1)?.stdin ?? []
    if (operator === '<<<') stdin.push(...word.sites)
    if (operator !== '<<' && operator !== '<<-') return
    this.refuse(word.sites, 'heredoc-delimiter')
    const raw = this.text.slice(start, this.at)
    this.pending.push({
      delimiter: word.text,
      quoted: /['"\\]/.test(raw),
      dash: operator === '<<-',
      word: [start, this.at],
      stdin,
    })
  }

  protected readHeredocs(): void {
    for (const pending of this.pending.splice(0)) {
      const first = this.scan.sites.length
      const [end, closing] = this.#heredocEnd(pending)
      const heredoc = { word: pending.word, body: [this.at, end], closing } as const
      const outerLimit = this.limit
      this.limit = end
      while (this.at < end) {
        if (pending.quoted) {
          const token = this.tokens.get(this.at)
          if (token) this.site(token, 'quoted-heredoc').heredoc = heredoc
          else this.at++
        } else this.quotedChar('heredoc')
      }
      const found = this.scan.sites.slice(first)
      pending.stdin.push(...found)
      if (pending.quoted && closing[0] === closing[1]) this.refuse(found, 'unterminated')
      this.limit = outerLimit
      this.at = closing[1]
    }
  }

  /** Where the body ends, and where the closing delimiter stands. */
  #heredocEnd({ delimiter, quoted, dash }: Pending): [number, readonly [number, number]] {
    let line = this.at
    let continued = false
    while (line < this.limit) {
      const newline = this.text.indexOf('\n', line)
      const end = newline < 0 || newline > this.limit ? this.limit : newline
      const raw = this.text.slice(line, end)
      const content = dash ? raw.replace(/^\t+/, '') : raw
      if (!continued && content === delimiter) return [line, [end - content.length, end]]
      continued = !quoted && /(^|[^\\])(\\\\)*\\$/.test(raw)
      line = end + 1
    }
    return [this.limit, [this.limit, this.limit]]
  }

  protected skipSpace(): void {
    for (;;) {
      this.skipBlanks()
      if (this.char() === '\n') {
        this.at++
        this.readHeredocs()
      } else if (this.char() === '#') this.skipComment()
      else return
    }
  }
}
