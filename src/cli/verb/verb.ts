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

/** `--older-than <TIME>` becomes `olderThan`, `--no-structured` becomes `structured`. */
type LongName<Flags> = Flags extends `${string}--${infer Rest}`
  ? Rest extends `${infer Name} ${string}`
    ? Name
    : Rest
  : never
type CamelCase<Name> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name & string
type KeyOf<Flags> = LongName<Flags> extends `no-${infer Name}` ? CamelCase<Name> : CamelCase<LongName<Flags>>

type ValueOf<Row extends OptionRow> = Row extends { read: (text: string) => infer Value }
  ? Value
  : Row extends { choices: readonly (infer Choice)[] }
    ? Choice
    : Row['flags'] extends `${string}${'<' | '['}${string}`
      ? string
      : boolean

type Given<Row extends OptionRow> = Row extends { many: true } ? readonly ValueOf<Row>[] : ValueOf<Row>

/** What the rows read from a command line. */
export type OptionsOf<Rows extends readonly OptionRow[], Row extends OptionRow = Rows[number]> = {
  readonly [Each in Row as KeyOf<Each['flags']>]?: Given<Each>
} & { readonly [Each in Extract<Row, { default: unknown }> as KeyOf<Each['flags']>]: Given<Each> }

export interface VerbArguments<Options> {
  readonly words: readonly string[]
  readonly options: Options
}

/** Everything about a verb but its line in the list of verbs. */
export interface VerbBody<Rows extends readonly OptionRow[] = readonly OptionRow[], Options = OptionsOf<Rows>> {
  /** How the arguments are written in the usage line: `ID TEXT`. Default: none. */
  readonly usage?: string
  readonly options: Rows
  /** Least and most words after the options. Default: none. */
  readonly words?: readonly [number, number]
  /** Everything after the first word belongs to it: `cerith run ls -l`. */
  readonly passThrough?: boolean
  readonly examples: readonly (readonly [command: string, about: string])[]
  readonly details?: string
  /** The exit code when the verb could not be started as it was called, or threw. Default: 125. */
  failure?(argv: readonly string[]): number
  /** Gives the exit code. */
  run(args: VerbArguments<Options>, io: Io): Promise<number>
}

/** The options are typed by their rows. */
export function defineVerb<const Rows extends readonly OptionRow[]>(verb: VerbBody<Rows>): VerbBody {
  return verb as unknown as VerbBody
}

/** What the list of verbs shows without loading any of them. */
export interface VerbRow {
  readonly name: string
  readonly about: string
  load(): Promise<Verb>
}

export type Verb = VerbBody & Required<Pick<VerbBody, 'usage' | 'words'>> & Pick<VerbRow, 'name' | 'about'>
