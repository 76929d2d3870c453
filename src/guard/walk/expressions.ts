/** Text that the shell reads once more when it calculates or shows a prompt: what stands in it is expanded, and may run. */
import { parseLoosely } from '../words/syntax.js'
import type { ShellState } from '../words/state.js'
import { type Alternatives, UNKNOWN } from '../words/text.js'
import type { Walker } from './walk.js'

/** Numbers, names and operators: nothing in it is run. */
const PLAIN_EXPRESSION = /^[\w\s+*/%<>=!&|^~?:,().-]*$/

export function walkExpressions(values: Alternatives, shell: ShellState, walker: Walker, hops = 4): void {
  for (const text of values) {
    // An element of an array: which one is not told apart.
    const array = /^([A-Za-z_]\w*)\[/.exec(text)?.[1]
    if (array !== undefined && hops > 0) walkExpressions(shell.get(array).items ?? [], shell, walker, hops - 1)
    // The name of a variable: its value is read once more.
    if (/^[A-Za-z_]\w*$/.test(text)) {
      if (hops > 0) walkExpressions(shell.get(text).values, shell, walker, hops - 1)
    } else if (!PLAIN_EXPRESSION.test(text) && text !== UNKNOWN) walkPrompt(text, shell, walker)
  }
}

export function walkPrompt(text: string, shell: ShellState, walker: Walker): Alternatives {
  walker.code(text)
  if (!/[$`]/.test(text)) return [text]
  return walker.budget.deeper(() => {
    const script = parseLoosely(`builtin printf %s "${text.replace(/["]/g, '\\"')}"`)
    return walker.read(() => walker.statements(script.commands, shell.fork(), null))
  })
}
