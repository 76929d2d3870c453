/** Folds arithmetic to a number where it is constant; judges every substitution inside it in any case. */
import type { ArithmeticExpression } from 'unbash'
import type { Folding, Runner } from './folding.js'
import type { ShellState } from './state.js'
import { type Alternatives, ANYTHING, UNKNOWN } from './text.js'

export function arithmetic(
  expression: ArithmeticExpression | undefined,
  shell: ShellState,
  runner: Runner,
  folding: Folding,
): Alternatives {
  if (!expression) return ['0']
  const value = evaluate(expression, shell, runner, folding)
  return value === undefined ? ANYTHING : [String(value)]
}

/** Numbers, names and operators: nothing in it is run. */
const PLAIN_EXPRESSION = /^[\w\s+*/%<>=!&|^~?:,().-]*$/

/** Text that bash calculates: it is expanded once more, and a substitution in it runs. */
export function judgeExpressions(values: Alternatives, shell: ShellState, runner: Runner, hops = 4): void {
  for (const text of values) {
    // An element of an array: which one is not told apart.
    const array = /^([A-Za-z_]\w*)\[/.exec(text)?.[1]
    if (array !== undefined && hops > 0) judgeExpressions(shell.get(array).items ?? [], shell, runner, hops - 1)
    // The name of a variable: its value is read once more.
    if (/^[A-Za-z_]\w*$/.test(text)) {
      if (hops > 0) judgeExpressions(shell.get(text).values, shell, runner, hops - 1)
    } else if (!PLAIN_EXPRESSION.test(text) && text !== UNKNOWN) runner.prompt(text, shell)
  }
}

function evaluate(node: ArithmeticExpression, shell: ShellState, runner: Runner, folding: Folding): bigint | undefined {
  runner.step()
  switch (node.type) {
    case 'ArithmeticGroup':
      return evaluate(node.expression, shell, runner, folding)
    case 'ArithmeticWord': {
      let values: Alternatives | undefined
      for (const part of node.parts ?? []) values = folding.part(part, shell, runner)
      runner.calculated(values ?? [node.value], shell)
      return numberOf(
        node.parts && node.parts.length === 1 && values?.length === 1 ? (values[0] ?? '') : node.value,
        shell,
      )
    }
    case 'ArithmeticCommandExpansion': {
      const [only, ...others] = runner.output(node.script, shell)
      return others.length === 0 ? numberOf((only ?? '').trim(), shell) : undefined
    }
    case 'ArithmeticUnary': {
      const value = evaluate(node.operand, shell, runner, folding)
      if (value === undefined) return undefined
      if (node.operator === '-') return -value
      if (node.operator === '+') return value
      if (node.operator === '~') return ~value
      if (node.operator === '!') return value === 0n ? 1n : 0n
      return undefined
    }
    case 'ArithmeticTernary': {
      const test = evaluate(node.test, shell, runner, folding)
      const yes = evaluate(node.consequent, shell, runner, folding)
      const no = evaluate(node.alternate, shell, runner, folding)
      return test === undefined ? undefined : test === 0n ? no : yes
    }
    case 'ArithmeticBinary': {
      const left = evaluate(node.left, shell, runner, folding)
      const right = evaluate(node.right, shell, runner, folding)
      if (left === undefined || right === undefined) return undefined
      const result = OPERATORS[node.operator]?.(left, right)
      return typeof result === 'boolean' ? BigInt(result) : result
    }
    default:
      return node satisfies never
  }
}

const OPERATORS: Readonly<Record<string, (a: bigint, b: bigint) => bigint | boolean | undefined>> = {
  '+': (a, b) => BigInt.asIntN(64, a + b),
  '-': (a, b) => BigInt.asIntN(64, a - b),
  '*': (a, b) => BigInt.asIntN(64, a * b),
  '/': (a, b) => (b === 0n ? undefined : a / b),
  '%': (a, b) => (b === 0n ? undefined : a % b),
  '&': (a, b) => a & b,
  '|': (a, b) => a | b,
  '^': (a, b) => a ^ b,
  '<': (a, b) => a < b,
  '>': (a, b) => a > b,
  '<=': (a, b) => a <= b,
  '>=': (a, b) => a >= b,
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '&&': (a, b) => a !== 0n && b !== 0n,
  '||': (a, b) => a !== 0n || b !== 0n,
  ',': (_, b) => b,
}

function numberOf(text: string, shell: ShellState): bigint | undefined {
  const word = text.trim()
  if (/^0[0-7]{1,18}$/.test(word)) return BigInt(`0o${word.slice(1)}`)
  if (/^(\d{1,18}|0[xX][0-9a-fA-F]{1,15})$/.test(word)) return BigInt(word)
  if (/^-\d{1,18}$/.test(word)) return -BigInt(word.slice(1))
  if (/^[A-Za-z_]\w*$/.test(word)) {
    const { values } = shell.get(word)
    const only = values.length === 1 ? (values[0] ?? '') : undefined
    if (only !== undefined && /^-?\d{1,18}$/.test(only) && !/^-?0\d/.test(only)) return BigInt(only)
  }
  return undefined
}
