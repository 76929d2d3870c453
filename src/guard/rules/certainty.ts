/**
 * What a piece of syntax certainly does, whatever the variables hold: loops without end, conditions that always hold.
 */
import type { CommandNode, CompoundList, Pipeline, Statement } from 'unbash'

/** A command that does not fail, so that what follows `&&` runs for certain. */
export function surelySucceeds(node: CommandNode | Pipeline): boolean {
  return node.type === 'Command' && /^(true|:|sleep|echo|printf|cd|export)$/.test(node.name?.value ?? '')
}

/** A condition that always holds: the loop never ends by itself. */
export function isConstantlyTrue(list: CompoundList): boolean {
  const last = list.commands[list.commands.length - 1]?.command
  if (last?.type === 'Command') {
    const words = [last.name, ...last.args].map((word) => (word && 'text' in word ? word.text : ''))
    return /^(true|:|\[ 1 \]|\[ true \]|test 1|\[ 1 -eq 1 \]|\[ 1 = 1 \]|\/bin\/true|sleep [\d.]+)$/.test(
      words.join(' '),
    )
  }
  if (last?.type === 'ArithmeticCommand') return /^\s*[1-9]\d*\s*$/.test(last.body)
  return (
    last?.type === 'TestCommand' &&
    last.expression.type === 'TestUnary' &&
    last.expression.operator === '-n' &&
    last.expression.operand.parts === undefined
  )
}

export function isConstantlyFalse(list: CompoundList): boolean {
  const last = list.commands[list.commands.length - 1]?.command
  return last?.type === 'Command' && /^(false|\/bin\/false)$/.test(last.name?.text ?? '')
}

/** A loop body that only starts things in the background: nothing in it ever waits. */
export function isSpawnOnly(list: CompoundList): boolean {
  return (
    list.commands.length > 0 &&
    list.commands.some((statement) => !isNoop(statement)) &&
    list.commands.every((statement) => {
      if (statement.background || isNoop(statement)) return true
      const { command } = statement
      return (command.type === 'Subshell' || command.type === 'BraceGroup') && isSpawnOnly(command.body)
    })
  )
}

function isNoop(statement: Statement): boolean {
  return statement.command.type === 'Command' && /^(:|true|disown)$/.test(statement.command.name?.value ?? '')
}
