/** Reads a `.env` file: names and values, nothing is expanded and nothing is run. */

const LINE = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.]*)\s*=[ \t]*(.*)$/
/** A value in quotes may go over several lines. */
const QUOTED = /^(['"`])((?:\\[^]|(?!\1)[^\\])*)\1[ \t]*(?:#.*)?$/

export interface Dotenv {
  readonly values: Readonly<Record<string, string>>
  /** Numbers of lines that are neither an assignment, a comment nor empty. */
  readonly unread: readonly number[]
}

export function parseDotenv(text: string): Dotenv {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  const values: Record<string, string> = {}
  const unread: number[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string
    if (/^\s*(?:#|$)/.test(line)) continue
    const match = LINE.exec(line)
    if (!match) {
      unread.push(at + 1)
      continue
    }
    const [, name = '', rest = ''] = match
    let quoted = QUOTED.exec(rest.trimEnd())
    let end = at
    // The closing quote may stand on a later line, but not in another assignment's.
    if (!quoted && /^['"`]/.test(rest))
      for (let whole = rest; end + 1 < lines.length && !quoted && end - at < MOST_LINES;) {
        whole += `\n${lines[++end]}`
        quoted = QUOTED.exec(whole.trimEnd())
      }
    if (quoted) {
      at = end
      values[name] = quoted[1] === '"' ? escapes(quoted[2] as string) : (quoted[2] as string)
    } else values[name] = rest.replace(/(?:^|\s)#.*$/, '').trim()
  }
  return { values, unread }
}

const MOST_LINES = 200

function escapes(text: string): string {
  return text.replaceAll(/\\([nrt"\\$])/g, (_, letter: string) => ESCAPES[letter] ?? letter)
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }
