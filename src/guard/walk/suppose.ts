/** What a condition says about variables where it held: `[ -n "$x" ] && ...` runs only where x is not empty. */
import type { Command, TestExpression, Word } from 'unbash'
import { surelySucceeds } from '../rules/certainty.js'
import type { FunctionBody, ShellState } from '../words/state.js'
import type { Node } from '../words/syntax.js'

/** Whether the node is a condition that could say something about a variable. */
export function mayTell(node: Node): boolean {
  return node.type === 'Command' ? TEST.test(node.name?.value ?? '') : node.type !== 'Redirected'
}

const TEST = /^(?:\[|test)$/

/** Goes on in the state as if the condition held (or did not); the answer takes the supposition back. */
export function suppose(condition: Node, holds: boolean, shell: ShellState): () => void {
  const undo = exclusions(condition, holds, shell).map(({ name, text }) => shell.supposeNot(name, text))
  return () => {
    for (const one of undo) one()
  }
}

/** What a variable cannot be: mostly empty. */
interface Exclusion {
  readonly name: string
  readonly text: string
}

/** What variables cannot be where the condition held (or did not). */
function exclusions(node: Node, holds: boolean, shell: ShellState): Exclusion[] {
  switch (node.type) {
    case 'CompoundList': {
      const last = node.commands[node.commands.length - 1]
      return last && !last.background ? exclusions(last.command, holds, shell) : []
    }
    case 'Pipeline': {
      const [only, ...others] = node.commands
      const negations = node.prefixes.filter((prefix) => prefix.type === 'Negation').length
      return only && others.length === 0 ? exclusions(only, holds === (negations % 2 === 0), shell) : []
    }
    case 'AndOr':
      // All of `a && b` held; none of `a || b` did.
      return node.operators.every((operator) => operator === (holds ? '&&' : '||'))
        ? node.commands.flatMap((command) => exclusions(command, holds, shell))
        : []
    case 'TestCommand':
      return byExpression(node.expression, holds)
    case 'Command':
      return byTest(node, holds, shell)
    default:
      return []
  }
}

function byExpression(test: TestExpression, holds: boolean): Exclusion[] {
  switch (test.type) {
    case 'TestUnary':
      return byUnary(test.operator, variableIn(test.operand), holds)
    case 'TestBinary':
      return byBinary(test.operator, test.left, test.right, holds, variableIn)
    case 'TestLogical':
      return test.operator === (holds ? '&&' : '||') ? test.operands.flatMap((one) => byExpression(one, holds)) : []
    case 'TestNot':
      return byExpression(test.operand, holds === (test.negations.length % 2 === 0))
    default:
      return byExpression(test.expression, holds)
  }
}

/** `[ ... ]`: without quotes an empty value is no word at all, and `[ -n $x ]` holds. */
function byTest({ name, args }: Command, holds: boolean, shell: ShellState): Exclusion[] {
  const program = name?.value ?? ''
  if (!TEST.test(program) || shell.functions.has(program) || shell.aliases.has(program)) return []
  const words = args.flatMap((word) => (word.type === 'Word' ? [word] : []))
  if (program === '[') words.pop()
  const inner = words.map((word) => (word.parts ? '' : word.value))
  const at = inner.indexOf('-a')
  if (inner.some((word) => /^(?:-o|\(|\))$/.test(word)) || (at >= 0 && !holds)) return []
  const clauses = at < 0 ? [words] : [words.slice(0, at), words.slice(at + 1)]
  return clauses.flatMap((clause) => {
    const not = clause[0]?.value === '!' && clause.length > 1
    const [first, second, third] = not ? clause.slice(1) : clause
    const truth = holds !== not
    if (first && !second) return byUnary('-n', quotedVariableIn(first), truth)
    if (first && second && !third) return byUnary(first.value, quotedVariableIn(second), truth)
    return first && second && third ? byBinary(second.value, first, third, truth, quotedVariableIn) : []
  })
}

function byUnary(operator: string, name: string | undefined, holds: boolean): Exclusion[] {
  return name !== undefined && (operator === '-z' ? !holds : holds && /^-[nabcdefghkprstuwxGLNOS]$/.test(operator))
    ? [{ name, text: '' }]
    : []
}

function byBinary(
  operator: string,
  left: Word,
  right: Word,
  holds: boolean,
  variable: (word: Word) => string | undefined,
): Exclusion[] {
  if (!/^(?:==?|!=)$/.test(operator) || (operator === '!=') !== holds) return []
  const text = constantIn(right) ?? constantIn(left)
  const name = constantIn(right) === undefined ? variable(right) : variable(left)
  return name === undefined || text === undefined ? [] : [{ name, text }]
}

function constantIn({ text, value }: Word): string | undefined {
  return /^(?:'[^']*'|"[\w./-]*"|[\w./-]+)$/.test(text) ? value : undefined
}

/** The variable that is the whole word: `$x`, `"${x}"`, `"${x:-}"`. */
function variableIn({ text }: Word): string | undefined {
  return /^("?)\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::?-)?\})\1$/.exec(text)?.slice(2).find(Boolean)
}

function quotedVariableIn(word: Word): string | undefined {
  return word.text.startsWith('"') ? variableIn(word) : undefined
}

/** Where a node stands: what `return` and `break` mean there, and what is known of functions already. */
export interface Surroundings {
  readonly loop: boolean
  readonly function: boolean
  readonly known: Map<FunctionBody, boolean>
}

/** Whether nothing that stands behind it runs any more in the same shell. */
export function leaves(node: Node, shell: ShellState, within: Surroundings): boolean {
  const inner = (one: Node): boolean => leaves(one, shell, within)
  switch (node.type) {
    case 'CompoundList':
      return node.commands.some((statement) => !statement.background && inner(statement.command))
    case 'BraceGroup':
      return inner(node.body)
    case 'Redirected':
      return inner(node.command)
    case 'Pipeline':
      return node.commands.length === 1 && node.commands.every(inner)
    case 'AndOr': {
      const at = node.commands.findIndex(inner)
      return (
        at >= 0 &&
        node.operators.slice(0, at).every((operator) => operator === '&&') &&
        node.commands.slice(0, at).every(surelySucceeds)
      )
    }
    case 'Command': {
      const name = node.name?.value ?? ''
      const called = shell.functions.get(name)
      if (called) return functionLeaves(called, shell, within.known)
      if (shell.aliases.has(name)) return false
      return (
        name === 'exit' ||
        (name === 'exec' && node.args.length > 0) ||
        (name === 'return' && within.function) ||
        (/^(?:break|continue)$/.test(name) && within.loop)
      )
    }
    default:
      return false
  }
}

function functionLeaves(called: FunctionBody, shell: ShellState, known: Map<FunctionBody, boolean>): boolean {
  let found = known.get(called)
  if (found === undefined) {
    // One that calls itself is not followed any further.
    known.set(called, false)
    found = leaves(called.body, shell, { loop: false, function: false, known })
    known.set(called, found)
  }
  return found
}
