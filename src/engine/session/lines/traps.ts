/** The traps of a session's own: the stop signal ends a running command, EXIT writes the state down. */
import { quoteWord } from '../../../contract/quote.js'
import { dumpLeaving } from './dump-text.js'
import { fileOf, HUSHED, own, STOP_NAME, type Marks } from './marks.js'

/** Not /dev/null, so that the stderr of the stop handler can be told from one that a command has pointed there. */
export const NOWHERE = '/dev/zero'

/**
 * The stop signal is acted upon between two commands, so the engine can end the running one
 * without the next one of the list being started: the handler interrupts the shell itself.
 */
export function installStop(marks: Marks): string {
  const saved = own(marks, 'e')
  // Bash says a newline when it is interrupted. Where stderr was pointed elsewhere for a part
  // of the command, bash undoes this itself.
  // Only `exec` can do it: where the agent has a function of that name, the newline is taken out of the output instead.
  const hush =
    `{ \\builtin declare -F exec; } >/dev/null 2>&1 || \\exec {${saved}}>&2 2>${NOWHERE}; \\builtin trap -p INT ` +
    `>|${quoteWord(fileOf.interrupt(marks))}`
  // bash 4.4 takes `trap - INT` in a sourced file for that of a script, and ends by the interrupt: only where it is
  // needed.
  const unset = `{ [[ \${${saved}-} && ! -s ${quoteWord(fileOf.interrupt(marks))} ]]; } ${HUSHED} || \\builtin trap - INT`
  // Only within a file that is sourced: a bash that is interrupted by its own handler while it
  // reads a line from a pipe crashes.
  const stop =
    `{ [[ -z \${BASH_SOURCE-} ]]; } ${HUSHED} || { { [[ \${${saved}-} || $- == *r* ]]; } ${HUSHED} || { ${hush}; ` +
    `}; ${unset}; \\builtin kill -INT $$; }`
  return `\\builtin trap -- ${quoteWord(stop)} ${STOP_NAME}`
}

/**
 * The same without a reserved word, where an alias stands in the place of one: the handler is
 * read in the middle of the command.
 */
export function installBareStop(marks: Marks): string {
  const saved = own(marks, 'e')
  const file = quoteWord(fileOf.interrupt(marks))
  const hush =
    `\\builtin declare -F exec >/dev/null 2>&1 || \\exec {${saved}}>&2 2>${NOWHERE}; \\builtin trap -p INT ` +
    `>|${file}; \\builtin [ ! -s ${file} ] || \\builtin trap - INT`
  const stop = `\\builtin [ "\${${saved}-}" ] || \\builtin eval ${quoteWord(hush)}; \\builtin kill -INT $$`
  return (
    `\\builtin trap -- ${quoteWord(`\\builtin [ -z "\${BASH_SOURCE-}" ] || \\builtin eval ${quoteWord(stop)}`)} ` +
    `${STOP_NAME}`
  )
}

/** Writes the state down while the shell still has it. Typed only: no file holds its farewell. */
export function installExit(marks: Marks, userExit: string | null): string {
  return `\\builtin trap -- ${quoteWord(`${dumpLeaving(marks)}${userExit === null ? '' : `\n${userExit}`}`)} EXIT`
}

/**
 * Writes the agent's traps down, and takes those away that would see lines of the session. A stop may come between any
 * two of these commands, so the one that takes them away also says that they are noted: to the next line by a variable,
 * to the engine by a file, whose name tells which traps the command had been given by then.
 */
export function noteTraps(marks: Marks): string {
  const given = `"\${${own(marks, 'gr')}-}\${${own(marks, 'gd')}-}"`
  const take = `\\builtin trap - DEBUG "\${${own(marks, 'x')}:=RETURN}" >|${quoteWord(fileOf.noted(marks))}${given}`
  return `\\builtin trap -p >|${quoteWord(fileOf.traps(marks))}; ${take}; ${installStop(marks)}`
}

/**
 * Gives the command a trap, and says so in the same command: in an array, which `set -a` hands to no program. Bash
 * forgets to ignore a RETURN that was ignored and reset before, unless there was another trap in between.
 */
export function giveTrap(command: string, signal: 'RETURN' | 'DEBUG', marks: Marks): string {
  const given = own(marks, signal === 'RETURN' ? 'gr' : 'gd')
  const set = `\\builtin trap -- ${quoteWord(command)} "\${${given}[0]:=${signal}}"`
  return command === '' ? `\\builtin trap : ${signal}; ${set}` : set
}
