/** Conditions and loops: every way a compound command may go is walked, and what the ways leave behind is joined. */
import type { ArithmeticFor, Case, CompoundList, For, If, Select, TestExpression, While } from 'unbash'
import { isConstantlyFalse, isConstantlyTrue, isSpawnOnly } from '../rules/certainty.js'
import { mayHoldCode } from '../words/folding.js'
import type { ShellState } from '../words/state.js'
import { type Alternatives, ANYTHING, hasUnknown, NOTHING, UNKNOWN, unique } from '../words/text.js'
import { suppose } from './suppose.js'
import type { Input, Walker } from './walk.js'
import { expandFields, expandSingle, visitArithmetic } from '../words/fold.js'

export function walkIf(node: If, shell: ShellState, stdin: Input, walker: Walker): Alternatives {
  walker.list(node.clause, shell, stdin)
  const sure = isConstantlyTrue(node.clause)
  const otherwise = shell.fork()
  suppose(node.clause, true, shell)
  suppose(node.clause, false, otherwise)
  let out = walker.recursion.guarded(!sure, () => walker.list(node.then, shell, stdin))
  const ways: Way[] = []
  for (const branch of node.elif) {
    walker.list(branch.clause, otherwise, stdin)
    const way = otherwise.fork()
    suppose(branch.clause, true, way)
    suppose(branch.clause, false, otherwise)
    out = unique([...out, ...walker.recursion.guarded(true, () => walker.list(branch.then, way, stdin))])
    ways.push({ body: branch.then, way })
  }
  const { else: last } = node
  if (last) out = unique([...out, ...walker.recursion.guarded(true, () => walker.list(last, otherwise, stdin))])
  ways.push({ body: last, way: otherwise })
  join(shell, !walker.leaves(node.then, shell), ways, walker)
  return out
}

interface Way {
  readonly body: CompoundList | undefined
  readonly way: ShellState
}

/** What the ways leave behind, but for those that end in `exit` or the like: behind them nothing runs. */
function join(shell: ShellState, goesOn: boolean, ways: readonly Way[], walker: Walker): void {
  let joined = goesOn
  for (const { body, way } of ways) {
    if (body && walker.leaves(body, way)) continue
    if (joined) shell.absorb(way)
    else shell.become(way)
    joined = true
  }
}

export function walkWhile(node: While, shell: ShellState, stdin: Input, walker: Walker): Alternatives {
  const endless = node.kind === 'while' ? isConstantlyTrue(node.clause) : isConstantlyFalse(node.clause)
  if (endless && isSpawnOnly(node.body)) walker.report('fork-bomb', ['while', 'true', '&'])
  walker.list(node.clause, shell, stdin)
  const body = shell.fork()
  suppose(node.clause, node.kind === 'while', body)
  const before = body.changes
  const out = walker.recursion.guarded(!endless, () => rounds(node.body, body, stdin, walker))
  // The condition is asked again of what a round has left behind.
  if (walker.loops === 0 && !walker.budget.isLong && body.changes !== before) walker.list(node.clause, body, stdin)
  shell.absorb(body)
  return out
}

export function walkFor(node: For | Select, shell: ShellState, stdin: Input, walker: Walker): Alternatives {
  const words = node.wordlist
  const fields = words
    ? words.flatMap((word) => expandFields(word, shell, walker).flat())
    : shell.positionalWays?.flat()
  shell.set(node.name.value, fields && fields.length > 0 ? unique(fields) : fields ? NOTHING : ANYTHING)
  if (shell.integers.has(node.name.value)) walker.calculated(fields ?? [], shell)
  if (node.type === 'Select') shell.set('REPLY', stdin ?? ANYTHING)
  const body = shell.fork()
  const out = rounds(node.body, body, stdin, walker)
  shell.absorb(body)
  return fields && fields.length === 1 ? out : severalTimes(out)
}

export function walkArithmeticFor(node: ArithmeticFor, shell: ShellState, stdin: Input, walker: Walker): Alternatives {
  for (const part of [node.initialize, node.test, node.update]) visitArithmetic(part, shell, walker)
  if (!node.test && isSpawnOnly(node.body)) walker.report('fork-bomb', ['for', '((;;))', '&'])
  walker.list(node.body, shell, stdin)
  return ANYTHING
}

export function walkCase(node: Case, shell: ShellState, stdin: Input, walker: Walker): Alternatives {
  expandSingle(node.word, shell, walker)
  let out: Alternatives = NOTHING
  const ways: Way[] = []
  for (const item of node.items) {
    for (const pattern of item.pattern) expandSingle(pattern, shell, walker)
    const way = shell.fork()
    out = unique([...out, ...walker.recursion.guarded(true, () => walker.list(item.body, way, stdin))])
    ways.push({ body: item.body, way })
  }
  const catchesAll = node.items.some((item) => item.pattern.some(({ text }) => text === '*'))
  join(shell, !catchesAll, ways, walker)
  return out
}

/**
 * A loop's body: once more when the first round changed what the words of the second mean.
 * Inner loops go with the outermost.
 */
function rounds(body: CompoundList, shell: ShellState, stdin: Input, walker: Walker): Alternatives {
  const before = shell.changes
  walker.loops++
  try {
    const out = walker.list(body, shell, stdin)
    if (walker.loops > 1 || walker.budget.isLong || shell.changes === before) return out
    return unique([...out, ...walker.list(body, shell, stdin)])
  } finally {
    walker.loops--
  }
}

/** Several rounds of a loop print several times; two are enough to see what joins up. */
function severalTimes(out: Alternatives): Alternatives {
  return out.every((text) => text === '')
    ? NOTHING
    : out.length === 1 && !hasUnknown(out[0] ?? '')
      ? [`${out[0]}`, `${out[0]}${out[0]}`]
      : unique([...out, UNKNOWN])
}

export function walkTest(expression: TestExpression, shell: ShellState, walker: Walker): void {
  walker.step()
  switch (expression.type) {
    case 'TestUnary':
      if (expression.operator === '-v')
        walker.calculated(expandSingle(expression.operand, shell, walker).filter(mayHoldCode), shell)
      else expandSingle(expression.operand, shell, walker)
      return
    case 'TestBinary': {
      const left = expandSingle(expression.left, shell, walker)
      const right = expandSingle(expression.right, shell, walker)
      if (/^-(?:eq|ne|lt|le|gt|ge)$/.test(expression.operator))
        for (const values of [left, right]) walker.calculated(values, shell)
      // What a group matches is a part of the text, and may be all of it.
      if (expression.operator === '=~')
        shell.set(
          'BASH_REMATCH',
          left,
          Array.from({ length: 10 }, () => left[0] ?? UNKNOWN),
        )
      return
    }
    case 'TestLogical':
      for (const operand of expression.operands) walkTest(operand, shell, walker)
      return
    case 'TestNot':
      walkTest(expression.operand, shell, walker)
      return
    default:
      walkTest(expression.expression, shell, walker)
  }
}
