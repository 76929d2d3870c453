/** Lists, pipelines and coprocesses: commands side by side, and the text that goes from one to the next. */
import type { AndOr, Coproc, Pipeline } from 'unbash'
import { surelySucceeds } from '../rules/certainty.js'
import type { ShellState } from '../words/state.js'
import { type Alternatives, ANYTHING, concat, FAILED, NOTHING, unique } from '../words/text.js'
import { mayTell, suppose } from './suppose.js'
import type { Input, Walker } from './walk.js'

/** `a && b || c`: what follows `||` may or may not run. */
export function walkAndOr(node: AndOr, shell: ShellState, stdin: Input, walker: Walker): Alternatives {
  walker.budget.affordable(node.commands.length)
  let out: Alternatives = NOTHING
  const undo: (() => void)[] = []
  /** Only `&&` so far, or only `||`: all before held, or none did. */
  let alike = true
  for (const [i, command] of node.commands.entries()) {
    const operator = node.operators[i - 1]
    if (i === 0) out = walker.node(command, shell, stdin)
    else {
      const sure = operator === '&&' && node.commands.slice(0, i).every(surelySucceeds)
      const way = operator === '||' ? shell.fork() : shell
      alike &&= i === 1 || operator === node.operators[i - 2]
      if (alike)
        for (const before of node.commands.slice(operator === '&&' ? i - 1 : 0, i))
          if (mayTell(before)) undo.push(suppose(before, operator === '&&', way))
      const printed = walker.recursion.guarded(!sure, () => walker.node(command, way, stdin))
      if (walker.isRead)
        out =
          operator === '||'
            ? unique([...out, ...printed])
            : unique([...concat(out, printed), ...(i === 1 && maySayNothing(node) ? [FAILED] : [])])
      if (way !== shell && !walker.leaves(command, way)) shell.absorb(way)
    }
  }
  for (const one of undo) one()
  goOn(node, shell, walker)
  return out
}

/** Behind `a || exit` a held, behind `a && exit` it did not. */
function goOn({ commands, operators }: AndOr, shell: ShellState, walker: Walker): void {
  const last = commands[commands.length - 1]
  if (!last || !walker.leaves(last, shell)) return
  const held = operators[operators.length - 1] === '||'
  if (operators.slice(0, -1).every((operator) => operator === (held ? '&&' : '||')))
    for (const before of commands.slice(0, -1)) suppose(before, held, shell)
}

/** `cd DIR && pwd`: prints nothing where there is no such directory. */
function maySayNothing({ commands: [first, second, third] }: AndOr): boolean {
  const target = first?.type === 'Command' && first.name?.value === 'cd' ? first.args[first.args.length - 1] : undefined
  return (
    third === undefined &&
    target?.type === 'Word' &&
    target.parts !== undefined &&
    second?.type === 'Command' &&
    /^(?:pwd|echo)$/.test(second.name?.value ?? '')
  )
}

/** Each stage reads what the one before it prints. */
export function walkPipeline(node: Pipeline, shell: ShellState, stdin: Input, walker: Walker): Alternatives {
  walker.budget.affordable(node.commands.length)
  const [only, ...others] = node.commands
  if (only && others.length === 0) return walker.node(only, shell, stdin)
  let input = stdin
  for (const [i, command] of node.commands.entries()) {
    const last = i === node.commands.length - 1
    const here = last && shell.hasLastPipe ? shell : shell.fork()
    const stage = (): Alternatives => walker.recursion.inProcess(() => walker.node(command, here, input))
    input = !last ? walker.read(stage) : stage()
  }
  return input ?? ANYTHING
}

/** A coprocess reads what is written to its descriptor later. */
export function walkCoproc(node: Coproc, shell: ShellState, stdin: Input, walker: Walker): Alternatives {
  const [reads, writes] = [walker.streams.fresh(), walker.streams.fresh()]
  const run = (input: Input): void => {
    const body = (): Alternatives => walker.node(node.body, shell.fork(), input)
    const printed = walker.read(() => walker.recursion.inProcess(() => walker.budget.deeper(body)))
    shell.files.set(`/dev/fd/${reads}`, printed)
  }
  run(stdin)
  shell.set(node.name?.value ?? 'COPROC', [String(reads)], [String(reads), String(writes)])
  walker.streams.feeds(`/dev/fd/${writes}`, run)
  return NOTHING
}
