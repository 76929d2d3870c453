/** Folds a word of the syntax tree to the fields bash would make of it, as far as they can be known without running anything. */
import type { ArithmeticExpression, ParsedScript, ProcessSubstitutionPart, Word, WordPart } from 'unbash'
import { arithmetic } from './arithmetic.js'
import { expandBraces, type Token } from './braces.js'
import { GUARD_LIMITS, GuardLimit } from './limits.js'
import { expandParameter } from './parameter.js'
import type { ShellState } from './state.js'
import { type Alternatives, activate, BREAK, CLOSE, concat, NOTHING, OPEN, plain, QUESTION, QUOTES, STAR, UNKNOWN, unique } from './text.js'

/** What folding needs from whoever walks the tree: the output of substitutions, and a budget. */
export interface Runner {
  step(): void
  /** Judges a command substitution and says what it would print. */
  output(script: ParsedScript | undefined, shell: ShellState): Alternatives
  /** Judges a process substitution and gives the path that stands for it. */
  processPath(part: ProcessSubstitutionPart, shell: ShellState): string
  /** Judges the substitutions of text that bash expands once more (`${x@P}`). */
  prompt(text: string, shell: ShellState): Alternatives
}

/** The fields of a word; several lists when its value depends on what is not known. */
export function expandFields(word: Word, shell: ShellState, runner: Runner): string[][] {
  runner.step()
  const tokens = tokensOf(word)
  const lists = tokens.some((token) => 'char' in token && !token.quoted && token.char === '{') ? expandBraces(tokens) : [tokens]
  let ways: string[][] = [[]]
  for (const list of lists) {
    const folded = fold(list, shell, runner, 'command').map(splitFields)
    const next: string[][] = []
    for (const way of ways) for (const fields of folded) if (next.length < GUARD_LIMITS.maxAlternatives) next.push([...way, ...fields])
    ways = next
    if ((ways[0]?.length ?? 0) > GUARD_LIMITS.maxFields) throw new GuardLimit('size', 'a word expands to too many fields')
  }
  return ways
}

/** The value of a word where bash does not split it: assignments, here-strings, redirection targets, `case` words. */
export function expandSingle(word: Word, shell: ShellState, runner: Runner): Alternatives {
  runner.step()
  return unique(fold(tokensOf(word), shell, runner, 'assignment').map((text) => text.replaceAll(QUOTES, '').replaceAll(BREAK, ' ')))
}

/** Like expandSingle, but wildcards are ordinary characters afterwards. */
export function expandText(word: Word, shell: ShellState, runner: Runner): Alternatives {
  return unique(expandSingle(word, shell, runner).map(plain))
}

/** The text of parts inside double quotes or an unquoted here-document. */
export function expandQuoted(parts: readonly WordPart[], shell: ShellState, runner: Runner): Alternatives {
  let value: Alternatives = NOTHING
  for (const part of parts) value = concat(value, 'value' in part && part.type === 'Literal' ? [part.value] : evaluate(part, true, shell, runner))
  return unique(value.map((text) => plain(text)))
}

/** Folds an operand of `${...}` in the quoting of its surroundings. */
export function expandOperand(word: Word, quoted: boolean, shell: ShellState, runner: Runner): Alternatives {
  const tokens = tokensOf(word)
  const inner = quoted ? tokens.map((token) => ({ ...token, quoted: true })) : tokens
  const folded = fold(inner, shell, runner, quoted ? 'assignment' : 'command')
  return quoted ? unique(folded.map((text) => text.replaceAll(QUOTES, ''))) : unique(folded.map((text) => text.replace(/[ \t\n]+/g, BREAK)))
}

export function tokensOf(word: Word): Token[] {
  return word.parts ? word.parts.flatMap((part) => tokensOfPart(part, false)) : rawTokens(word.text)
}

function tokensOfPart(part: WordPart, quoted: boolean): Token[] {
  switch (part.type) {
    case 'Literal':
      return quoted ? quotedTokens(part.value) : rawTokens(part.text)
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return [{ char: QUOTES, quoted: true }, ...quotedTokens(part.value)]
    case 'DoubleQuoted':
    case 'LocaleString':
      return [{ char: QUOTES, quoted: true }, ...part.parts.flatMap((child) => tokensOfPart(child, true))]
    case 'Glob':
      if (part.kind === 'bracket') {
        return [{ char: OPEN, quoted: true }, ...part.parts.flatMap((child) => tokensOfPart(child, false)).map((token) => ({ ...token, quoted: true })), { char: CLOSE, quoted: true }]
      }
      return [{ char: part.kind === 'star' ? STAR : QUESTION, quoted: true }]
    case 'BraceExpansion':
      if (!part.parts) return rawTokens(part.text)
      return [{ char: '{', quoted: false }, ...part.parts.flatMap((child) => tokensOfPart(child, false)), { char: '}', quoted: false }]
    default:
      return [{ part, quoted }]
  }
}

function quotedTokens(text: string): Token[] {
  return [...text].map((char) => ({ char, quoted: true }))
}

/** Unquoted source text: a backslash quotes the next character, and removes a newline. */
function rawTokens(text: string): Token[] {
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

type Place = 'command' | 'assignment'

function fold(tokens: readonly Token[], shell: ShellState, runner: Runner, place: Place): Alternatives {
  let value: Alternatives = NOTHING
  let run = ''
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] as Token
    if ('part' in token) {
      value = concat(concat(value, [run]), evaluate(token.part, token.quoted, shell, runner))
      run = ''
      continue
    }
    const afterStart = i === 0 || (place === 'assignment' && !tokens[i - 1]?.quoted && tokenChar(tokens[i - 1]) === ':')
    if (token.char === '~' && !token.quoted && afterStart) {
      const tilde = tildePrefix(tokens, i, shell)
      if (tilde) {
        value = concat(concat(value, [run]), tilde.value)
        run = ''
        i += tilde.length - 1
        continue
      }
    }
    run += token.char
  }
  return run === '' ? value : concat(value, [run])
}

function tokenChar(token: Token | undefined): string {
  return token && 'char' in token ? token.char : ''
}

function tildePrefix(tokens: readonly Token[], start: number, shell: ShellState): { value: Alternatives; length: number } | undefined {
  let name = ''
  let i = start + 1
  for (; i < tokens.length; i++) {
    const token = tokens[i] as Token
    if ('char' in token && !token.quoted && (token.char === '/' || token.char === ':')) break
    if (!('char' in token) || token.quoted) return undefined
    name += token.char
  }
  const length = i - start
  if (name === '') return { value: shell.home.map((home) => home || shell.around.home), length }
  if (name === '+') return { value: shell.cwd, length }
  if (name === '-') return { value: shell.previousCwd, length }
  if (name === 'root') return { value: ['/root'], length }
  if (/^[A-Za-z_][\w.-]*$/.test(name)) return { value: [`/home/${name}`], length }
  return undefined
}

function evaluate(part: WordPart, quoted: boolean, shell: ShellState, runner: Runner): Alternatives {
  runner.step()
  switch (part.type) {
    case 'SimpleExpansion':
    case 'ParameterExpansion':
      return expandParameter(part, quoted, shell, runner)
    case 'CommandExpansion': {
      const text = runner.output(part.script, shell).map((out) => out.replace(/\n+$/, ''))
      return quoted ? unique(text) : unsplit(text, shell)
    }
    case 'ArithmeticExpansion':
      return arithmetic(part.expression, shell, runner)
    case 'ProcessSubstitution':
      return [runner.processPath(part, shell)]
    case 'ExtendedGlob': {
      for (const inner of part.parts ?? []) if (inner.type !== 'Literal') evaluate(inner, true, shell, runner)
      const simple = /^[\w./|-]*$/.test(part.pattern) && (part.operator === '@' || part.operator === '?')
      return simple ? unique([...part.pattern.split('|'), ...(part.operator === '?' ? [''] : [])]) : [STAR]
    }
    default:
      return concat(NOTHING, fold(tokensOfPart(part, quoted), shell, runner, 'assignment'))
  }
}

/** Field splitting and pathname expansion of an unquoted expansion: separators become breaks, wildcards become active. */
export function unsplit(values: Alternatives, shell: ShellState): Alternatives {
  const ifs = shell.get('IFS').values[0] ?? ' \t\n'
  if (ifs === '') return unique(values.map(activate))
  const separators = new Set(ifs.includes(UNKNOWN) ? ' \t\n' : ifs)
  return unique(values.map((text) => activate([...text].map((char) => (separators.has(char) ? BREAK : char)).join(''))))
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
  if (expression) arithmetic(expression, shell, runner)
}

export function expandPart(part: WordPart, shell: ShellState, runner: Runner): Alternatives {
  return evaluate(part, true, shell, runner)
}
