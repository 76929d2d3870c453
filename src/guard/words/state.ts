/** What the guard believes a shell to hold while it reads a command: variables, functions, directory, files just written. */
import type { CompoundCommand, CompoundList, Redirected } from 'unbash'
import { type Alternatives, MAYBE_UNSET, UNKNOWN, unique } from './text.js'

export interface Variable {
  /** What `$name` may be. */
  readonly values: Alternatives
  /** Elements of an indexed array. */
  readonly items?: readonly string[] | undefined
  /** Taken away by `unset`. */
  readonly unset?: boolean
}

export interface FunctionBody {
  readonly body: CompoundCommand | Redirected | CompoundList
  readonly source: string
}

/** What the machine and the session are known to be before the command starts. */
export interface Surroundings {
  readonly home: string
  readonly tmp: string
  readonly variables: Readonly<Record<string, string>>
}

const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

export class ShellState {
  readonly variables = new Map<string, Variable>()
  readonly functions = new Map<string, FunctionBody>()
  readonly aliases = new Map<string, string>()
  /** `declare -n ref=name`: reading and setting ref means name. */
  private readonly references = new Map<string, string>()
  previousCwd: Alternatives
  /** Counts changes, so that a loop knows whether a second round can differ from the first. */
  changes = 0
  private directory: Alternatives
  directoryStack: Alternatives[] = []
  private parameters: readonly string[] | null = null
  arg0 = 'bash'

  constructor(
    readonly around: Surroundings,
    cwd: Alternatives,
    /** Files that this command has written so far, by absolute path; shared by all subshells. */
    readonly files: Map<string, Alternatives> = new Map(),
  ) {
    this.directory = cwd
    this.previousCwd = [UNKNOWN]
  }

  get cwd(): Alternatives {
    return this.directory
  }

  set cwd(directory: Alternatives) {
    this.directory = directory
    this.changes++
  }

  /** `$1`, `$2`, ... or null when nobody knows them. */
  get positional(): readonly string[] | null {
    return this.parameters
  }

  set positional(parameters: readonly string[] | null) {
    this.parameters = parameters
    this.changes++
  }

  /** A subshell: sees everything, changes nothing outside. */
  fork(): ShellState {
    const copy = new ShellState(this.around, this.cwd, this.files)
    for (const [name, value] of this.variables) copy.variables.set(name, value)
    for (const [name, value] of this.functions) copy.functions.set(name, value)
    for (const [name, value] of this.aliases) copy.aliases.set(name, value)
    for (const [name, target] of this.references) copy.references.set(name, target)
    copy.previousCwd = this.previousCwd
    copy.directoryStack = [...this.directoryStack]
    copy.parameters = this.parameters
    copy.arg0 = this.arg0
    return copy
  }

  /** Joins another way the command may have gone into this one. */
  absorb(other: ShellState): void {
    const directories = unique([...this.cwd, ...other.cwd])
    if (directories.length !== this.cwd.length) this.cwd = directories
    this.previousCwd = unique([...this.previousCwd, ...other.previousCwd])
    for (const [name, theirs] of other.variables) {
      const mine = this.variables.get(name)
      if (mine === theirs) continue
      const values = unique([...(mine ?? this.unassigned(name)).values, ...theirs.values])
      const items =
        mine?.items && theirs.items ? [...new Set([...mine.items, ...theirs.items])] : (mine?.items ?? theirs.items)
      this.variables.set(name, { values, items })
    }
    for (const [name, body] of other.functions) if (!this.functions.has(name)) this.functions.set(name, body)
    for (const [name, target] of other.references) if (!this.references.has(name)) this.references.set(name, target)
    for (const [name, text] of other.aliases) if (!this.aliases.has(name)) this.aliases.set(name, text)
  }

  get(name: string): Variable {
    const target = this.meant(name)
    return this.variables.get(target) ?? this.unassigned(target)
  }

  set(name: string, values: Alternatives, items?: readonly string[]): void {
    this.variables.set(this.meant(name), { values, items })
    this.changes++
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
    this.references.set(name, target)
    this.changes++
  }

  private meant(name: string): string {
    let target = name
    for (let hops = 0; hops < 8 && this.references.size > 0; hops++) target = this.references.get(target) ?? target
    return target
  }

  get home(): Alternatives {
    return this.get('HOME').values
  }

  private unassigned(name: string): Variable {
    if (name === 'PWD') return { values: this.cwd }
    if (name === 'OLDPWD') return { values: this.previousCwd }
    const known = Object.hasOwn(this.around.variables, name) ? this.around.variables[name] : undefined
    if (known !== undefined) return { values: [known] }
    switch (name) {
      case 'HOME':
        return { values: [this.around.home] }
      case 'USER':
      case 'LOGNAME':
      case 'USERNAME':
        return { values: [this.around.home.split('/').pop() || 'root'] }
      case 'TMPDIR':
        return { values: [this.around.tmp, ''] }
      case 'IFS':
        return { values: [' \t\n'] }
      case 'PATH':
        return { values: [DEFAULT_PATH] }
      case 'SHELL':
      case 'BASH':
        return { values: ['/bin/bash'] }
      case 'UID':
      case 'EUID':
      case 'PPID':
      case 'RANDOM':
      case 'SECONDS':
      case 'LINENO':
      case 'BASHPID':
      case 'HOSTNAME':
      case 'EPOCHSECONDS':
      case 'BASH_VERSION':
      case 'OSTYPE':
        return { values: [UNKNOWN] }
      default:
        return { values: MAYBE_UNSET }
    }
  }
}
