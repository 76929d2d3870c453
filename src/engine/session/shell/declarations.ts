/** What `declare -p` prints: one declaration after the other, quoted by bash, safe to be read by bash again. */

export interface Declaration {
  readonly name: string
  readonly flags: string
  /** The whole `declare` command as bash printed it. */
  readonly text: string
}

const HEADER = /declare -([-\w]+) ([A-Za-z_]\w*)(=?)/y

/** An older bash prints newlines as they are, so quotes and brackets say where a declaration ends, not lines. */
export function parseDeclarations(text: string): Declaration[] {
  const found: Declaration[] = []
  for (let at = 0; at < text.length;) {
    HEADER.lastIndex = at
    const match = HEADER.exec(text)
    const end = endOfLine(text, match?.[3] ? endOfValue(text, HEADER.lastIndex) : at)
    // What no bash prints is passed over.
    if (match) found.push({ flags: match[1] as string, name: match[2] as string, text: text.slice(at, end) })
    at = end + 1
  }
  return found
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end
}

/** Behind a word in quotes, or a list of such words in brackets. */
function endOfValue(text: string, from: number): number {
  if (text[from] !== '(') return endOfWord(text, from)
  let at = from + 1
  while (at < text.length && text[at] !== ')') at = Math.max(at + 1, endOfWord(text, at))
  return at + 1
}

function endOfWord(text: string, from: number): number {
  const ansi = text.startsWith("$'", from)
  const quote = ansi ? "'" : text[from]
  if (quote !== '"' && quote !== "'") return from
  let at = from + (ansi ? 2 : 1)
  for (; at < text.length && text[at] !== quote; at++) if (text[at] === '\\' && (ansi || quote === '"')) at++
  return at + 1
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  v: '\v',
}

/** The plain value of `declare -x NAME="..."` or `NAME=$'...'`; null for arrays and unset names. */
export function valueOf(text: string): string | null {
  const quoted = /^declare -\S+ \w+="([\s\S]*)"$/.exec(text)?.[1]
  if (quoted !== undefined) return quoted.replaceAll(/\\([$`"\\])/g, '$1')
  const ansi = /^declare -\S+ \w+=\$'([\s\S]*)'$/.exec(text)?.[1]
  if (ansi === undefined) return null
  return ansi.replaceAll(/\\(?:([0-7]{1,3})|([\s\S]))/g, (_, octal: string | undefined, letter: string | undefined) =>
    octal ? String.fromCharCode(Number.parseInt(octal, 8)) : (ESCAPES[letter as string] ?? (letter as string)),
  )
}
