/**
 * A first look at the syntax tree of a command. Most commands are programs that only read, joined by pipes and lists:
 * no word makes them do anything else, so their words need not be followed. Everything that is not plainly so is walked
 * (`walk/walk.ts`), and the walk comes to the same verdict about all that this lets pass; a test compares the two.
 */
import type {
  AndOr,
  Assignment,
  Command,
  CommandNode,
  CompoundList,
  Pipeline,
  Redirection,
  Statement,
  Word,
} from 'unbash'
import type { GuardContext } from './policy/context.js'
import { LOOKS_AT_NAMES, onlyReads, RECURSIVE } from './programs/readers.js'
import { isWithin, resolvePath } from './words/paths.js'
import { constantOf } from './walk/shell-reader.js'

/** What the command leaves in its shell. */
export interface Seen {
  readonly variables: Readonly<Record<string, string | null>>
}

/** A longer text may be more than the walk wants to follow. */
const LONGEST = 1_000
/** Variables whose value a shell or a program runs, or that decide what words mean. */
const MATTERS =
  /^(?:BASH|LD_|PS\d|GIT_|_|PATH$|HOME$|IFS$|ENV$|PWD$|OLDPWD$|CDPATH$|USER$|EDITOR$|VISUAL$|PAGER$|MAN|PROMPT|LESS|SUDO_|BROWSER$|SSH_|RSYNC_|CVS_|FZF_|MAKE|GLOB|HIST|MAIL|TMOUT$)/
/** A word that names something outside of the current directory, or in it by another name. */
const LEADS_AWAY = /^[/~]|^-[A-Za-z]@?[/~]|[=@<:][/~]|\.\./

/** Null: it has to be walked. */
export function firstLook(commands: readonly Statement[], text: string, context: GuardContext): Seen | null {
  if (text.length > LONGEST) return null
  const { policy, held } = context
  if (policy && (policy.preset !== 'open' || policy.rules.length > 0 || policy.protectedPaths.length > 0)) return null
  if (held && [held.references, held.hashed, held.directories].some(isFilled)) return null
  // Settings of git from the environment, which may be commands.
  if (context.variables?.['GIT_CONFIG_COUNT'] !== undefined) return null
  const look = new FirstLook(context)
  return look.statements(commands, true) && look.isFarFromSecrets() ? { variables: look.variables } : null
}

class FirstLook {
  readonly variables: Record<string, string | null> = {}
  readonly #context: GuardContext
  /** The directories in which a command may be. */
  readonly #places: string[]
  /** Words of this command name files that are read. */
  #reads = false

  constructor(context: GuardContext) {
    this.#context = context
    this.#places = [context.cwd]
  }

  /** `here`: in the shell itself, and for certain. */
  statements(list: readonly Statement[], here: boolean): boolean {
    return list.every(({ command, background }, at) => this.#node(command, here && at === 0 && !background))
  }

  /** Words that stay below the current directory cannot name a file that must not be read, unless one lies there. */
  isFarFromSecrets(): boolean {
    const { unreadablePaths = [] } = this.#context
    return !this.#reads || unreadablePaths.every((path) => this.#places.every((place) => !isWithin(path, place)))
  }

  /** A name like one of the files that must not be read, or a pattern: a link may lead there. */
  #mayBeSecret(word: string): boolean {
    const { unreadablePaths = [] } = this.#context
    const last = word.slice(word.lastIndexOf('/') + 1)
    return (
      unreadablePaths.length > 0 && (/[*?[]/.test(word) || unreadablePaths.some((path) => path.endsWith(`/${last}`)))
    )
  }

  #node(node: CommandNode | Pipeline | AndOr, here: boolean): boolean {
    switch (node.type) {
      case 'Command':
        return this.#command(node, here)
      case 'Pipeline':
        return node.commands.every((one) => this.#node(one, false))
      case 'AndOr':
        return node.commands.every((one, at) => this.#node(one, here && at === 0))
      case 'If':
        return (
          this.#list(node.clause) &&
          this.#list(node.then) &&
          node.elif.every((one) => this.#list(one.clause) && this.#list(one.then)) &&
          (!node.else || this.#list(node.else))
        )
      default:
        return false
    }
  }

  #list({ commands }: CompoundList): boolean {
    return this.statements(commands, false)
  }

  #command({ name, prefix, args, redirects }: Command, here: boolean): boolean {
    if (!redirects.every(isHarmless)) return false
    const assigned: Assignment[] = []
    for (const one of prefix) if (one.type === 'Assignment') assigned.push(one)
    if (assigned.length > 0 && !assigned.every(isPlain)) return false
    if (!name) return here && assigned.length > 0 && this.#assigned(assigned)
    const program = constantOf(name)
    if (program === null || !this.#meansItself(program)) return false
    if (program === 'cd') return here && prefix.length === 0 && this.#moved(args)
    if (program === 'export') return here && prefix.length === 0 && this.#exported(args)
    const words: (string | null)[] = []
    for (const one of args) {
      const word = one.type === 'Word' ? this.#word(one) : undefined
      if (word === undefined) return false
      words.push(word)
    }
    if (!onlyReads(program, words)) return false
    if (words.length === 0 || LOOKS_AT_NAMES.test(program)) return true
    this.#reads = true
    return words.every(
      (word) =>
        word !== null &&
        !LEADS_AWAY.test(word) &&
        !this.#mayBeSecret(word) &&
        !(isGrep(program) && RECURSIVE.test(word)),
    )
  }

  /** No function, alias or rule about this name. */
  #meansItself(name: string): boolean {
    const { functions, aliases, automation = [] } = this.#context
    return (
      !(functions && Object.hasOwn(functions, name)) &&
      !(aliases && Object.hasOwn(aliases, name)) &&
      automation.every(({ program }) => program.toLowerCase() !== name)
    )
  }

  /** The word; null where it is known only when the command runs; undefined where more than a look is needed. */
  #word(word: Word): string | null | undefined {
    const constant = constantOf(word)
    if (constant !== null) return constant
    const { parts, text, value } = word
    // Bash expands a tilde in front only.
    if (!parts) return text.includes('~') && !/^~|[=:]~|[*?[{]/.test(text) ? value : undefined
    // Names that a pattern stands for are below the directory in which it is looked for.
    if (
      parts.every((part) => (part.type === 'Literal' ? !/[~{]/.test(part.text) : part.type === 'Glob' && !part.parts))
    )
      return text
    return parts.every((part) => this.#isSimple(part)) ? null : undefined
  }

  #isSimple(part: NonNullable<Word['parts']>[number]): boolean {
    switch (part.type) {
      case 'Literal':
        return !/[~{]/.test(part.text)
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        return true
      case 'SimpleExpansion':
        return /^\$[A-Za-z_]\w*$/.test(part.text)
      case 'ParameterExpansion':
        return !part.prefix && !part.index && !part.operation && /^[A-Za-z_]\w*$/.test(part.parameter)
      case 'DoubleQuoted':
        return part.parts.every((one) => this.#isSimple(one))
      case 'CommandExpansion': {
        const { script, text } = part
        return text.startsWith('$(') && !!script && !script.errors?.length && this.statements(script.commands, false)
      }
      default:
        return false
    }
  }

  #assigned(assignments: readonly Assignment[]): boolean {
    for (const { name, value } of assignments) {
      const { arrays = {}, integers = [] } = this.#context.held ?? {}
      // What an integer is given is calculated.
      if (value.type !== 'Word' || Object.hasOwn(arrays, name) || integers.includes(name)) return false
      this.variables[name] = constantOf(value) || null
    }
    return true
  }

  #exported(args: Command['args']): boolean {
    const assigned: Assignment[] = []
    for (const one of args) if (one.type === 'Assignment') assigned.push(one)
    return args.length > 0 && assigned.length === args.length && assigned.every(isPlain) && this.#assigned(assigned)
  }

  /** `cd DIRECTORY`: what follows is in one of two places. */
  #moved(args: Command['args']): boolean {
    const [only, ...others] = args
    const target = only?.type === 'Word' ? constantOf(only) : null
    const { cwd, variables } = this.#context
    if (others.length > 0 || !target || /^[-~]/.test(target) || variables?.['CDPATH'] !== undefined) return false
    this.#places.push(resolvePath(target, cwd))
    if (variables?.['OLDPWD'] !== cwd) this.variables['OLDPWD'] = cwd
    return true
  }
}

function isGrep(program: string): boolean {
  return /^[ef]?grep$/.test(program)
}

function isFilled(held: object | undefined): boolean {
  for (const _ in held) return true
  return false
}

/** Streams that are joined, or go nowhere. */
function isHarmless(redirect: Redirection): boolean {
  if (redirect.type !== 'Redirect' || redirect.descriptor?.type === 'FileDescriptorVariable' || !redirect.target)
    return false
  const { text } = redirect.target
  return /^[<>]&$/.test(redirect.operator) ? /^\d$/.test(text) : text === '/dev/null'
}

/** A constant value for a name that nothing else acts upon. */
function isPlain({ name, value, index, append }: Assignment): boolean {
  return !index && !append && value.type === 'Word' && constantOf(value) !== null && !MATTERS.test(name)
}
