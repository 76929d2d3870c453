/** Compiles a user's regular expression so that matching takes linear time, or says plainly that it cannot. */
import { ShellError } from '../contract/errors.js'

/** Tells for each line whether it matches. */
export type LineMatcher = (lines: readonly string[]) => readonly boolean[]

/** JavaScript syntax, and the spellings of other languages that RE2 knows: `(?i)`, `(?P<name>...)`, `[[:alpha:]]`. */
export async function compilePattern(
  source: string,
  { ignoreCase = false, what = 'filter' } = {},
): Promise<LineMatcher> {
  const badPattern = (text: string, why: string): ShellError =>
    new ShellError(
      'BAD_FILTER',
      `Invalid ${what} regex ${JSON.stringify(text)}: ${why}`,
      'Give a regular expression such as "error|warn"; escape ( [ { * + ? . \\ to match them literally.',
    )
  if (typeof source !== 'string') throw badPattern(String(source), 'not a string')
  if (source.length > MAX_PATTERN)
    throw badPattern(`${source.slice(0, 60)}...`, `longer than ${MAX_PATTERN} characters`)
  const { RE2JS } = await import('re2js')
  const flags = RE2JS.LOOKBEHINDS | (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0)
  const compileLinear = (text: string, more = 0): LineTest | null => {
    // RE2JS takes `\k<name>` for letters and would never match, in silence.
    if (BACKREFERENCE.test(text)) return null
    try {
      const pattern = RE2JS.compile(RE2JS.translateRegExp(text), flags | more)
      return (line) => pattern.test(line)
    } catch {
      return null
    }
  }
  const linear = compileLinear(source)
  if (linear) return inBlocks(linear, NOT_IN_BLOCKS.test(source) ? null : compileLinear(source, RE2JS.MULTILINE))
  const guarded = peeled(source, compileLinear)
  if (guarded) return (lines) => lines.map(guarded)
  throw badPattern(source, nativeProblem(source) ?? 'lookaround and backreferences are not supported here')
}

type LineTest = (line: string) => boolean

/**
 * Most lines match nothing, and one look at a block of them costs a fraction of one look at each. With `^` and `$`
 * meaning lines, whatever matches in a line also matches in the block; a match across lines only costs the second look.
 */
function inBlocks(matchesLine: LineTest, matchesBlock: LineTest | null): LineMatcher {
  if (!matchesBlock) return (lines) => lines.map(matchesLine)
  return (lines) => {
    const verdicts: boolean[] = Array.from({ length: lines.length }, () => false)
    for (let from = 0; from < lines.length; from += BLOCK_LINES) {
      const block = lines.slice(from, from + BLOCK_LINES)
      if (block.length > 1 && !matchesBlock(block.join('\n'))) continue
      for (const [index, line] of block.entries()) verdicts[from + index] = matchesLine(line)
    }
    return verdicts
  }
}

function nativeProblem(source: string): string | null {
  try {
    void new RegExp(source)
    return null
  } catch (error) {
    return (error as Error).message.replace(/^Invalid regular expression: /, '')
  }
}

/**
 * `^(?!.*DEBUG).*item` is the usual way to leave lines out. Lookaheads at the very beginning need no backtracking:
 * each is a pattern of its own that does or does not match at the beginning of the line.
 */
function peeled(source: string, compile: (text: string) => LineTest | null): LineTest | null {
  if (!source.startsWith('^') || BACKREFERENCE.test(source)) return null
  const tests: LineTest[] = []
  let rest = source.slice(1)
  while (rest.startsWith('(?!') || rest.startsWith('(?=')) {
    const end = closingParenthesis(rest)
    const test = end === -1 ? null : compile(`^(?:${rest.slice(3, end)})`)
    if (!test) return null
    tests.push(rest[2] === '=' ? test : (line) => !test(line))
    rest = rest.slice(end + 1)
    // A quantified lookahead is something else.
    if (/^[*+?{]/.test(rest)) return null
  }
  // In `^(?!a)b|c` the lookahead guards only one of two branches.
  if (tests.length === 0 || closingParenthesis(`(${rest}`, '|') !== -1) return null
  const last = compile(`^(?:${rest})`)
  return last && ((line) => tests.every((test) => test(line)) && last(line))
}

/**
 * The index of the parenthesis that closes the one at 0 (or of the first other `wanted` at that
 * depth), or -1. Knows escapes and classes.
 */
function closingParenthesis(text: string, wanted = ')'): number {
  let depth = 0
  let inClass = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '\\') at++
    else if (inClass) inClass = char !== ']'
    else if (char === '[') inClass = true
    else if (char === '(') depth++
    else if (char === wanted && depth === 1) return at
    else if (char === ')') depth--
  }
  return -1
}

const MAX_PATTERN = 10_000
const BLOCK_LINES = 64
/**
 * What a line's neighbours could change: anchors of the whole text, looks behind the line's
 * beginning, flags that switch `^` and `$`.
 */
const NOT_IN_BLOCKS = /\\[AzZ]|\(\?<[=!]|\(\?[a-zA-Z]*(?:m|-)/
const BACKREFERENCE = /(?:^|[^\\])(?:\\\\)*\\(?:[1-9]|k<)/
