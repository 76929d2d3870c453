/** What a first look makes of the words of a command: what they are, and whether anything happens when they are read. */
import type {
  ArithmeticExpression,
  Assignment,
  HereDoc,
  ParameterExpansionPart,
  Statement,
  TestExpression,
  Word,
} from 'unbash'
import type { Input } from './first-effects.js'
import type { GuardContext } from './policy/context.js'
import { isRun } from './programs/shell/builtins.js'
import { constantOf, isNumbers } from './walk/shell-reader.js'
import { STAR, UNKNOWN } from './words/text.js'

/** Variables that decide what words mean, or what programs do. */
const MATTERS =
  /^(?:BASH|LD_|GIT_|_|PATH$|HOME$|IFS$|PWD$|OLDPWD$|CDPATH$|USER$|MAN|PROMPT|LESS|SUDO_|SSH_|RSYNC_|MAKE|GLOB|HIST|MAIL|TMOUT$|OPTIND$|S?RANDOM$)/

const LIST = /^([\w./-]*)\{([\w.-]+(?:,[\w.-]+)+)\}([\w./-]*)$/
const RANGE = /^\{(0|[1-9]\d?)\.\.([1-9]\d?)\}$/
const NUMBER = /^-?\d+$/

type Part = NonNullable<Word['parts']>[number]

export class FirstWords {
  /** What the variables of loops are in this round. */
  readonly rounds = new Map<string, string>()
  /** Variables of loops that have had more than one value. */
  readonly several = new Set<string>()
  /** Variables that were given another number in a loop. */
  readonly counted = new Set<string>()

  constructor(
    private readonly context: GuardContext,
    /** What the command has set so far. */
    private readonly variables: Readonly<Record<string, string | null>>,
    /** What the commands of a substitution print; null where they do not pass. */
    private readonly printedBy: (commands: readonly Statement[]) => Input | null,
  ) {}

  /** No variable has had more than one value. */
  get areSingle(): boolean {
    return this.several.size + this.counted.size === 0
  }

  /** The words that it becomes; undefined where more than a look is needed. */
  all(word: Word): readonly (string | null)[] | undefined {
    const one = this.one(word)
    if (one !== undefined) return [one]
    const [, before = '', items = '', after = ''] = LIST.exec(word.text) ?? []
    if (items !== '') return items.split(',').map((item) => before + item + after)
    const [from = 0, to = 0] = RANGE.exec(word.text)?.slice(1).map(Number) ?? []
    return from < to ? Array.from({ length: to - from + 1 }, (_, at) => String(from + at)) : undefined
  }

  /** The word; null where it is known only when the command runs; undefined where more than a look is needed. */
  one(word: Word): string | null | undefined {
    const constant = constantOf(word)
    if (constant !== null) return constant
    const { parts, text, value } = word
    const round = this.rounds.get(/^"?\$(?:(\w+)|\{(\w+)\})"?$/.exec(text)?.slice(1).join('') ?? '')
    if (round !== undefined) return round
    // Bash expands a tilde in front only.
    if (!parts) return text === '{}' || (text.includes('~') && !/^~|[=:]~|[*?[{]/.test(text)) ? value : undefined
    // Names that a pattern stands for are below the directory in which it is looked for.
    if (
      parts.every((part) => (part.type === 'Literal' ? !/[~{\\]/.test(part.text) : part.type === 'Glob' && !part.parts))
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
        return this.#isParameter(part)
      case 'ArithmeticExpansion':
        return this.#isCalculated(part.expression)
      case 'DoubleQuoted':
        return part.parts.every((one) => this.#isSimple(one))
      case 'CommandExpansion': {
        const { script, text } = part
        return text.startsWith('$(') && !!script && !script.errors?.length && this.printedBy(script.commands) !== null
      }
      default:
        return false
    }
  }

  /** Nothing in it can become several words, or an option. */
  isOneField(argument: Word | Assignment): boolean {
    const { parts = [] } = argument.type === 'Word' ? argument : {}
    return parts.every((part) => {
      if (part.type !== 'SimpleExpansion' && part.type !== 'ParameterExpansion') return part.type !== 'CommandExpansion'
      const name = /^\$\{?(\w+|[?#])\}?$/.exec(part.text)?.[1] ?? ''
      return /^[?#]$/.test(name) || this.rounds.has(name) || this.isNumeric(name)
    })
  }

  /** Its one value is known, and a number; bash itself gives it no other one. */
  isNumeric(name: string): boolean {
    const { variables = {}, held } = this.context
    const value = this.rounds.get(name) ?? (name in this.variables ? this.variables[name] : variables[name])
    const isSingle = this.rounds.has(name) || !this.several.has(name)
    return isSingle && !MATTERS.test(name) && NUMBER.test(value ?? '') && !Object.hasOwn(held?.arrays ?? {}, name)
  }

  /** Nothing is assigned, and no name is made of a value. */
  #isParameter({ prefix, index, operation, parameter }: ParameterExpansionPart): boolean {
    if (prefix === '!' || index || !/^[A-Za-z_]\w*$/.test(parameter)) return false
    switch (operation?.type) {
      case undefined:
        return true
      case 'Default':
        return !/[=?]$/.test(operation.operator) && this.one(operation.operand) !== undefined
      case 'Remove':
        return this.one(operation.operand) !== undefined
      default:
        return false
    }
  }

  /** Numbers, and variables that hold no expression. */
  #isCalculated(expression: ArithmeticExpression | undefined): boolean {
    const isValue = (text: string): boolean => NUMBER.test(text) || this.isNumeric(text)
    return expression !== undefined && isNumbers(expression, isValue)
  }

  /** `[[ ]]` that neither calculates nor keeps what it has matched. */
  areTested(expression: TestExpression): boolean {
    switch (expression.type) {
      case 'TestUnary':
        return !/^-[vR]$/.test(expression.operator) && this.one(expression.operand) !== undefined
      case 'TestBinary': {
        const sides = [expression.left, expression.right].map((side) => this.one(side))
        const isNumeric = /^-(?:eq|ne|lt|le|gt|ge)$/.test(expression.operator)
        return (
          expression.operator !== '=~' &&
          sides.every((side) => side !== undefined && (!isNumeric || NUMBER.test(side ?? '')))
        )
      }
      case 'TestLogical':
        return expression.operands.every((one) => this.areTested(one))
      case 'TestNot':
        return this.areTested(expression.operand)
      default:
        return this.areTested(expression.expression)
    }
  }

  /** The text of a here-document; null where more than a look is needed. */
  documentOf({ body: { parts, text }, delimiter, operator, descriptor }: HereDoc): string | null {
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

  /** A name that nothing else acts upon: neither an array, nor an integer, which is given what is calculated. */
  maySet(name: string): boolean {
    const { arrays = {}, integers = [] } = this.context.held ?? {}
    return (
      !MATTERS.test(name) &&
      !isRun(name) &&
      !Object.hasOwn(arrays, name) &&
      !integers.includes(name) &&
      !this.rounds.has(name)
    )
  }

  /** A constant value for a name that nothing else acts upon; or what a program prints, which is not known. */
  isPlain({ name, value, index, append }: Assignment, mayBePrinted = false): boolean {
    if (index || append || value.type !== 'Word' || MATTERS.test(name) || isRun(name)) return false
    if (this.context.held?.integers?.includes(name)) return false
    return constantOf(value) !== null || (mayBePrinted && this.#isPrinted(value.parts ?? []))
  }

  isNumber({ value, index, append }: Assignment): boolean {
    if (index || append || value.type !== 'Word') return false
    const [only, ...others] = value.parts ?? []
    return only?.type === 'ArithmeticExpansion' && others.length === 0 && this.#isCalculated(only.expression)
  }

  /** What a program prints, which is not known. */
  #isPrinted([outer, ...others]: readonly Part[]): boolean {
    const [only, ...more] = outer?.type === 'DoubleQuoted' ? outer.parts : outer ? [outer] : []
    if (only?.type !== 'CommandExpansion' || others.length > 0 || more.length > 0 || !this.#isSimple(only)) return false
    const [statement, ...rest] = only.script?.commands ?? []
    return statement?.command.type === 'Command' && rest.length === 0 && this.printedBy([statement]) === 'unknown'
  }
}
