/**
 * Folds a word of the syntax tree to the fields bash would make of it, as far as they can be
 * known without running anything.
 */
import type { ArithmeticExpression, Word, WordPart } from 'unbash'
import { arithmetic } from './arithmetic.js'
import { expandBraces, isActive, type Token } from './braces.js'
import { type Folding, type Runner, unsplit } from './folding.js'
import { GUARD_LIMITS, GuardLimit } from './limits.js'
import { expandParameter } from './parameter.js'
import type { ShellState } from './state.js'
import { type Place, tildeAt } from './tilde.js'
import {
  type Alternatives,
  BREAK,
  CLOSE,
  concat,
  fewest,
  NOTHING,
  OPEN,
  plain,
  QUESTION,
  QUOTES,
  STAR,
  unique,
} from './text.js'

/** The fields of a word; several lists when its value depends on what is not known. */
export function expandFields(word: Word, shell: ShellState, runner: Runner, place: Place = 'argument'): string[][] {
  runner.step()
  if (isLiteral(word)) return [[word.text]]
  const tokens = tokensOf(word)
  const lists = tokens.some((token) => isActive(token, '{')) ? expandBraces(tokens) : [tokens]
  let ways: string[][] = [[]]
  for (const list of lists) {
    // What braces have made is no longer an assignment.
    const folded = fold(list, shell, runner, lists.length > 1 ? 'inner' : place).map(splitFields)
    const next: string[][] = []
    for (const way of ways)
      for (const fields of folded) if (next.length < GUARD_LIMITS.maxAlternatives) next.push([...way, ...fields])
    ways = next
    if ((ways[0]?.length ?? 0) > GUARD_LIMITS.maxFields)
      throw new GuardLimit('size', 'a word expands to too many fields')
  }
  return ways
}

/** The value of a word where bash does not split it: redirection targets, `case` words, operands of `[[ ]]`. */
export function expandSingle(word: Word, shell: ShellState, runner: Runner, place: Place = 'argument'): Alternatives {
  runner.step()
  if (isLiteral(word)) return [word.text]
  return unique(
    fold(tokensOf(word), shell, runner, place).map((text) => text.replaceAll(QUOTES, '').replaceAll(BREAK, ' ')),
  )
}

/** The value of an assignment or a here-string: wildcards are ordinary characters. */
export function expandText(word: Word, shell: ShellState, runner: Runner): Alternatives {
  return unique(expandSingle(word, shell, runner, 'value').map(plain))
}

/** The text of parts inside double quotes or an unquoted here-document. */
export function expandQuoted(parts: readonly WordPart[], shell: ShellState, runner: Runner): Alternatives {
  const pieces = parts.map((part) => (part.type === 'Literal' ? [part.value] : evaluate(part, true, shell, runner)))
  return unique(fewest(joinPieces(pieces), shell.alternatives).map((text) => plain(text)))
}

/** All combinations of a few uncertain pieces; of many, only the first and the last alternative of each. */
function joinPieces(pieces: readonly Alternatives[]): Alternatives {
  const uncertain = pieces.filter((piece) => piece.length > 1).length
  if (uncertain <= MAX_UNCERTAIN && pieces.length <= 4 * MAX_UNCERTAIN) return pieces.reduce(concat, NOTHING)
  const first = pieces.map((piece) => piece[0] ?? '').join('')
  return uncertain === 0 ? [first] : unique([first, pieces.map((piece) => piece[piece.length - 1] ?? '').join('')])
}

/** Folds an operand of `${...}` in the quoting of its surroundings. */
function expandOperand(word: Word, quoted: boolean, shell: ShellState, runner: Runner): Alternatives {
  const tokens = tokensOf(word)
  if (quoted) {
    const whole = tokens.map((token) => ({ ...token, quoted: true }))
    return unique(fold(whole, shell, runner, 'inner').map((text) => text.replaceAll(QUOTES, '')))
  }
  // Blanks of the operand separate fields, those inside its quotes do not.
  const inner = tokens.map((token) =>
    'char' in token && !token.quoted ? { ...token, char: token.char.replace(/[ \t\n]+/g, BREAK) } : token,
  )
  return fold(inner, shell, runner, 'inner')
}

/** Unquoted characters that mean more than themselves. */
const SPECIAL = /[\\*?{},~:]/

/** What most words of a script are: letters that stand for themselves. */
function isLiteral({ parts, text }: Word): boolean {
  return !parts && text !== '' && !SPECIAL.test(text)
}

function tokensOf(word: Word): Token[] {
  return word.parts ? word.parts.flatMap((part) => tokensOfPart(part, false)) : rawTokens(word.text)
}

function tokensOfPart(part: WordPart, quoted: boolean): Token[] {
  switch (part.type) {
    case 'Literal':
      return quoted ? [{ char: part.value, quoted }] : rawTokens(part.text)
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return [
        { char: QUOTES, quoted: true },
        { char: part.value, quoted: true },
      ]
    case 'DoubleQuoted':
    case 'LocaleString':
      return [{ char: QUOTES, quoted: true }, ...part.parts.flatMap((child) => tokensOfPart(child, true))]
    case 'Glob':
      if (part.kind === 'bracket') {
        return [
          { char: OPEN, quoted: true },
          ...part.parts.flatMap((child) => tokensOfPart(child, false)).map((token) => ({ ...token, quoted: true })),
          { char: CLOSE, quoted: true },
        ]
      }
      return [{ char: part.kind === 'star' ? STAR : QUESTION, quoted: true }]
    case 'BraceExpansion':
      if (!part.parts) return rawTokens(part.text)
      return [
        { char: '{', quoted: false },
        ...part.parts.flatMap((child) => tokensOfPart(child, false)),
        { char: '}', quoted: false },
      ]
    default:
      return [{ part, quoted }]
  }
}

/** Unquoted source text: a backslash quotes the next character, and removes a newline. */
function rawTokens(text: string): Token[] {
  if (!SPECIAL.test(text)) return [{ char: text, quoted: false }]
  const tokens: Token[] = []
  const chars = [...text]
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i] ?? ''
    if (char !== '\\') tokens.push({ char: char === '*' ? STAR : char === '?' ? QUESTION : char, quoted: false })
    else if (chars[++i] !== '\n' && chars[i] !== undefined) tokens.push({ char: chars[i] ?? '', quoted: true })
    else if (chars[i] === undefined) tokens.push({ char: '\\', quoted: true })
  }
  return tokens
}

/** Uncertain pieces in one word whose combinations are all looked at. */
const MAX_UNCERTAIN = 64

function fold(tokens: readonly Token[], shell: ShellState, runner: Runner, place: Place): Alternatives {
  const pieces: Alternatives[] = []
  let run = ''
  const flush = (): void => {
    if (run !== '') pieces.push([run])
    run = ''
  }
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] as Token
    if ('part' in token) {
      flush()
      pieces.push(evaluate(token.part, token.quoted, shell, runner))
      continue
    }
    const tilde = token.char === '~' ? tildeAt(tokens, i, shell, place) : undefined
    if (tilde) {
      flush()
      pieces.push(tilde.value)
      i += tilde.length - 1
    } else run += token.char
  }
  flush()
  return fewest(joinPieces(pieces), shell.alternatives)
}

/** How words inside `${ }` and `$(( ))` fold: handed down, so that those files need not know this one. */
const FOLDING: Folding = {
  single: (word, shell, runner) => expandSingle(word, shell, runner, 'inner'),
  operand: expandOperand,
  part: (part, shell, runner) => evaluate(part, true, shell, runner),
}

function evaluate(part: WordPart, quoted: boolean, shell: ShellState, runner: Runner): Alternatives {
  runner.step()
  switch (part.type) {
    case 'SimpleExpansion':
    case 'ParameterExpansion':
      return expandParameter(part, quoted, shell, runner, FOLDING)
    case 'CommandExpansion': {
      const text = runner.output(part.script, shell, part.text.startsWith('`')).map((out) => out.replace(/\n+$/, ''))
      return quoted ? unique(text) : unsplit(text, shell)
    }
    case 'ArithmeticExpansion':
      return arithmetic(part.expression, shell, runner, FOLDING)
    case 'ProcessSubstitution':
      return [runner.processPath(part, shell)]
    case 'ExtendedGlob': {
      for (const inner of part.parts ?? []) if (inner.type !== 'Literal') evaluate(inner, true, shell, runner)
      const simple = /^[\w./|-]*$/.test(part.pattern) && (part.operator === '@' || part.operator === '?')
      return simple ? unique([...part.pattern.split('|'), ...(part.operator === '?' ? [''] : [])]) : [STAR]
    }
    default:
      return concat(NOTHING, fold(tokensOfPart(part, quoted), shell, runner, 'inner'))
  }
}

function splitFields(text: string): string[] {
  if (!text.includes(BREAK)) return text === '' ? [] : [text.replaceAll(QUOTES, '')]
  return text
    .split(BREAK)
    .filter((field) => field !== '')
    .map((field) => field.replaceAll(QUOTES, ''))
}

/** Judges the substitutions inside an arithmetic expression whose value does not matter. */
export function visitArithmetic(expression: ArithmeticExpression | undefined, shell: ShellState, runner: Runner): void {
  if (expression) arithmetic(expression, shell, runner, FOLDING)
}
