/**
 * Assignments: `name=value`, `name+=value`, `name=(...)`, `name[i]=value`, as statements and as
 * words of `export` and its like.
 */
import type { Assignment } from 'unbash'
import type { Runner } from './folding.js'
import type { ShellState } from './state.js'
import { concat, plain } from './text.js'
import { expandFields, expandSingle, expandText } from './fold.js'

/** Folds the value in one shell and sets it in another. */
export function assign(assignment: Assignment, into: ShellState, from: ShellState, runner: Runner): void {
  if (assignment.index) expandSingle(assignment.index, from, runner)
  const { name, value } = assignment
  if (value.type === 'ArrayValue') {
    const items = value.elements.flatMap((word) =>
      (expandFields(word, from, runner, 'element')[0] ?? []).map((item) => plain(item.replace(/^\[[^\]]*\]=/, ''))),
    )
    if (into.integers.has(name)) runner.calculated(items, from)
    const all = assignment.append ? [...(into.get(name).items ?? []), ...items] : items
    into.set(name, [all[0] ?? ''], all)
    return
  }
  const values = expandText(value, from, runner)
  if (into.integers.has(name)) runner.calculated(values, from)
  if (assignment.index) {
    into.setElement(name, assignment.index.value, values)
    // Bash's own arrays behind `alias` and `hash`.
    if (/^BASH_(?:ALIASES|CMDS)$/.test(name)) into.aliases.set(assignment.index.value, values[0] ?? '')
    return
  }
  into.set(name, assignment.append ? concat(into.get(name).values, values) : values)
}

/** The word that a builtin sees of an assignment among its arguments. */
export function assignmentWord(argument: Assignment, shell: ShellState, runner: Runner): string[][] {
  const operator = `${argument.name}${argument.append ? '+=' : '='}`
  if (argument.value.type === 'ArrayValue')
    return [[`${operator}(${argument.value.elements.map((word) => word.value).join(' ')})`]]
  return expandText(argument.value, shell, runner).map((value) => [operator + value])
}
