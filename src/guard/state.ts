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
  previousCwd: Alternatives
  /** Counts changes, so that a loop knows whether a second round can differ from the first. */
  changes = 0
  private directory: Alternatives
  directoryStack: Alternatives[] = []
  /** `$1`, `$2`, ... or null when nobody knows them. */
  positional: readonly string[] | null = null
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

  /** A subshell: sees everything, changes nothing outside. */
  fork(): ShellState {
    const copy = new ShellState(this.around, this.cwd, this.files)
    for (const [name, value] of this.variables) copy.variables.set(name, value)
    for (const [name, value] of this.functions) copy.functions.set(name, value)
    for (const [name, value] of this.aliases) copy.aliases.set(name, value)
    copy.previousCwd = this.previousCwd
    copy.directoryStack = [...this.directoryStack]
    copy.positional = this.positional
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
      const items = mine?.items && theirs.items ? [...new Set([...mine.items, ...theirs.items])] : (mine?.items ?? theirs.items)
      this.variables.set(name, { values, items })
    }
    for (const [name, body] of other.functions) if (!this.functions.has(name)) this.functions.set(name, body)
    for (const [name, text] of other.aliases) if (!this.aliases.has(name)) this.aliases.set(name, text)
  }

  get(name: string): Variable {
    return this.variables.get(name) ?? this.unassigned(name)
  }

  set(name: string, values: Alternatives, items?: readonly string[]): void {
    this.variables.set(name, { values, items })
    this.changes++
  }

  unset(name: string): void {
    this.variables.set(name, { values: [''], unset: true })
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
