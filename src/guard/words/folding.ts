/** What the parts of word folding share: the walker's side of it, and how inner words are folded. */
import type { ParsedScript, ProcessSubstitutionPart, Word, WordPart } from 'unbash'
import type { ShellState } from './state.js'
import { type Alternatives, activate, BREAK, UNKNOWN, unique } from './text.js'

/** What folding needs from the walker of the tree: the output of substitutions, and a budget. */
export interface Runner {
  step(): void
  /** Judges a command substitution and says what it would print. */
  output(script: ParsedScript | undefined, shell: ShellState, inBackquotes?: boolean): Alternatives
  /** Judges a process substitution and gives the path that stands for it. */
  processPath(part: ProcessSubstitutionPart, shell: ShellState): string
  /** Judges the substitutions of text that bash expands once more (`${x@P}`). */
  prompt(text: string, shell: ShellState): Alternatives
  /** Judges a value that bash reads as an expression: the subscripts in it run their substitutions. */
  calculated(values: Alternatives, shell: ShellState): void
}

/** The name of an array's element as text, or a token: bash runs the substitutions of its subscript. */
export function mayHoldCode(name: string): boolean {
  return /\[|\{\{/.test(name)
}

/** Folding of words that stand inside an expansion. */
export interface Folding {
  /** Without field splitting. */
  single(word: Word, shell: ShellState, runner: Runner): Alternatives
  /** An operand of `${...}`, in the quoting of its surroundings. */
  operand(word: Word, quoted: boolean, shell: ShellState, runner: Runner): Alternatives
  part(part: WordPart, shell: ShellState, runner: Runner): Alternatives
}

/**
 * Field splitting and pathname expansion of an unquoted expansion: separators become breaks, wildcards become active.
 */
export function unsplit(values: Alternatives, shell: ShellState): Alternatives {
  const ifs = shell.get('IFS').values[0] ?? ' \t\n'
  if (ifs === '') return unique(values.map(activate))
  const separators = new Set(ifs.includes(UNKNOWN) ? ' \t\n' : ifs)
  return unique(values.map((text) => activate([...text].map((char) => (separators.has(char) ? BREAK : char)).join(''))))
}
