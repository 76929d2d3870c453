/** The file of a command that bash sources: what has to come before it, the command, and a note of its end. */
import { quoteWord } from '../../../contract/quote.js'
import { reportsTraps, type CallText } from './call-text.js'
import { HUSHED, own, UNHEARD, UNNOTE, type Marks } from './marks.js'
import { giveTrap, noteTraps } from './traps.js'

/**
 * The file that the shell sources where bash does everything by itself: what would go off, or show,
 * before the command; the command; and a note of its end taken before anything can change it. What
 * comes first shares the command's first line, so that line numbers stay those of the command.
 */
export function commandFileText(call: CallText, head: string, marks: Marks): string {
  return `${head}${call.script}${call.whole && !call.bare ? trailer(call, marks) : ''}`
}

/** What stands before the command in its file. */
export function commandHead(call: CallText, marks: Marks): string {
  const before = beforeStatus(call, marks)
  // The left side of && sets `$?` without an ERR trap or `set -e` taking notice.
  if (call.stages && !call.bare) before.push(hushed(leaveStages(call.stages, call.status), call))
  else if (call.status !== 0 && passedStatus(call, marks) === 0) {
    // The usual one without a child, of which a CHLD trap would hear; or without a command, which a DEBUG trap would.
    const isChildless = call.status === 1 && typeof call.traps?.debug !== 'string'
    const leave = leaveStatus(call.status)
    before.push(call.bare ? leave : hushed(`{ ${isChildless ? `! ${leaveArgument(call)}` : leave}; }`, call))
  }
  // On a line of its own where bash may not be able to parse the command: it drops the whole line.
  return before.length === 0 ? '' : `${before.join('; ')}${call.whole ? '; ' : '\n'}`
}

/** What bash would show of the session's own under `set -x` goes nowhere, and what a trap says of it. */
export function hushed(steps: string, call: CallText): string {
  const to = reportsTraps(call) ? UNHEARD : HUSHED
  return `${steps} ${to}${call.traceFd === null ? '' : ` ${call.traceFd}</dev/null`}`
}

const leaveArgument = ({ lastArgument }: CallText): string =>
  `\\builtin :${lastArgument === null ? '' : ` ${quoteWord(lastArgument)}`}`

export const leaveStatus = (status: number): string => `(\\builtin exit ${status}) && \\builtin :`

/** The `$?` that the command is given from outside its file: nothing in the file comes before it. */
export function passedStatus(call: CallText, marks: Marks): number {
  return call.hasBuiltin && !call.bare && call.stages === null && beforeStatus(call, marks).length === 0
    ? call.status
    : 0
}

function beforeStatus(call: CallText, marks: Marks): string[] {
  const before: string[] = []
  // A line that bash has read already is not shown; `$?` is set behind it.
  if (call.verbose === 'yes') before.push('\\builtin set -v')
  if (typeof call.traps?.return === 'string') before.push(giveTrap(call.traps.return, 'RETURN', marks))
  // Behind that trap, whose name would be `$_`, and before the one that sees every command.
  if (call.lastArgument !== null) before.push(leaveArgument(call))
  if (typeof call.traps?.debug === 'string') before.push(giveTrap(call.traps.debug, 'DEBUG', marks))
  if (call.xtrace) before.push('\\builtin set -x')
  return before
}

/** Pipelines that ended like the last one. With `!` bash turns the status around, but not those of the stages. */
function leaveStages(stages: readonly number[], status: number): string {
  const turned = status === 0 ? stages.at(-1) !== 0 : stages.every((stage) => stage === 0)
  const pipeline = stages.map((stage) => `(\\builtin exit ${stage})`).join(' | ')
  return `{ ${turned ? '! ' : ''}${pipeline}${status === 0 || turned ? '' : ' && \\builtin :'}; }`
}

/** Behind the command, in its file: what the next line could no longer see. */
function trailer(call: CallText, marks: Marks): string {
  const stdin = own(marks, 'i')
  const steps = [`${own(marks, 'k')}=("$?" "$_" "\${PIPESTATUS[@]}") ${own(marks, 'v')}=$-`]
  // A restricted shell may name no file to write to: the rest is for lines that are typed.
  steps.push('[[ $- != *r* ]] || \\builtin return 0')
  if (reportsTraps(call)) steps.push(noteTraps(marks))
  // A descriptor that is named by a variable stays open behind the command that opens it.
  if (call.keepStdin)
    steps.push(
      `{ [[ -z \${${stdin}-} ]] || \\builtin : {${stdin}}<&-; \\builtin : {${stdin}}<&0 || \\builtin unset -v ` +
        `${stdin}; }`,
    )
  // With `set -o history` bash has noted this line too.
  steps.push(`[[ ! -o history ]] || { ${UNNOTE}; }`)
  steps.push(`[[ $- != *[xv]* ]] || \\builtin set +xv`, '\\builtin return 0')
  return `\n${hushed(`{ ${steps.join('; ')}; }`, call)}\n`
}
