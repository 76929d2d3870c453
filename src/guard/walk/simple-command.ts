/** A simple command: its words folded to argvs, its assignments set where they hold, its redirections followed. */
import { blameUnset } from './effects.js'
import type { Command, WordPart } from 'unbash'
import { assign, assignmentWord } from '../words/assignments.js'
import { judgeVariable } from '../programs/shell/builtins.js'
import { isKnownProgram } from '../programs/dispatch.js'
import { Call } from '../programs/row/call.js'
import type { ShellState } from '../words/state.js'
import { type Alternatives, hasUnknown, NOTHING, unique } from '../words/text.js'
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
  const isRead = node.redirects.length > 0 || walker.isRead
  const ways = combine(words, waysWorthWalking(words[0], declared.length === node.args.length, isRead, walker, shell))
  const target = assigned.length > 0 && ways.some((argv) => argv.length > 0) ? shell.fork() : shell
  for (const assignment of assigned) assign(assignment, target, shell, walker)
  const names = assigned.map((assignment) => assignment.name)
  if (target === shell && names.length > 0)
    for (const name of names) judgeVariable(name, shell.get(name).values, new Call([], shell, null, walker))
  const input = node.redirects.length > 0 ? walker.streams.inputOf(node.redirects, shell, stdin) : stdin
  if (input !== stdin && ways.some((argv) => argv.length === 1 && argv[0] === 'exec'))
    shell.moved = { from: shell.moved?.to === stdin ? shell.moved.from : stdin, to: input }
  const extra = { declared, prefix: names.length > 0 ? { names, shell: target } : undefined, ways }
  const found = walker.findings.length
  const run = (): Alternatives => {
    let out: Alternatives = NOTHING
    for (const [at, argv] of (callsOnce(ways, shell) ? ways.slice(0, 1) : ways).entries()) {
      if (argv.length === 0) continue
      const before = walker.findings.length
      walker.guesses = at > 0 && argv.length <= (ways[0]?.length ?? 0) && (ways[0]?.some(hasUnknown) ?? false)
      const printed = walker.argv(argv, shell, input, extra)
      walker.guesses = false
      // The first way holds what is not known, the others what may be empty.
      if (at > 0 && before === found && walker.findings.length > before)
        blameUnset(before, unsetNames(node, shell), walker)
      if (isRead) out = ways.length === 1 ? printed : unique([...out.filter((text) => text !== ''), ...printed])
    }
    const last = ways[0]?.at(-1)
    if (last !== undefined) shell.lastWord = last
    return out.length === 0 ? NOTHING : out
  }
  if (node.redirects.length === 0) return run()
  return walker.streams.sendOutput(node.redirects, walker.read(run), shell, ways[0] ?? [])
}

/** Variables in the words of a command that nothing has set here. */
function unsetNames(node: Command, shell: ShellState): string[] {
  const names = new Set<string>()
  const visit = (part: WordPart): void => {
    if (part.type === 'DoubleQuoted' || part.type === 'LocaleString') part.parts.forEach(visit)
    const name =
      part.type === 'SimpleExpansion'
        ? part.text.slice(1)
        : part.type === 'ParameterExpansion' && !part.operation
          ? part.parameter
          : ''
    if (/^[A-Za-z_]\w*$/.test(name) && shell.get(name).values.includes('')) names.add(name)
  }
  for (const word of [node.name, ...node.args]) if (word?.type === 'Word') word.parts?.forEach(visit)
  return [...names]
}

/** Programs that do nothing but print their words, or test them. */
const ONLY_WORDS = new Set(['echo', 'printf', '[', 'test', ':', 'true', 'false', 'return', 'exit', 'shift'])

/** How many combinations of uncertain words make a difference to the program that gets them. */
function waysWorthWalking(
  name: readonly string[][] | undefined,
  onlyAssigns: boolean,
  isRead: boolean,
  walker: Walker,
  shell: ShellState,
): number {
  const all = walker.budget.effort.alternatives
  const program = name?.length === 1 && name[0]?.length === 1 ? (name[0][0] ?? '') : undefined
  if (program === undefined || shell.functions.has(program) || shell.aliases.has(program)) return all
  if (onlyAssigns || (!isRead && ONLY_WORDS.has(program))) return 1
  return isKnownProgram(program) ? all : 2
}

/**
 * A function is walked once, with every value that its parameters may have: one walk for each
 * would multiply with depth.
 */
function callsOnce(ways: readonly (readonly string[])[], shell: ShellState): boolean {
  const name = ways[0]?.[0]
  return name !== undefined && shell.functions.has(name) && ways.every((argv) => argv[0] === name)
}
