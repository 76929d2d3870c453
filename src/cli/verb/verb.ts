/** A verb as data: help, completion, the manual and the parser are all made from this one description. */
import type { Io } from '../io/io.js'

export interface OptionRow {
  /** As commander writes it: `-t, --timeout <MS>`. */
  readonly flags: string
  readonly about: string
  /** Turns the text into a value, or throws a UsageError. */
  readonly read?: (text: string) => unknown
  /** May be given several times; the values become a list. */
  readonly many?: boolean
  readonly choices?: readonly string[]
  readonly default?: unknown
  /** For `--flag [VALUE]`: what it means without one. The next word is its value only when it is one of `choices`. */
  readonly otherwise?: string
  /** Understood, but neither in the help nor completed: an older or second name of another option. */
  readonly hidden?: boolean
}

export interface VerbArguments {
  readonly words: readonly string[]
  /** By the long name in camelCase. */
  readonly options: Readonly<Record<string, unknown>>
}

export interface Verb {
  readonly name: string
  /** How the arguments are written in the usage line: `ID TEXT`. */
  readonly usage: string
  readonly about: string
  readonly options: readonly OptionRow[]
  /** Least and most words after the options. */
  readonly words: readonly [number, number]
  /** Everything after the first word belongs to it: `cerith run ls -l`. */
  readonly passThrough?: boolean
  readonly examples: readonly (readonly [command: string, about: string])[]
  readonly details?: string
  /** Gives the exit code. */
  run(args: VerbArguments, io: Io): Promise<number>
}

/** What the list of verbs shows without loading any of them. */
export interface VerbRow {
  readonly name: string
  readonly about: string
  readonly load: () => Promise<{ readonly verb: Verb }>
}
