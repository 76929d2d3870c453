/** One effective command on its way through the program tables, and the little option parser they share. */
import type { Assignment } from 'unbash'
import type { ShellState } from '../../words/state.js'
import { resolvePath } from '../../words/paths.js'
import { type Alternatives, ANYTHING, hasUnknown, plain } from '../../words/text.js'
import type { Input, Walker } from '../../walk/walk.js'

/** What only some programs ask about. */
export interface CallDetails {
  /** Every argv that the words may make, where a function is called: it is walked once with all of them. */
  readonly ways?: readonly (readonly string[])[]
  /** Assignments given as arguments (`export A=b`), still as syntax. */
  readonly declared?: readonly Assignment[]
  /** Started by another program, so functions and aliases do not apply. */
  readonly external?: boolean
  /** Assignments in front of the command, and the shell in which they hold. */
  readonly prefix?: { readonly names: readonly string[]; readonly shell: ShellState } | undefined
}

export class Call {
  constructor(
    /** Folded words; argv[0] as written. */
    readonly argv: readonly string[],
    readonly shell: ShellState,
    readonly stdin: Input,
    readonly walker: Walker,
    readonly details: CallDetails = {},
  ) {}

  get args(): string[] {
    return this.argv.slice(1)
  }

  /** The shell whose variables the program inherits. */
  get environment(): ShellState {
    return this.details.prefix?.shell ?? this.shell
  }

  withArgv(argv: readonly string[]): Call {
    return new Call(argv, this.shell, this.stdin, this.walker, this.details)
  }

  withShell(shell: ShellState): Call {
    return new Call(this.argv, shell, this.stdin, this.walker, this.details)
  }

  /** The path that a word means in the first directory that the shell may be in. */
  resolve(word: string): string {
    return resolvePath(word, this.shell.cwd[0] ?? '/')
  }

  effect(kind: Parameters<Walker['effect']>[0], word: string, mode?: string): void {
    this.walker.effect(kind, word, this.shell, this.argv, mode)
  }

  effects(kind: Parameters<Walker['effect']>[0], words: readonly string[], mode?: string): void {
    for (const word of words) this.effect(kind, word, mode)
  }

  report(rule: Parameters<Walker['report']>[0], words = this.argv, shown?: string): void {
    this.walker.report(rule, words, shown)
  }

  /** Text that a shell runs in a process of its own. */
  script(text: string, stdin: Input = null): Alternatives {
    return this.walker.script(text, this.shell.fork(), stdin)
  }

  /** Text that may or may not be code. */
  tryScript(text: string): void {
    this.walker.tryScript(text, this.shell)
  }

  /** Tries the first group of every match as code. */
  tryMatches(text: string, pattern: RegExp): void {
    for (const [, found = ''] of plain(text).matchAll(pattern)) this.tryScript(found)
  }

  start(argv: readonly string[], stdin: Input = null): Alternatives {
    return this.walker.argv(argv, this.shell.fork(), stdin)
  }

  /** Without functions and aliases of the shell. */
  startExternal(argv: readonly string[]): Alternatives {
    return this.walker.external(argv, this.shell.fork(), null)
  }

  /** What a file is known to hold. */
  contents(file: string): Alternatives {
    return this.walker.streams.contents(file, this.shell)
  }

  /** What it reads under a name: `-` is its input. */
  input(file: string): Alternatives {
    return file === '-' || /^\/dev\/(?:stdin|fd\/0)$/.test(file) ? (this.stdin ?? ANYTHING) : this.contents(file)
  }

  texts(files: readonly string[]): string[] {
    return files.flatMap((file) => this.contents(file))
  }

  /** Remembers what a file holds from now on. */
  write(file: string, text: Alternatives, append = false): void {
    this.walker.streams.write(file, text, append, this.shell)
  }
}

/** What a program prints, as far as it is known; undefined for "something". */
export type Program = (call: Call, name: string) => Alternatives | undefined | void

export interface OptionSpec {
  /** Short options that take a value. */
  readonly short?: string
  /** Long options that take a value (without the dashes). */
  readonly long?: readonly string[]
  /** Stop at the first operand, as wrappers do. */
  readonly stop?: boolean
  /** Long options may be written with one dash (find, openssl, java style). */
  readonly singleDash?: boolean
}

export class Options {
  readonly flags: string[] = []
  readonly values = new Map<string, string[]>()
  operands: string[] = []

  /** `long`: names of options with a value. */
  constructor(private readonly long: readonly string[]) {}

  /** Whether any of the names was given. */
  has(...names: readonly string[]): boolean {
    return names.some((name) => this.flags.some((flag) => this.#isMeant(flag, name)))
  }

  /** Of the first name that was given. */
  get(...names: readonly string[]): string | undefined {
    for (const name of names)
      for (const [given, values] of this.values) if (this.#isMeant(given, name)) return values.at(-1)
    return undefined
  }

  all(...names: readonly string[]): string[] {
    return names.flatMap((name) =>
      [...this.values].flatMap(([given, values]) => (this.#isMeant(given, name) ? values : [])),
    )
  }

  /** A long name may have been shortened, as GNU getopt allows, unless it is another one as it stands. */
  #isMeant(given: string, name: string): boolean {
    return given === name || (given.length > 1 && name.startsWith(given) && !this.long.includes(given))
  }
}

export function options(args: readonly string[], spec: OptionSpec = {}): Options {
  const short = spec.short ?? ''
  const long = spec.long ?? []
  const found = new Options(long)
  const value = (name: string, text: string | undefined): void => {
    found.flags.push(name)
    found.values.set(name, [...(found.values.get(name) ?? []), text ?? ''])
  }
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? ''
    if (arg === '--') {
      found.operands.push(...args.slice(i + 1))
      break
    }
    if (arg.startsWith('--') || (spec.singleDash && /^-[a-z]{2,}/.test(arg))) {
      const [name, text] = split(arg.replace(/^--?/, ''))
      if (text !== undefined) value(name, text)
      else if (long.some((known) => known === name || (name.length > 2 && known.startsWith(name))))
        value(name, args[++i])
      else found.flags.push(name)
    } else if (arg.length > 1 && arg.startsWith('-')) {
      const letters = Array.from(arg.slice(1))
      for (let j = 0; j < letters.length; j++) {
        const letter = letters[j] ?? ''
        if (!short.includes(letter)) {
          found.flags.push(letter)
          continue
        }
        const rest = letters.slice(j + 1).join('')
        value(letter, rest === '' ? args[++i] : rest)
        break
      }
    } else if (spec.stop) {
      found.operands.push(...args.slice(i))
      break
    } else found.operands.push(arg)
  }
  return found
}

/** The long option of these that a word is, whole or shortened; undefined for anything else. */
export function longOption<Name extends string>(word: string, names: readonly Name[]): Name | undefined {
  return names.find((name) => name === word) ?? names.find((name) => /^--\w/.test(word) && name.startsWith(word))
}

function split(text: string): [string, string | undefined] {
  const at = text.indexOf('=')
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

/** `--help` and `--version` only talk. */
export function onlyTalks(args: readonly string[]): boolean {
  return args.length > 0 && args.length <= 2 && args.some((arg) => /^(?:--help|--version|-help|-h|-V|-\?)$/.test(arg))
}

export function basename(path: string): string {
  return path.replace(/\/+$/, '').split('/').pop() ?? path
}

/** The words of a text as the shell would split a line without quotes. */
export function fieldsOf(text: string): string[] {
  return text.split(/[ \t\n]+/).filter((field) => field !== '')
}

/** env -S splits on blanks and knows quotes, escapes and `\_`; so does tar, but for the last. */
export function splitString(text: string): string[] {
  // Between words `\\_` is a blank that separates, inside of quotes one that does not.
  const line = plain(text).replace(/^[^"']*$/, (bare) => bare.replaceAll('\\_', ' '))
  const words = line.match(/(?:"(?:[^"\\]|\\.)*"|'[^']*'|(?:[^\s"'\\]|\\.)+)+/gs) ?? []
  return words.map((word) => word.replace(/\\_/g, ' ').replace(/["']/g, '').replace(/\\(.)/g, '$1'))
}

export function known(text: string | undefined): text is string {
  return text !== undefined && !hasUnknown(text)
}

/** The same row under several names. */
export function table<T>(names: readonly string[], row: T): Record<string, T> {
  return Object.fromEntries(names.map((name) => [name, row]))
}

/** A program that does harm when one of its words says so. */
export const reportsOn =
  (rule: Parameters<Call['report']>[0], word: RegExp): Program =>
  (call) => {
    if (call.args.some((one) => word.test(plain(one)))) call.report(rule)
  }

/** The homes that a table of accounts names. */
export function homesOf(shell: ShellState): Alternatives {
  return [`/root\n${shell.home.join('\n')}\n`]
}

/** A command line that does harm, as an argument or a text: a shell behind the program may get to read it. */
export const COMMAND_TEXT = /(?:^|[\s;&|+=])(?:rm|dd|shred|wipefs|find|mkfs\S*|chmod|chown)\s+[-/~.\w]/

/** A filter whose work is not followed passes such a text on as it is: a secret, or a command line that does harm. */
export function mustBeFollowed(text: string): boolean {
  return text.includes('{{') || COMMAND_TEXT.test(text)
}

/**
 * What `env` prints of the variables that hold a secret, or a command; undefined where none does. `set` and
 * `declare -p` print it so that a shell can read it again.
 */
export function listed(shell: ShellState, quote = (name: string, value: string) => `${name}=${value}`) {
  const names = new Set([...Object.keys(shell.around.variables), ...[...shell.variables].map(([name]) => name)])
  const lines = [...names].flatMap((name) =>
    shell
      .get(name)
      .values.filter(mustBeFollowed)
      .map((value) => `${quote(name, value)}\n`),
  )
  return lines.length > 0 ? [lines.join('')] : undefined
}
