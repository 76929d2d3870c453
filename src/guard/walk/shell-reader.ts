/**
 * Follows a command through the shell that carries it out. What runs in a process of its own (subshells,
 * substitutions, all but the last stage of a pipeline, background) cannot change that shell.
 */
import { nameSet } from '../../contract/quote.js'
import type { Node } from '../words/syntax.js'
import { isConstant } from '../words/text.js'
import type {
  ArithmeticExpression,
  Assignment,
  Command,
  CompoundList,
  ParameterExpansionPart,
  Redirection,
  Statement,
  TestExpression,
  Word,
  WordPart,
} from 'unbash'

/**
 * Builtins that leave the shell as it was, whatever their arguments (`test` and `printf` are looked at more closely).
 */
const HARMLESS = nameSet(': [ caller echo false help printf pwd test times true type')
/** Builtins that change the shell, but after which no word means something else. */
const CLEAR = nameSet(
  'bg break cd continue declare dirs disown exit export fg getopts hash jobs kill let local logout popd pushd ' +
    'read readonly return set shift suspend typeset ulimit umask unset wait',
)
export const BUILTINS = new Set([
  ...HARMLESS,
  ...CLEAR,
  ...nameSet(
    '. alias bind builtin command compgen complete compopt enable eval exec fc history mapfile readarray shopt ' +
      'source trap unalias',
  ),
])
const NUMBER = /^-?\d+$/
const OTHER_TEXT = nameSet('. source eval')

export class ShellReader {
  readonly words = new Set<string>()
  /** Of all commands, also those that run in a process of their own. */
  readonly named = new Set<string>()
  harmless = true
  clear = true
  dynamic = false
  builtinsOnly = true
  leavesChildren = false
  whole = true

  /** `here`: in the shell itself, not in a process of its own. */
  statements(list: readonly Statement[], here: boolean): void {
    for (const { command, background } of list) {
      if (background) {
        this.leavesChildren = true
        this.builtinsOnly = false
      }
      this.#node(command, here && !background)
    }
  }

  #list(list: CompoundList | undefined, here: boolean): void {
    if (list) this.statements(list.commands, here)
  }

  #node(node: Node, here: boolean): void {
    switch (node.type) {
      case 'Command':
        return this.#command(node, here)
      case 'Pipeline':
        if (node.commands.length > 1) this.builtinsOnly = false
        // With `lastpipe` the last stage runs in the shell itself.
        return node.commands.forEach((one, at) => this.#node(one, here && at === node.commands.length - 1))
      case 'AndOr':
        return node.commands.forEach((one) => this.#node(one, here))
      case 'CompoundList':
        return this.#list(node, here)
      case 'BraceGroup':
        return this.#list(node.body, here)
      case 'Subshell':
        this.builtinsOnly = false
        return this.#list(node.body, false)
      case 'Redirected':
        this.#redirects(node.redirects, here)
        return this.#node(node.command, here)
      case 'If':
        this.#list(node.clause, here)
        this.#list(node.then, here)
        for (const one of node.elif) {
          this.#list(one.clause, here)
          this.#list(one.then, here)
        }
        return this.#list(node.else, here)
      case 'While':
        this.#list(node.clause, here)
        return this.#list(node.body, here)
      case 'Case':
        this.#word(node.word, here)
        for (const item of node.items) {
          for (const pattern of item.pattern) this.#word(pattern, here)
          this.#list(item.body, here)
        }
        return
      case 'For':
      case 'Select':
        this.#changes(here)
        for (const word of node.wordlist ?? []) this.#word(word, here)
        return this.#list(node.body, here)
      case 'ArithmeticFor':
        this.#changes(here)
        return this.#list(node.body, here)
      case 'ArithmeticCommand':
        return this.#arithmetic(node.expression, here)
      case 'TestCommand':
        return this.#test(node.expression, here)
      default:
        // A function gives a word a new meaning; a coprocess is a child, and variables.
        this.leavesChildren ||= node.type === 'Coproc'
        this.builtinsOnly = false
        if (here) this.harmless = this.clear = false
    }
  }

  #command(command: Command, here: boolean): void {
    const { name } = command
    for (const one of command.prefix) if (one.type === 'Assignment') this.#assignment(one, here)
    this.#redirects(command.redirects, here)
    for (const one of command.args) {
      if (one.type === 'Assignment') this.#assignment(one, here)
      else this.#word(one, here)
    }
    if (!name) {
      if (command.prefix.some(({ type }) => type === 'Assignment')) this.#changes(here)
      return
    }
    this.#word(name, here)
    const word = constantOf(name)
    if (word === null) {
      this.dynamic = true
      this.builtinsOnly = false
      if (here) this.harmless = this.clear = false
      return
    }
    this.named.add(word)
    if (here) this.words.add(word)
    if (word.includes('/') || !BUILTINS.has(word)) this.builtinsOnly = false
    else if (here) this.#builtin(word, command)
    if (OTHER_TEXT.has(word)) this.dynamic = true
  }

  #builtin(word: string, { args, prefix }: Command): void {
    const first = args[0]?.type === 'Word' ? constantOf(args[0]) : null
    // `command -v name` only asks; `command name` is the program or builtin of that name.
    if (word === 'command' && first !== null && /^-[vV]$/.test(first)) return
    if (word === 'command' && first !== null && !BUILTINS.has(first) && !first.startsWith('-')) {
      this.builtinsOnly = false
      return
    }
    const asks = args.every(
      (one) => one.type === 'Word' && !constantOf(one)?.startsWith('-v') && constantOf(one) !== '-R',
    )
    // The index of an array that is asked for is evaluated, and `printf -v` assigns; neither is
    // to be seen behind an expansion.
    const plain = !/^(?:printf|test|\[)$/.test(word) || (asks && args.every(isNoOption))
    if (HARMLESS.has(word) && plain && prefix.length === 0) return
    this.harmless = false
    if (!HARMLESS.has(word) && !CLEAR.has(word)) this.clear = false
  }

  #changes(here: boolean): void {
    if (here) this.harmless = false
  }

  #assignment({ value, index }: Assignment, here: boolean): void {
    if (index) this.#changes(here)
    if (value.type === 'Word') this.#word(value, here)
    else for (const element of value.elements) this.#word(element, here)
  }

  #redirects(list: readonly Redirection[], here: boolean): void {
    // A redirection may wait for a process at the other end of a FIFO.
    if (list.length > 0) this.builtinsOnly = false
    for (const one of list) {
      if (one.descriptor?.type === 'FileDescriptorVariable') this.#changes(here)
      if (one.type !== 'HereDoc') {
        if (one.target) this.#word(one.target, here)
        continue
      }
      if (!one.closing) this.whole = false
      for (const part of one.body.parts ?? []) this.#part(part, here)
    }
  }

  #word({ parts }: Word, here: boolean): void {
    for (const part of parts ?? []) this.#part(part, here)
  }

  #part(part: WordPart, here: boolean): void {
    switch (part.type) {
      case 'CommandExpansion':
        this.builtinsOnly = false
        // `${ command; }` runs in the shell itself.
        if (part.text.startsWith('${')) {
          if (here) this.harmless = this.clear = false
        } else this.statements(part.script?.commands ?? [], false)
        return
      case 'ProcessSubstitution':
        this.builtinsOnly = false
        this.leavesChildren = true
        return this.statements(part.script?.commands ?? [], false)
      case 'ArithmeticExpansion':
        return this.#arithmetic(part.expression, here)
      case 'ParameterExpansion':
        return this.#parameter(part, here)
      case 'DoubleQuoted':
      case 'LocaleString':
      case 'ExtendedGlob':
      case 'BraceExpansion':
      case 'Glob':
        for (const inner of part.parts ?? []) this.#part(inner, here)
        return
      default:
    }
  }

  #parameter({ prefix, index, operation }: ParameterExpansionPart, here: boolean): void {
    // What stands between the brackets, and where a slice begins, is evaluated; so is a name
    // that another variable holds.
    if (prefix === '!' || (index && !/^(?:[@*]|\d+)$/.test(index.text))) this.#changes(here)
    if (index) this.#word(index, here)
    switch (operation?.type) {
      case 'Default':
        if (operation.operator.endsWith('=')) this.#changes(here)
        return this.#word(operation.operand, here)
      case 'Slice':
        if (![operation.offset, operation.length].every((one) => !one || NUMBER.test(one.text.trim())))
          this.#changes(here)
        return
      case 'Replace':
        this.#word(operation.pattern, here)
        return this.#word(operation.replacement, here)
      case 'Remove':
        return this.#word(operation.operand, here)
      case 'Unknown':
        return this.#changes(here)
      default:
    }
  }

  /** Arithmetic assigns, also through the text of a variable that it names. */
  #arithmetic(expression: ArithmeticExpression | undefined, here: boolean): void {
    if (!expression || !isNumbers(expression)) this.#changes(here)
    const isExpanded = expression?.type === 'ArithmeticWord' && expression.parts
    if (isExpanded || expression?.type === 'ArithmeticCommandExpansion') this.builtinsOnly = false
  }

  #test(expression: TestExpression, here: boolean): void {
    switch (expression.type) {
      case 'TestUnary':
        if (/^-[vR]$/.test(expression.operator)) this.#changes(here)
        return this.#word(expression.operand, here)
      case 'TestBinary': {
        const { operator, left, right } = expression
        const isNumeric = /^-(?:eq|ne|lt|le|gt|ge)$/.test(operator)
        // `=~` sets BASH_REMATCH; numbers are evaluated.
        if (operator === '=~' || (isNumeric && ![left, right].every(({ text }) => NUMBER.test(text))))
          this.#changes(here)
        this.#word(left, here)
        return this.#word(right, here)
      }
      case 'TestLogical':
        for (const one of expression.operands) this.#test(one, here)
        return
      case 'TestNot':
        return this.#test(expression.operand, here)
      case 'TestGroup':
        return this.#test(expression.expression, here)
    }
  }
}

/** Nothing is assigned, and each word is such a value. */
export function isNumbers(
  expression: ArithmeticExpression,
  isValue: (text: string) => boolean = (text) => NUMBER.test(text),
): boolean {
  const all = (...parts: readonly ArithmeticExpression[]): boolean => parts.every((part) => isNumbers(part, isValue))
  switch (expression.type) {
    case 'ArithmeticBinary':
      return !/^(?:[^=!<>]?|<<|>>|\*\*)=$/.test(expression.operator) && all(expression.left, expression.right)
    case 'ArithmeticUnary':
      return !/^(?:\+\+|--)$/.test(expression.operator) && all(expression.operand)
    case 'ArithmeticTernary':
      return all(expression.test, expression.consequent, expression.alternate)
    case 'ArithmeticGroup':
      return all(expression.expression)
    case 'ArithmeticWord':
      return !expression.parts && isValue(expression.value)
    default:
      return false
  }
}

function isNoOption(argument: Command['args'][number]): boolean {
  return argument.type === 'Word' && (constantOf(argument) !== null || !/^["']?\$|^["']?`/.test(argument.text))
}

/** What a word is, where it is what it looks like; null where something in it is expanded. */
export function constantOf({ value, text, parts }: Word): string | null {
  if (!parts) return /[~*?[{]/.test(text) && text !== '[' && text !== '{' ? null : value
  let whole = ''
  for (const part of parts) {
    // Bash expands a tilde also in front of quotes.
    if (part.type === 'Literal' && /(?:^|[=:])~/.test(part.text)) return null
    if (part.type === 'AnsiCQuoted' && !isConstant(part.value)) return null
    if (part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted') whole += part.value
    else if (part.type === 'DoubleQuoted' && part.parts.every((inner) => inner.type === 'Literal'))
      whole += part.parts.map((inner) => (inner.type === 'Literal' ? inner.value : '')).join('')
    else return null
  }
  return whole
}
