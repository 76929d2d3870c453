/**
 * What the guard believes a shell to hold while it reads a command: variables, functions,
 * directory, files just written.
 */
import type { CompoundCommand, CompoundList, Redirected } from 'unbash'
import { nameList, nameSet } from '../../contract/quote.js'
import { Layers } from './layers.js'
import { type Alternatives, ANYTHING, fewest, MAYBE_UNSET, UNKNOWN, unique } from './text.js'

export interface Variable {
  /** What `$name` may be. */
  readonly values: Alternatives
  /** Elements of an indexed array. */
  readonly items?: readonly string[] | undefined
  /** Taken away by `unset`. */
  readonly unset?: boolean
  /** Only a condition says what it is: nothing has assigned it. */
  readonly supposed?: boolean
  /** Every list of elements that there may be, when there are several. */
  readonly ways?: readonly (readonly string[])[] | undefined
}

export interface FunctionBody {
  readonly body: CompoundCommand | Redirected | CompoundList
  readonly source: string
  /** The text around it, in which positions of the body count, where that is longer. */
  readonly within?: string
}

/** What the machine and the session are known to be before the command starts. */
export interface Surroundings {
  readonly home: string
  readonly tmp: string
  readonly variables: Readonly<Record<string, string>>
  /** How many values of a word are still looked at: fewer, the longer the script. */
  readonly effort?: { alternatives: number } | undefined
}

/** What is assigned to these is an expression in every bash. */
export const ALWAYS_INTEGERS = nameList('HISTCMD OPTIND RANDOM SRANDOM')

/** Where bash looks for programs when it is told nowhere else. */
export const USUAL_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** What bash sets by itself. */
const BASH_SETS = new Map<string, Alternatives>([
  ['IFS', [' \t\n']],
  ['PATH', [USUAL_PATH]],
  ['SHELL', ['/bin/bash']],
  ['BASH', ['/bin/bash']],
])
const BASH_MAKES = nameSet('UID EUID PPID RANDOM SECONDS LINENO BASHPID HOSTNAME EPOCHSECONDS BASH_VERSION OSTYPE')

export class ShellState {
  variables = new Layers<Variable>()
  functions = new Layers<FunctionBody>()
  aliases = new Layers<string>()
  /** `declare -n ref=name`: reading and setting ref means name. Subshells share the map until one changes it. */
  references: ReadonlyMap<string, string> = new Map()
  /** Counts changes, so that a loop knows whether a second round can differ from the first. */
  changes = 0
  private directory: Alternatives
  private before: Alternatives
  /** Below the current directory, the top first. */
  directoryStack: readonly Alternatives[] = []
  private parameters: readonly (readonly string[])[] | null = null
  arg0 = 'bash'
  /** `$_`: the last word of the command before. */
  lastWord = UNKNOWN
  /** `exec < FILE`: what was read until then, and what is read from then on. */
  moved: { readonly from: Alternatives | null; readonly to: Alternatives | null } | undefined
  /** `shopt -s lastpipe`: the last command of a pipeline runs in the shell itself. */
  hasLastPipe = false
  /** `declare -i`: what is assigned to these is an expression. Shared by all subshells. */
  integers: Set<string> = new Set(ALWAYS_INTEGERS)
  /** `set -u`: a variable that was never set ends the shell. */
  isStrict = false
  /** `$1` where the words are not known: a script that begins with `#!` is called with its own. */
  unknownWords: Alternatives = MAYBE_UNSET
  /** A file that is not known here was sourced: it may have set any variable. */
  hasSourced = false

  constructor(
    readonly around: Surroundings,
    cwd: Alternatives,
    /** Files that this command has written so far, by absolute path; shared by all subshells. */
    readonly files: Map<string, Alternatives> = new Map(),
  ) {
    this.directory = cwd
    this.before = [around.variables['OLDPWD'] ?? UNKNOWN]
  }

  /** How many values of a word are still looked at. */
  get alternatives(): number {
    return this.around.effort?.alternatives ?? 64
  }

  get cwd(): Alternatives {
    return this.directory
  }

  set cwd(directory: Alternatives) {
    if (!isSame(directory, this.directory)) this.changes++
    this.directory = directory
  }

  /** As `dirs` prints them: `~0` is the current one. */
  get directories(): readonly Alternatives[] {
    return [this.cwd, ...this.directoryStack]
  }

  /** Where `cd -` goes: `$OLDPWD`, which a command may assign as well. */
  get previousCwd(): Alternatives {
    return this.get('OLDPWD').values
  }

  set previousCwd(directory: Alternatives) {
    this.before = directory
    this.variables.delete('OLDPWD')
  }

  /** `$1`, `$2`, ... as they most likely are, or null when they are not known. */
  get positional(): readonly string[] | null {
    return this.parameters?.[0] ?? null
  }

  set positional(parameters: readonly string[] | null) {
    this.positionalWays = parameters && [parameters]
  }

  /** Every list of positional parameters that there may be. */
  get positionalWays(): readonly (readonly string[])[] | null {
    return this.parameters
  }

  set positionalWays(ways: readonly (readonly string[])[] | null) {
    const same = ways && this.parameters && ways.length === 1 && this.parameters.length === 1
    if (!same || !isSame(ways[0] ?? [], this.parameters?.[0] ?? [])) this.changes++
    this.parameters = ways
  }

  /** A subshell: sees everything, changes nothing outside. */
  fork(): ShellState {
    const copy = new ShellState(this.around, this.directory, this.files)
    copy.adopt(this)
    copy.variables = this.variables.fork()
    copy.functions = this.functions.fork()
    copy.aliases = this.aliases.fork()
    copy.arg0 = this.arg0
    copy.lastWord = this.lastWord
    copy.hasLastPipe = this.hasLastPipe
    copy.integers = this.integers
    return copy
  }

  /** Joins another way the command may have gone into this one. */
  absorb(other: ShellState): void {
    const directories = fewest(unique([...this.cwd, ...other.cwd]), Math.min(this.alternatives, 16))
    if (directories.length !== this.cwd.length) this.cwd = directories
    this.before = unique([...this.before, ...other.before])
    this.hasSourced ||= other.hasSourced
    for (const name of this.variables.namesApartFrom(other.variables)) {
      const theirs = other.variables.get(name)
      const mine = this.variables.get(name)
      if (mine === theirs) continue
      // What only a condition said about one of the two ways holds for neither afterwards.
      if (mine?.supposed && !theirs) this.variables.delete(name)
      if (!theirs || (theirs.supposed && !mine)) continue
      const supposed = mine?.supposed && theirs.supposed
      const values = fewest(unique([...(mine ?? this.unassigned(name)).values, ...theirs.values]), this.alternatives)
      const items =
        mine?.items && theirs.items ? [...new Set([...mine.items, ...theirs.items])] : (mine?.items ?? theirs.items)
      const ways = mine?.items && theirs.items ? waysOf(mine, theirs) : undefined
      this.variables.set(name, supposed ? { values, items, supposed } : { values, items, ways })
    }
    for (const name of this.functions.namesApartFrom(other.functions)) {
      const body = other.functions.get(name)
      if (body && !this.functions.has(name)) this.functions.set(name, body)
    }
    if (other.references !== this.references) this.references = new Map([...other.references, ...this.references])
    for (const name of this.aliases.namesApartFrom(other.aliases)) {
      const text = other.aliases.get(name)
      if (text !== undefined && !this.aliases.has(name)) this.aliases.set(name, text)
    }
  }

  get(name: string): Variable {
    const target = this.meant(name)
    return this.variables.get(target) ?? this.unassigned(target)
  }

  set(name: string, values: Alternatives, items?: readonly string[]): void {
    const target = this.meant(name)
    const known = this.variables.get(target)
    if (known && !known.unset && isSame(values, known.values) && isSame(items ?? [], known.items ?? [])) return
    this.variables.set(target, { values, items })
    this.changes++
  }

  /** From here on the variable is not that text; the answer takes that back, unless it was assigned meanwhile. */
  supposeNot(name: string, excluded: string): () => void {
    const target = this.meant(name)
    const before = this.variables.get(target)
    const { values, items } = before ?? this.unassigned(target)
    const full = values.filter((text) => text !== excluded)
    if (full.length === 0 || full.length === values.length) return () => {}
    const now: Variable = { values: full, items, supposed: before === undefined || before.supposed === true }
    this.variables.set(target, now)
    return () => {
      if (this.variables.get(target) !== now) return
      if (before) this.variables.set(target, before)
      else this.variables.delete(target)
    }
  }

  /** Goes on as the other way the command may have gone: this one has ended. */
  become(other: ShellState): void {
    this.adopt(other)
    this.changes += other.changes + 1
  }

  private adopt(other: ShellState): void {
    this.variables = other.variables
    this.functions = other.functions
    this.aliases = other.aliases
    this.references = other.references
    this.directory = other.directory
    this.before = other.before
    this.directoryStack = other.directoryStack
    this.parameters = other.parameters
    this.isStrict = other.isStrict
    this.hasSourced = other.hasSourced
    this.unknownWords = other.unknownWords
    this.moved = other.moved
  }

  /** `name[index]=value`. Keys of associative arrays are not told apart: every element may be the one that is read. */
  setElement(name: string, index: string, values: Alternatives): void {
    const items = [...(this.get(name).items ?? [])]
    const at = Number(index)
    if (Number.isInteger(at) && at >= 0 && at < 1_000) items[at] = values[0] ?? ''
    else items.push(...values)
    const whole = Array.from(items, (item) => item ?? '')
    this.set(name, [whole[0] ?? ''], whole)
  }

  /** Sets what `printf -v` and `read` name: a variable, or an element of one. */
  setTarget(target: string, values: Alternatives): void {
    const element = /^([A-Za-z_]\w*)\[(.+)\]$/s.exec(target)
    if (element) this.setElement(element[1] ?? '', element[2] ?? '', values)
    else this.set(target, values)
  }

  unset(name: string): void {
    this.variables.set(this.meant(name), { values: [''], unset: true })
  }

  refer(name: string, target: string): void {
    this.variables.delete(name)
    this.references = new Map(this.references).set(name, target)
    this.changes++
  }

  private meant(name: string): string {
    let target = name
    for (let hops = 0; hops < 8 && this.references.size > 0; hops++) target = this.references.get(target) ?? target
    return target
  }

  /** The homes that people live in: not what this command makes of HOME for a while. */
  get ownHomes(): readonly string[] {
    return unique([this.around.variables['HOME'] ?? this.around.home, this.around.home])
  }

  get home(): Alternatives {
    return this.get('HOME').values
  }

  private unassigned(name: string): Variable {
    if (name === 'PWD') return { values: this.cwd }
    if (name === 'OLDPWD') return { values: this.before }
    if (name === 'DIRSTACK')
      return { values: this.cwd, items: this.directories.map(([directory]) => directory ?? UNKNOWN) }
    if (name === 'BASH_ALIASES') return { values: ANYTHING, items: [...this.aliases].map(([, text]) => text) }
    if (name === 'BASH_ARGV') return { values: ANYTHING, items: [...(this.positional ?? [])].reverse() }
    const known = Object.hasOwn(this.around.variables, name) ? this.around.variables[name] : undefined
    if (known !== undefined) return { values: [known] }
    if (BASH_MAKES.has(name)) return { values: [UNKNOWN] }
    const { home, tmp } = this.around
    switch (name) {
      case 'HOME':
        return { values: [home] }
      case 'USER':
      case 'LOGNAME':
        return { values: [home.split('/').pop() || 'root'] }
      case 'TMPDIR':
        return { values: [tmp, ''] }
      default:
        return { values: BASH_SETS.get(name) ?? (this.hasSourced ? ANYTHING : MAYBE_UNSET) }
    }
  }
}

/** The lists of an array that was assigned in two places: one or the other. */
function waysOf(...both: readonly Variable[]): Variable['ways'] {
  const ways = both.flatMap((one) => one.ways ?? [one.items ?? []])
  const apart = ways.filter((way, at) => ways.findIndex((other) => isSame(way, other)) === at)
  return apart.length <= 4 ? apart : undefined
}

export function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((text, i) => text === b[i]))
}
