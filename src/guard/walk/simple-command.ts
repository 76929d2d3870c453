/** A simple command: its words folded to argvs, its assignments set where they hold, its redirections followed. */
import type { Command } from 'unbash'
import { assign, assignmentWord } from '../words/assignments.js'
import { judgeVariable } from '../programs/builtins.js'
import type { ShellState } from '../words/state.js'
import { type Alternatives, NOTHING, unique } from '../words/text.js'
import type { Input, Walker } from './walk.js'
import { combine } from './ways.js'
import { expandFields } from '../words/fold.js'

export function walkSimple(node: Command, shell: ShellState, stdin: Input, walker: Walker): Alternatives {
  walker.budget.affordable(node.suffix.length + node.prefix.length)
  const words: string[][][] = []
  if (node.name) words.push(expandFields(node.name, shell, walker))
  const declared = node.args.flatMap((argument) => (argument.type === 'Assignment' ? [argument] : []))
  for (const argument of node.args)
    words.push(
      argument.type === 'Word' ? expandFields(argument, shell, walker) : assignmentWord(argument, shell, walker),
    )
  const assigned = node.prefix.flatMap((part) => (part.type === 'Assignment' ? [part] : []))
  const ways = combine(words)
  const target = assigned.length > 0 && ways.some((argv) => argv.length > 0) ? shell.fork() : shell
  for (const assignment of assigned) assign(assignment, target, shell, walker)
  const names = assigned.map((assignment) => assignment.name)
  if (target === shell && names.length > 0) for (const name of names) judgeVariable(name, shell.get(name).values, { walker, shell })
  const input = walker.streams.inputOf(node.redirects, shell, stdin)
  let out: Alternatives = NOTHING
  const extra = { declared, prefix: names.length > 0 ? { names, shell: target } : undefined, ways }
  for (const argv of callsOnce(ways, shell) ? ways.slice(0, 1) : ways) {
    const run = (): Alternatives => (argv.length === 0 ? NOTHING : walker.argv(argv, shell, input, extra))
    const printed = node.redirects.length > 0 ? walker.read(run) : run()
    out = unique([...out.filter((text) => text !== ''), ...printed])
  }
  if (out.length === 0) out = NOTHING
  return walker.streams.sendOutput(node.redirects, out, shell, ways[0] ?? [])
}

/** A function is walked once, with every value that its parameters may have: one walk for each would multiply with depth. */
function callsOnce(ways: readonly (readonly string[])[], shell: ShellState): boolean {
  const name = ways[0]?.[0]
  return name !== undefined && shell.functions.has(name) && ways.every((argv) => argv[0] === name)
}
