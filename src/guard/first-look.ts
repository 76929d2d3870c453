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
  For,
  HereDoc,
  Pipeline,
  Redirection,
  Statement,
  Word,
} from 'unbash'
import type { GuardContext } from './policy/context.js'
import { FirstEffects } from './first-effects.js'
import { isRun } from './programs/shell/builtins.js'
import { LOOKS_AT_NAMES, onlyReads, RECURSIVE } from './programs/readers.js'
import { isInside } from '../contract/names/inside.js'
import { resolvePath } from './words/paths.js'
import { constantOf } from './walk/shell-reader.js'
import { hasWildcard, STAR, UNKNOWN } from './words/text.js'
import type { DiskLook } from '../contract/verdict.js'

/** What the command leaves in its shell. */
export interface Seen {
  readonly variables: Readonly<Record<string, string | null>>
  readonly looked: readonly DiskLook[]
}

/** A longer text may be more than the walk wants to follow. */
const LONGEST = 1_000
/** Variables that decide what words mean, or what programs do. */
const MATTERS =
  /^(?:BASH|LD_|GIT_|_|PATH$|HOME$|IFS$|PWD$|OLDPWD$|CDPATH$|USER$|MAN|PROMPT|LESS|SUDO_|SSH_|RSYNC_|MAKE|GLOB|HIST|MAIL|TMOUT$)/

/** A variable that changes nothing but what is read of it. */
function isOrdinary(name: string): boolean {
  return !MATTERS.test(name) && !isRun(name)
}
/** A word that names something outside of the current directory, or in it by another name. */
const LEADS_AWAY = /^[/~]|^-[A-Za-z]@?[/~]|[=@<:][/~]|\.\./

const MOST_ROUNDS = 8
/** The same with and without quotes. */
const ONE_WORD = /^[\w@+=.,/-]+$/

type Part = NonNullable<Word['parts']>[number]

/** Null: it has to be walked. */
export function firstLook(commands: readonly Statement[], text: string, context: GuardContext): Seen | null {
  if (text.length > LONGEST) return null
  const { policy, held } = context
  if (policy && (policy.preset !== 'open' || policy.rules.length > 0 || policy.protectedPaths.length > 0)) return null
  if (held && [held.references, held.hashed, held.directories].some(isFilled)) return null
  // A file that the session wrote may be what a word means, or be copied.
  const words = isFilled(held?.files) ? text.split(/[\s"'=;|&()<>/]+/) : []
  for (const path in held?.files)
    if (/[*?[]/.test(text) || words.includes(path.slice(path.lastIndexOf('/') + 1))) return null
  // Settings of git from the environment, which may be commands.
  if (context.variables?.['GIT_CONFIG_COUNT'] !== undefined) return null
  const look = new FirstLook(context)
  return look.statements(commands, true) && look.isFarFromSecrets()
    ? { variables: look.variables, looked: look.effects.disk.looks }
    : null
}

class FirstLook {
  readonly variables: Record<string, string | null> = {}
  readonly effects: FirstEffects
  readonly #context: GuardContext
  /** The directories in which a command may be, and the one in which it is when all goes well. */
  readonly #places: string[]
  #now: string
  /** What the variables of loops are in this round. */
  readonly #rounds = new Map<string, string>()
  /** Words of this command name files that are read. */
  #reads = false

  constructor(context: GuardContext) {
    this.#context = context
    this.#places = [context.cwd]
    this.#now = context.cwd
    this.effects = new FirstEffects(context)
  }

  /** `here`: in the shell itself, and for certain. */
  statements(list: readonly Statement[], here: boolean): boolean {
    return list.every(({ command, background }, at) => this.#node(command, here && at === 0 && !background))
  }

  /** Words that stay below the current directory cannot name a file that must not be read, unless one lies there. */
  isFarFromSecrets(): boolean {
    const { unreadablePaths = [] } = this.#context
    return !this.#reads || unreadablePaths.every((path) => this.#places.every((place) => !isInside(path, place)))
  }

  /** A name like one of the files that must not be read, or a pattern: a link may lead there. */
  #mayBeSecret(word: string): boolean {
    const { unreadablePaths = [] } = this.#context
    const last = word.slice(word.lastIndexOf('/') + 1)
    return (
      unreadablePaths.length > 0 && (hasWildcard(word) || unreadablePaths.some((path) => path.endsWith(`/${last}`)))
    )
  }

  /** `alone`: nothing that is known is printed into it. */
  #node(node: CommandNode | Pipeline | AndOr, here: boolean, alone = true): boolean {
    switch (node.type) {
      case 'Command':
        return this.#command(node, here, alone)
      case 'Pipeline':
        return node.commands.every((one) => this.#node(one, false, node.commands.length === 1))
      case 'AndOr':
        return node.commands.every((one, at) =>
          one.type === 'Command' && here && node.operators.every((operator) => operator === '&&')
            ? this.#command(one, at === 0, true, true)
            : this.#node(one, here && at === 0),
        )
      case 'For':
        return here && this.#loop(node)
      case 'If':
        return (
          this.#list(node.clause) &&
          this.#list(node.then) &&
          node.elif.every((one) => this.#list(one.clause) && this.#list(one.then)) &&
          (!node.else || this.#list(node.else))
        )
      case 'Case':
        return (
          this.#word(node.word) !== undefined &&
          node.items.every(
            ({ pattern, body }) => pattern.every((one) => typeof this.#word(one) === 'string') && this.#list(body),
          )
        )
      default:
        return false
    }
  }

  /** Every round of it; afterwards the variable is known by its first value. */
  #loop({ name: { value: name }, wordlist, body }: For): boolean {
    const values = wordlist?.map(constantOf) ?? []
    const { arrays = {}, integers = [] } = this.#context.held ?? {}
    if (!isOrdinary(name) || Object.hasOwn(arrays, name) || integers.includes(name)) return false
    if (values.length === 0 || values.length > MOST_ROUNDS || !values.every((value) => value && ONE_WORD.test(value)))
      return false
    this.variables[name] = values[0] as string
    const passes = values.every((value) => this.#rounds.set(name, value as string) && this.#list(body))
    this.#rounds.delete(name)
    return passes
  }

  #list({ commands }: CompoundList): boolean {
    return this.statements(commands, false)
  }

  /** `certain`: everything before it has succeeded. */
  #command({ name, prefix, args, redirects }: Command, here: boolean, alone: boolean, certain = here): boolean {
    const files = redirects.filter((one) => !isHarmless(one))
    const assigned: Assignment[] = []
    for (const one of prefix) if (one.type === 'Assignment') assigned.push(one)
    if (assigned.length > 0 && !assigned.every((one) => this.#isPlain(one, name === undefined))) return false
    if (files.length > 0 && (!name || assigned.length > 0)) return false
    if (!name) return here && assigned.length > 0 && this.#assigned(assigned)
    const program = constantOf(name)
    if (program === null || !this.#meansItself(program)) return false
    if (files.length > 0 && /^(?:cd|export)$/.test(program)) return false
    if (program === 'cd') return certain && prefix.length === 0 && this.#moved(args)
    if (program === 'export') return here && prefix.length === 0 && this.#exported(args)
    const words: (string | null)[] = []
    for (const one of args) {
      const word = one.type === 'Word' ? this.#word(one) : undefined
      if (word === undefined) return false
      words.push(word)
    }
    if (!this.#redirected(files, program, words, alone)) return false
    const changes = this.effects.changes(program, words, this.#places)
    if (!(changes ?? onlyReads(program, words)) || (changes && files.length > 0)) return false
    if (words.length === 0 || LOOKS_AT_NAMES.test(program)) return true
    this.#reads = true
    const takesTree = program === 'find' || (isGrep(program) && words.some((word) => RECURSIVE.test(word ?? '')))
    return words.every(
      (word) =>
        word !== null &&
        !((word.length > 1 || takesTree) && LEADS_AWAY.test(word)) &&
        !this.#mayBeSecret(word) &&
        !(takesTree && (hasWildcard(word) || this.effects.leadsAway(word, this.#places))),
    )
  }

  /** Files that it reads and writes by redirection, and a here-document. */
  #redirected(
    files: readonly Redirection[],
    program: string,
    words: readonly (string | null)[],
    alone: boolean,
  ): boolean {
    const documents = files.filter((one) => one.type === 'HereDoc')
    const input = documents.length === 1 && alone ? this.#documentOf(documents[0] as HereDoc) : null
    if (documents.length > 0 && (input === null || program !== 'cat')) return false
    for (const one of files) {
      if (one.descriptor && (one.descriptor.type !== 'FileDescriptor' || one.descriptor.value > 1)) return false
      if (one.type === 'HereDoc') continue
      const target = one.type === 'Redirect' && one.target ? constantOf(one.target) : null
      if (target === null) return false
      if (one.operator === '<') {
        if (LEADS_AWAY.test(target) || this.#mayBeSecret(target)) return false
        this.#reads = true
      } else if (
        !/^>>?$/.test(one.operator) ||
        !alone ||
        !this.effects.writes(program, words, input, target, this.#places)
      )
        return false
    }
    return true
  }

  /** The text of a here-document; null where more than a look is needed. */
  #documentOf({ body: { parts, text }, delimiter, operator, descriptor }: HereDoc): string | null {
    if (descriptor || operator !== '<<') return null
    if (delimiter?.quoted || (!parts && !text.includes('\\'))) return text
    let whole = ''
    for (const part of parts ?? []) {
      if (part.type === 'Literal' && !part.text.includes('\\')) whole += part.value
      else if (this.#isPrinted([part])) whole += UNKNOWN
      else return null
    }
    return parts ? whole : null
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
    const round = this.#rounds.get(/^"?\$\{?(\w+)\}?"?$/.exec(text)?.[1] ?? '')
    if (round !== undefined) return round
    // Bash expands a tilde in front only.
    if (!parts) return text.includes('~') && !/^~|[=:]~|[*?[{]/.test(text) ? value : undefined
    // Names that a pattern stands for are below the directory in which it is looked for.
    if (
      parts.every((part) => (part.type === 'Literal' ? !/[~{]/.test(part.text) : part.type === 'Glob' && !part.parts))
    )
      return text.replaceAll(/[*?[\]]/g, STAR)
    return parts.every((part) => this.#isSimple(part)) ? null : undefined
  }

  #isSimple(part: Part): boolean {
    switch (part.type) {
      case 'Literal':
        return !/[~{]/.test(part.text)
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        return true
      case 'SimpleExpansion':
        return /^\$(?:[A-Za-z_]\w*|[?#])$/.test(part.text)
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

  /** A constant value for a name that nothing else acts upon; or what a program prints, which is not known. */
  #isPlain({ name, value, index, append }: Assignment, mayBePrinted = false): boolean {
    if (index || append || value.type !== 'Word' || !isOrdinary(name)) return false
    return constantOf(value) !== null || (mayBePrinted && this.#isPrinted(value.parts ?? []))
  }

  /** What a program prints, which is not known. */
  #isPrinted([outer, ...others]: readonly Part[]): boolean {
    const [only, ...more] = outer?.type === 'DoubleQuoted' ? outer.parts : outer ? [outer] : []
    if (only?.type !== 'CommandExpansion' || others.length > 0 || more.length > 0 || !this.#isSimple(only)) return false
    const [statement, ...rest] = only.script?.commands ?? []
    const node = statement?.command
    return (
      rest.length === 0 &&
      node?.type === 'Command' &&
      this.effects.printsUnknown((node.name && constantOf(node.name)) ?? '')
    )
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
    return (
      args.length > 0 &&
      assigned.length === args.length &&
      assigned.every((one) => this.#isPlain(one)) &&
      this.#assigned(assigned)
    )
  }

  /** `cd DIRECTORY`: what follows is in one of two places. */
  #moved(args: Command['args']): boolean {
    const [only, ...others] = args
    const target = only?.type === 'Word' ? constantOf(only) : null
    const { variables } = this.#context
    if (others.length > 0 || !target || /^[-~]/.test(target) || variables?.['CDPATH'] !== undefined) return false
    const before = this.#now
    this.#now = resolvePath(target, before)
    this.#places.push(this.#now)
    delete this.variables['OLDPWD']
    if (variables?.['OLDPWD'] !== before) this.variables['OLDPWD'] = before
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
