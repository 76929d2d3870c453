/**
 * A first look at the syntax tree of a command. Most commands are programs that only read, joined by pipes and lists:
 * no word makes them do anything else, so their words need not be followed. Everything that is not plainly so is walked
 * (`walk/walk.ts`), and the walk comes to the same verdict about all that this lets pass; a test compares the two.
 */
import type { Assignment, Command, CompoundList, For, Pipeline, Redirection, Statement } from 'unbash'
import type { GuardContext } from './policy/context.js'
import { mayMean } from './holdings.js'
import { FirstEffects, type Input } from './first-effects.js'
import { FirstReads } from './first-reads.js'
import { FirstWords } from './first-words.js'
import { resolvePath } from './words/paths.js'
import type { Node } from './words/syntax.js'
import { constantOf } from './walk/shell-reader.js'
import { isConstant } from './words/text.js'
import type { DiskLook } from '../contract/verdict.js'

/** What the command leaves in its shell. */
export interface Seen {
  readonly variables: Readonly<Record<string, string | null>>
  readonly looked: readonly DiskLook[]
}

/** A longer text may be more than the walk wants to follow. */
const LONGEST = 1_000
/** More parts, words or directories, or deeper ones, are followed with a budget. */
const MOST_NODES = 300
const MOST_WORDS = 1_000
const MOST_PLACES = 8
const DEEPEST = 20
/** More values than these are weighed against each other. */
const MOST_VALUES = 40
const MOST_ROUNDS = 8
/** The same with and without quotes. */
const ONE_WORD = /^[\w@+=.,/-]+$/

/** Null: it has to be walked. */
export function firstLook(commands: readonly Statement[], text: string, context: GuardContext): Seen | null {
  if (text.length > LONGEST) return null
  const { policy, held } = context
  if (policy && (policy.preset !== 'open' || policy.rules.length > 0 || policy.protectedPaths.length > 0)) return null
  if (![undefined, ' \t\n'].includes(context.variables?.['IFS']) || mayMean(text, held)) return null
  const look = new FirstLook(context)
  return look.statements(commands, true) && look.reads.areFarFromSecrets
    ? { variables: look.variables, looked: look.effects.disk.looks }
    : null
}

const KNOWN = (): Input => 'known'

class FirstLook {
  readonly variables: Record<string, string | null> = {}
  readonly effects: FirstEffects
  readonly reads: FirstReads
  readonly #context: GuardContext
  readonly #words: FirstWords
  /** The directories in which a command may be, and the one in which it is when all goes well. */
  readonly #places: string[]
  #now: string
  /** In a process of its own, what is set is gone with it. */
  #apart = 0
  #loops = 0
  #depth = 0
  #nodes = 0
  #weight = 0
  /** What the commands here read. */
  #given: Input = 'none'
  /** What the last command prints. */
  #printed: () => Input = KNOWN

  constructor(context: GuardContext) {
    this.#context = context
    this.#places = [context.cwd]
    this.#now = context.cwd
    this.effects = new FirstEffects(context)
    this.reads = new FirstReads(context, this.#places, this.effects)
    this.#words = new FirstWords(context, this.variables, (inner) =>
      this.#inProcess(() => this.statements(inner, true)) ? this.#printed() : null,
    )
  }

  /** `here`: in the shell itself. */
  statements(list: readonly Statement[], here: boolean): boolean {
    // A loop may start such commands without end.
    if (this.#loops > 0 && list.some(({ background }) => background)) return false
    return list.every(({ command, background }, at) => this.#node(command, here && !background, this.#given, at === 0))
  }

  /** `first`: nothing before it can have failed. */
  #node(node: Node, here: boolean, input = this.#given, first = false): boolean {
    if (this.#depth > DEEPEST || ++this.#nodes > MOST_NODES) return false
    const before = this.#given
    // Text is followed from one program to the next, no further.
    this.#given = input === 'none' ? 'none' : 'known'
    this.#depth++
    const passes = this.#byType(node, here, input, first)
    this.#depth--
    this.#given = before
    return passes
  }

  #byType(node: Node, here: boolean, input: Input, first: boolean): boolean {
    switch (node.type) {
      case 'Command':
        return this.#command(node, here, input, here && first)
      case 'Pipeline':
        return this.#pipeline(node)
      case 'AndOr':
        return node.commands.every((one, at) =>
          one.type === 'Command' && here && node.operators.every((operator) => operator === '&&')
            ? this.#command(one, at === 0, this.#given, first)
            : this.#node(one, here && at === 0),
        )
      case 'BraceGroup':
        return this.statements(node.body.commands, here)
      case 'Subshell':
        return this.#inProcess(() => this.statements(node.body.commands, true))
      case 'Redirected':
        return (
          this.#redirected(node.redirects.filter(isOfFile), '', [], 'known', 'known') &&
          this.#node(node.command, here, node.redirects.some(isInput) ? 'known' : this.#given)
        )
      case 'For':
        return here && this.#loop(node)
      case 'While':
        return this.#round(() => this.statements(node.clause.commands, here) && this.#list(node.body))
      case 'If':
        // What it supposes changes which value of a variable counts as the first.
        if (this.#loops === 0 && !this.#words.areSingle) return false
        return (
          [node, ...node.elif].every(({ clause, then }) => this.#list(clause) && this.#list(then)) &&
          this.#list(node.else)
        )
      case 'Case':
        return (
          this.#words.one(node.word) !== undefined &&
          node.items.every(
            ({ pattern, body }) => pattern.every((one) => typeof this.#words.one(one) === 'string') && this.#list(body),
          )
        )
      case 'TestCommand':
        return this.#words.areTested(node.expression)
      default:
        return false
    }
  }

  #inProcess(look: () => boolean): boolean {
    const [before, now] = [{ ...this.variables }, this.#now]
    this.#apart++
    const passes = look()
    this.#apart--
    for (const name in this.variables) delete this.variables[name]
    Object.assign(this.variables, before)
    this.#now = now
    return passes
  }

  #pipeline({ commands }: Pipeline): boolean {
    const [only, ...others] = commands
    if (only && others.length === 0) return this.#node(only, false)
    let input = this.#given
    return this.#inProcess(() =>
      commands.every((one, at) => {
        const passes = this.#node(one, false, input)
        input = one.type === 'Command' && at < others.length ? this.#printed() : 'known'
        return passes
      }),
    )
  }

  /** Every round of it; afterwards the variable is known by its first value. */
  #loop({ name: { value: name }, wordlist, body }: For): boolean {
    const values = wordlist?.flatMap((word) => this.#words.all(word) ?? [null]) ?? []
    if (!this.#words.maySet(name) || values.length === 0 || values.length > MOST_VALUES || values.includes(null))
      return false
    this.variables[name] = values.find((value) => value && isConstant(value)) ?? null
    const { rounds, several } = this.#words
    if (values.length > 1) several.add(name)
    const round = (): boolean => this.#round(() => this.#list(body))
    if (values.length > MOST_ROUNDS || !values.every((value) => value && ONE_WORD.test(value))) return round()
    const passes = values.every((value) => rounds.set(name, value as string) && round())
    rounds.delete(name)
    return passes
  }

  #round(look: () => boolean): boolean {
    this.#loops++
    const passes = look()
    this.#loops--
    return passes
  }

  #list(list: CompoundList | undefined): boolean {
    return !list || this.statements(list.commands, false)
  }

  /** `certain`: everything before it has succeeded. */
  #command({ name, prefix, args, redirects }: Command, here: boolean, given: Input, certain: boolean): boolean {
    this.#printed = KNOWN
    const files = redirects.filter(isOfFile)
    const isFile = files.every((one) => !isInput(one) || one.operator === '<') && this.effects.isUntouched
    const input = !files.some(isInput) ? given : isFile ? 'unknown' : 'known'
    const assigned = prefix.filter((one) => one.type === 'Assignment')
    if (files.length > 0 && (!name || assigned.length > 0)) return false
    if (!name) {
      const passes = assigned.length > 0 && this.#assigned(assigned, here)
      this.#printed = KNOWN
      return passes
    }
    const program = constantOf(name)
    if (program === null || !this.#meansItself(program)) return false
    if (program === 'read') return files.length === 0 && this.#hasRead(assigned, args, here)
    if (!assigned.every((one) => this.#words.isPlain(one))) return false
    if (files.length > 0 && /^(?:cd|export|unset)$/.test(program)) return false
    if (program === 'cd') return certain && prefix.length === 0 && this.#moved(args)
    if (program === 'export') return here && prefix.length === 0 && this.#exported(args)
    const words: (string | null)[] = []
    for (const one of args) {
      const found = one.type === 'Word' ? this.#words.all(one) : undefined
      this.#weight += (found?.length ?? 0) * this.#places.length
      if (!found || this.#weight > MOST_WORDS) return false
      words.push(...found)
    }
    // git runs what is behind it.
    if (words.some((word) => word?.startsWith('ext::'))) return false
    if (/^(?:test|\[)$/.test(program) && !args.every((one) => this.#words.isOneField(one))) return false
    if (/^(?:find|xargs)$/.test(program) && !words.every((word) => word === null || this.#meansItself(word)))
      return false
    if (program === 'unset') return here && prefix.length === 0 && words.every((word) => word && this.#unset(word))
    if (!this.#redirected(files, program, words, given, input)) return false
    const changes = this.effects.changes(program, words, input, this.#places)
    if (changes === null && !this.effects.onlyReads(program, words, input, this.#now)) return false
    if (changes === false || (changes && files.length > 0)) return false
    this.#printed = () => this.effects.prints(program, words, input)
    return this.reads.may(program, words)
  }

  /** Files that it reads and writes by redirection, and a here-document. */
  #redirected(
    files: readonly Redirection[],
    program: string,
    words: readonly (string | null)[],
    given: Input,
    input: Input,
  ): boolean {
    const [document, ...others] = files.filter((one) => one.type === 'HereDoc')
    const isFirst = given === 'none' && this.#loops === 0 && program === 'cat'
    const text = document && isFirst ? this.#words.documentOf(document) : null
    if (document && (text === null || others.length > 0)) return false
    for (const one of files) {
      const usual = isInput(one) ? 0 : 1
      if (one.descriptor && (one.descriptor.type !== 'FileDescriptor' || one.descriptor.value !== usual)) return false
      if (one.type === 'HereDoc') continue
      const target = one.type === 'Redirect' && one.target ? constantOf(one.target) : null
      if (target === null) return false
      if (one.operator === '<') {
        if (!this.reads.may('<', [target])) return false
      } else if (
        !/^>>?$/.test(one.operator) ||
        // What several rounds write is put together.
        !this.effects.writes(program, words, { input: this.#loops > 0 ? 'known' : input, text }, target, this.#places)
      )
        return false
    }
    return true
  }

  /** No function, alias or rule about this name. */
  #meansItself(name: string): boolean {
    const { functions, aliases, automation = [] } = this.#context
    return (
      !(functions && Object.hasOwn(functions, name)) &&
      !(aliases && Object.hasOwn(aliases, name)) &&
      automation.every(({ program }) => program.toLowerCase() !== name.toLowerCase())
    )
  }

  #assigned(assignments: readonly Assignment[], here: boolean): boolean {
    for (const one of assignments) {
      if (!this.#words.maySet(one.name)) return false
      // In a loop the variable keeps its first value, and gets numbers.
      const again = this.#loops > 0 && typeof this.variables[one.name] === 'string' && this.#words.isNumber(one)
      if (!again && !(here && this.#words.isPlain(one, true))) return false
      if (again) this.#words.counted.add(one.name)
      else this.variables[one.name] = (one.value.type === 'Word' && constantOf(one.value)) || null
    }
    return true
  }

  #exported(args: Command['args']): boolean {
    const assigned = args.filter((one) => one.type === 'Assignment')
    return (
      args.length > 0 &&
      assigned.length === args.length &&
      assigned.every((one) => this.#words.isPlain(one)) &&
      this.#assigned(assigned, true)
    )
  }

  /** `read -r NAME...`: what comes is not known. */
  #hasRead(prefix: readonly Assignment[], args: Command['args'], here: boolean): boolean {
    const names: string[] = []
    for (const one of args) {
      const word = one.type === 'Word' ? constantOf(one) : null
      if (word === null) return false
      if (word !== '-r') names.push(word)
    }
    if (!prefix.every(({ name, text }) => name === 'IFS' && text === 'IFS=')) return false
    if (this.#apart === 0 && (!here || !this.effects.isUntouched)) return false
    return names.length > 0 && names.every((name) => this.#unset(name))
  }

  /** The variable has no value that is known. */
  #unset(name: string): boolean {
    if (!/^[A-Za-z]\w*$/.test(name) || !this.#words.maySet(name) || !this.#meansItself(name)) return false
    // What stands before it in a loop reads it in the next round.
    if (this.#loops > 0 && this.#words.isNumeric(name)) return false
    this.variables[name] = null
    return true
  }

  /** `cd DIRECTORY`: what follows is in one of two places. */
  #moved(args: Command['args']): boolean {
    const [only, ...others] = args
    const word = only?.type === 'Word' ? constantOf(only) : null
    const { variables } = this.#context
    const target = word === '-' ? (this.variables['OLDPWD'] ?? variables?.['OLDPWD']) : word
    if (
      this.#loops > 0 ||
      this.#places.length > MOST_PLACES ||
      others.length > 0 ||
      !target ||
      /^[-~]/.test(target) ||
      variables?.['CDPATH'] !== undefined
    )
      return false
    const before = this.#now
    this.#now = resolvePath(target, before)
    if (!this.#places.includes(this.#now)) this.#places.push(this.#now)
    delete this.variables['OLDPWD']
    if (variables?.['OLDPWD'] !== before) this.variables['OLDPWD'] = before
    return true
  }
}

function isInput({ operator }: Redirection): boolean {
  return operator.startsWith('<') && operator !== '<&'
}

/** All but streams that are joined, or go nowhere. */
function isOfFile(redirect: Redirection): boolean {
  if (redirect.type !== 'Redirect' || redirect.descriptor?.type === 'FileDescriptorVariable' || !redirect.target)
    return true
  const { text } = redirect.target
  return /^[<>]&$/.test(redirect.operator) ? !/^\d$/.test(text) : text !== '/dev/null'
}
