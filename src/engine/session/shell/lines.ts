/**
 * The bash side of a session, as text. The shell is an interactive one without a terminal that reads short lines of ours from its stdin:
 * that is the only kind of bash in which an interrupt ends a whole command list and keeps every bit of state. The agent's commands are
 * sourced from a file, with stdin empty, so that bash behaves as in a script (no job notices, no "exit" on stderr).
 *
 * Reports carry no number: a shell does one thing at a time, and a command that is stopped is over when the shell says that it is ready.
 * Names start with `\builtin` so that neither an alias nor a function of the agent's can stand in the way; variables of ours carry a
 * number that nobody knows.
 */
import { quoteWord } from '../../plan/quote.js'
import { isPlain, isProgram, isTyped, reportsTraps, type CallText } from './call-text.js'
import { bindingPrelude } from '../../../secrets/deliver/binding.js'
import { AFTER, before as beforeCommand, dumpCode, LEAVING, type DumpMarks } from './dump.js'

/** What `native/bash` is loaded as. */
export const LOADED = '__cerith'

/** SIGRTMIN+9: nobody else uses it, and the kernel queues it. */
export const STOP_SIGNAL = 43
const STOP_NAME = 'RTMIN+9'
/** Swallows what is written, and is nobody's stderr: the one that we left there can be told from one that bash has put back. */
const NOWHERE = '/dev/zero'

export interface Marks extends DumpMarks {
  /** Opened by name for every report of bash's own, so that no program ever inherits a descriptor of ours. */
  readonly report: string
  /** All files of one shell begin like this. */
  readonly files: string
}

/** Files of a shell: commands go in, state comes out. */
export const fileOf = {
  command: ({ files }: Marks) => `${files}.command`,
  setUp: ({ files }: Marks) => `${files}.setup`,
  /** Sourced after every command: reports the end of commands that could not do so themselves. */
  end: ({ files }: Marks) => `${files}.end`,
  dump: ({ files }: Marks) => `${files}.dump`,
  /** Ends a shell whose command has gone on without the session. */
  leave: ({ files }: Marks) => `${files}.leave`,
  /** Prompt variables of the agent's: set while its commands run, out of the way when bash prompts for the next line of ours. */
  prompt: ({ files }: Marks) => `${files}.prompt`,
  /** A function of the agent's while a line needs the builtin of its name. */
  aside: ({ files }: Marks) => `${files}.aside`,
  /** The agent's INT trap while an interrupt of ours is on its way. */
  interrupt: ({ files }: Marks) => `${files}.interrupt`,
} as const

/** What makes an interactive bash say or do something at its prompt. */
const PROMPT_NAMES = ['PS0', 'PS1', 'PS2', 'PROMPT_COMMAND', 'TMOUT', 'MAILCHECK']
const PROMPT_IS_SET = PROMPT_NAMES.map((name) => `\${${name}+x}`).join('')

/** A status that is not zero would set off an ERR trap of the agent's, or end a shell with `set -e`, except on the left side of a list. */
const UNNOTICED = ' || \\builtin :'

const own = (marks: Marks, what: string): string => `__cerith_${what}${marks.nonce.slice(0, 8)}`

/** Makes the shell quiet and plain before the first command. */
export function setUpCode(marks: Marks, builtin: string | null): string {
  const plain = `\\builtin set +H +m +o history; \\builtin history -c; \\builtin unset -v HISTFILE HISTFILESIZE HISTSIZE ${PROMPT_NAMES.join(' ')}; \\builtin shopt -u checkwinsize huponexit checkjobs mailwarn`
  // It says by itself that it is there.
  const load =
    builtin === null
      ? ''
      : `; \\builtin enable -f ${quoteWord(builtin)} ${LOADED} && \\builtin ${LOADED} = ${marks.report} ${marks.nonce}`
  return `{ ${plain}; ${installTraps(marks, null)}${load}; } 2>/dev/null\n`
}

/**
 * Two traps of ours. EXIT writes the state down while the shell still has it. The stop signal is acted upon between two commands, so the
 * engine can end the running one without the next one of the list being started: the handler interrupts the shell itself.
 */
export function installTraps(marks: Marks, userExit: string | null): string {
  const saved = own(marks, 'e')
  // Bash says a newline when it is interrupted. Where stderr was pointed elsewhere for a part of the command, bash undoes this itself.
  const hush = `\\exec {${saved}}>&2 2>${NOWHERE}; \\builtin trap -p INT >|${quoteWord(fileOf.interrupt(marks))}; \\builtin trap - INT`
  // Only within a file that is sourced: a bash that is interrupted by its own handler while it reads a line from a pipe crashes.
  const stop = `{ [[ -z \${BASH_SOURCE-} ]]; } 2>/dev/null || { { [[ \${${saved}-} ]]; } 2>/dev/null || { ${hush}; }; \\builtin kill -INT $$; }`
  return `${installExit(marks, userExit)}; \\builtin trap -- ${quoteWord(stop)} ${STOP_NAME}`
}

function installExit(marks: Marks, userExit: string | null): string {
  return `\\builtin trap -- ${quoteWord(`${dumpCode(marks, LEAVING)}${userExit === null ? '' : `\n${userExit}`}`)} EXIT`
}

/** The file that the shell sources: what is to be prepared, the command, and a report of its end taken before anything can change it. */
export function commandFileText(call: CallText, marks: Marks): string {
  const before: string[] = []
  if (call.dumpFirst !== null) before.push(dumpCode(marks, beforeCommand(call.dumpFirst)))
  if (call.traps)
    before.push(
      `{ ${call.traps.listed ? `\\builtin trap - ${STOP_NAME}; ` : ''}${call.traps.exit === null ? '\\builtin trap - EXIT' : `\\builtin trap -- ${quoteWord(call.traps.exit)} EXIT`}; } 2>/dev/null`,
    )
  if (call.cwd) before.push(`\\builtin cd -- ${quoteWord(call.cwd)} >/dev/null && \\builtin :`)
  const names = Object.keys(call.env)
  if (names.length > 0) {
    before.push(...names.map((name, at) => keepVariable(name, own(marks, `g${at}_`))))
    before.push(`\\builtin export ${names.map((name) => `${name}=${quoteWord(call.env[name] as string)}`).join(' ')}`)
  }
  if (call.secrets) before.push(`{ ${call.secrets.prelude}\n} || \\builtin return 125`)
  if (call.prompts) before.push(`{ \\builtin . ${quoteWord(fileOf.prompt(marks))}${UNNOTICED}; } 2>/dev/null`)
  // A line that bash has read already is not shown; `$?` is set behind it.
  if (call.verbose === 'yes') before.push('\\builtin set -v')
  if (call.lastArgument !== null) before.push(`\\builtin : ${quoteWord(call.lastArgument)}`)
  if (call.traps?.return) before.push(`\\builtin trap -- ${quoteWord(call.traps.return)} RETURN`)
  if (call.traps?.debug) before.push(`\\builtin trap -- ${quoteWord(call.traps.debug)} DEBUG`)
  if (call.xtrace) before.push('\\builtin set -x')
  // The left side of && sets `$?` without an ERR trap or `set -e` taking notice.
  if (call.stages) before.push(leaveStages(call.stages, call.status))
  else if ((before.length > 0 || call.statusLost || call.redirects.length > 0 || isPlain(call)) && call.status !== 0)
    before.push(`{ (\\builtin exit ${call.status}) && \\builtin :; } 2>/dev/null`)
  if (call.verbose === 'yes') return `${before.join('; ')}\n${call.script}\n`
  // On a line of its own: bash drops the whole line of what it cannot parse.
  const head = before.length > 0 ? `${before.join('; ')}\n` : ''
  // A backslash at the very end would take the next line along.
  return `${head}${call.script}${call.whole ? trailer(call, marks) : call.script.endsWith('\\') ? '' : '\n'}`
}

/** Whether it is set, its value, its attributes; of an array also what assigns it. In memory: a file would keep what it holds. */
function keepVariable(name: string, kept: string): string {
  return `${kept}=("\${${name}[@]+x}" "\${${name}-}" "\${${name}[@]+\${${name}@a}}" "\${${name}[@]+\${${name}[@]@A}}")`
}

function giveBackVariable(name: string, kept: string): string {
  const array = `\\builtin declare -\${${kept}[2]//r} ${name}; \\builtin eval "\${${kept}[5]}"`
  const scalar = `\\builtin declare -\${${kept}[2]:--} ${name}="\${${kept}[1]}"`
  return `\\builtin unset -v ${name}; [[ -z \${${kept}[0]-} ]] || if [[ \${${kept}[2]} == *[aA]* ]]; then ${array}; else ${scalar}; fi; \\builtin unset -v ${kept}`
}

/** Pipelines that ended like the last one. With `!` bash turns the status around, but not those of the stages. */
function leaveStages(stages: readonly number[], status: number): string {
  const turned = status === 0 ? stages.at(-1) !== 0 : stages.every((stage) => stage === 0)
  const pipeline = stages.map((stage) => `(\\builtin exit ${stage})`).join(' | ')
  return `{ ${turned ? '! ' : ''}${pipeline}${status === 0 || turned ? '' : ' && \\builtin :'}; } 2>/dev/null`
}

/** `builtin exec` would undo its redirections at once, so a function of that name is put aside meanwhile. */
function repoint({ redirects }: CallText, marks: Marks): string[] {
  if (redirects.length === 0) return []
  const saved = quoteWord(fileOf.aside(marks))
  return [
    `\\builtin declare -f exec >|${saved} && \\builtin unset -f exec`,
    `\\exec ${redirects.map(({ fd, path }) => `${fd}>${path}`).join(' ')}`,
    `[[ ! -s ${saved} ]] || \\builtin . ${saved}`,
  ]
}

interface PlainText {
  readonly trailer: string
  readonly source: string
  readonly end: string
  readonly forget: string
  readonly told: string
}

/** What is the same in every call of a shell; most calls need nothing else. */
const constants = new WeakMap<Marks, PlainText>()

function constantText(marks: Marks): PlainText {
  const known = constants.get(marks)
  if (known) return known
  const told = own(marks, 't')
  const made: PlainText = {
    // Behind a command that leaves the shell as it was: how it ended is all there is to say. `$((..))` keeps the status for the line behind it.
    trailer: `\n\\builtin printf '%s\\0' @${marks.nonce} F 0 "$((${told}=$?))" "\${_:0:1000}" "\${PIPESTATUS[@]}" ${marks.nonce}@ >${marks.report}\n`,
    source: `\\builtin . ${quoteWord(fileOf.command(marks))}`,
    end: `\\builtin . ${quoteWord(fileOf.end(marks))}`,
    // What the last call said about its own end is over; a plain one leaves it standing.
    forget: `${told}=;`,
    // Behind a command that was typed as it is, where printf is known to be bash's own. Three digits each: the mark may begin with one.
    told: `;\\printf '@${marks.nonce}\\000F\\0000\\000%s\\000%s\\000${marks.nonce}@\\000' "$?" `,
  }
  constants.set(marks, made)
  return made
}

function trailer(call: CallText, marks: Marks): string {
  if (isPlain(call)) return constantText(marks).trailer
  const kept = own(marks, 'k')
  const stdin = own(marks, 'i')
  const take = `${kept}=("$?" "$_" "\${PIPESTATUS[@]}")`
  const steps = [take]
  if (reportsTraps(call)) steps.push(reportTraps(marks), `${own(marks, 'x')}=x`)
  if (call.keepStdin)
    steps.push(
      `{ [[ -z \${${stdin}-} ]] || \\exec {${stdin}}<&-; \\exec {${stdin}}<&0 || \\builtin unset -v ${stdin}; }`,
    )
  // Before the answer: what a completed call did must not depend on what becomes of the shell after it.
  steps.push(dumpCode(marks, AFTER))
  // Told before it is: who could not note it down must not be answered for twice.
  steps.push(`${own(marks, 't')}=\${${kept}[0]}`)
  steps.push(
    report(
      marks,
      'T',
      0,
      `"\${${kept}[0]}" "$-" "\${PWD-}" "\${${kept}[1]:0:1000}" "${PROMPT_IS_SET}" "\${${stdin}-}" "\${${kept}[@]:2}"`,
    ),
  )
  steps.push(stashPrompts(marks), `[[ $- != *[xv]* ]] || \\builtin set +xv`, '\\builtin return 0')
  return `\n{ ${steps.join('; ')}; }${reportsTraps(call) ? ' >/dev/null' : ''} 2>/dev/null\n`
}

/**
 * The lines that are typed: the command with its stdin, then the end. The answer does not wait for the second one, and a plain command, which
 * nearly always answers by itself, gets it only when it takes its time (`endLine`).
 */
export function callLines(call: CallText, marks: Marks): string {
  const stdin =
    call.stdin === null ? `&"$${own(marks, 'i')}"` : call.stdin === '/dev/null' ? call.stdin : quoteWord(call.stdin)
  const { source, end, forget, told } = constantText(marks)
  // Without an expansion its last argument is as short as the command.
  if (isTyped(call))
    return call.loaded ? `${call.script};\\${LOADED}\n` : `${call.script}${told}"$_" >${marks.report}\n`
  if (isProgram(call)) return `\\${LOADED} ${call.script} <${stdin}\n`
  // Outside of the file, where no mistake in the command can keep it from happening, and of the redirection, which would undo it.
  const before = repoint(call, marks)
    .map((step) => `${step}; `)
    .join('')
  const streams = `<${stdin}${call.merged ? ' 2>&1' : ''}`
  if (isPlain(call)) return `${before}${forget}${source} ${streams}\n`
  const after: string[] = []
  if (call.repairBuiltins) after.push(repairCode(marks))
  if (call.secrets) after.push(call.secrets.epilogue)
  const names = Object.keys(call.env)
  if (names.length > 0) after.push(...names.map((name, at) => giveBackVariable(name, own(marks, `g${at}_`))))
  if (reportsTraps(call))
    after.push(
      `[[ \${${own(marks, 'x')}-} ]] || { ${reportTraps(marks)}; }; ${own(marks, 'x')}=; \\builtin trap - DEBUG RETURN`,
    )
  const status = own(marks, 'q')
  // Off before bash reads the line behind it, which says in its report what it was.
  const quiet = call.verbose === 'no' ? '' : `; ${status}=$? ${own(marks, 'v')}=$-; \\builtin set +v`
  const last = after.length > 0 ? `${quiet ? '' : `${status}=$?; `}${after.join('; ')}; ${end}` : end
  return `${before}${call.statusLost ? forget : ''}{ ${source};} ${streams}${quiet}\n{ ${last}${call.errTrap || call.watchTraps ? UNNOTICED : ''};} 2>/dev/null\n`
}

/** Behind a plain command that did not answer at once: it may be at work, or have been given up by bash before it came to its report. */
export function endLine(marks: Marks): string {
  const told = own(marks, 't')
  const status = own(marks, 'q')
  return `${status}=$?; [[ \${${told}-} ]] && { ${own(marks, 'rc')}=$${told}; ${status}=; } || \\builtin . ${quoteWord(fileOf.end(marks))}\n`
}

/**
 * The same behind one that was typed as it is and says nothing about having told: the report then carries the number of the call, so that
 * one which comes late is not taken for the next call's.
 */
export function typedEndLine(number: number, marks: Marks): string {
  // Also for a shell that leaves with its command's status after its engine, and the file, are gone.
  return `${own(marks, 'q')}=$? ${own(marks, 'n')}=${number} ${own(marks, 't')}=; ${own(marks, 'rc')}=$${own(marks, 'q')}; \\builtin . ${quoteWord(fileOf.end(marks))}\n`
}

/** Reports the end of a command that did not do so itself. Sourced without arguments `$1` is the agent's, so the status comes in a variable. */
export function endFileText(marks: Marks): string {
  const status = own(marks, 'rc')
  const told = own(marks, 't')
  const wasTold = own(marks, 'w')
  return [
    `${status}=\${${told}:-\${${own(marks, 'q')}:-$?}} ${wasTold}=\${${told}-}`,
    `[[ $- != *[xv]* ]] || \\builtin set +xv`,
    // A command that made it read-only is followed by none that could run: no report, and the session gets another shell.
    `${told}=`,
    `[[ $${wasTold} ]] || { ${dumpCode(marks, AFTER)}; }`,
    `[[ $${wasTold} ]] || \\builtin printf '%s\\0' @${marks.nonce} E "\${${own(marks, 'n')}:-0}" "$${status}" "\${${own(marks, 'v')}:-$-}" "\${PWD-}" "" "${PROMPT_IS_SET}" "\${${own(marks, 'i')}-}" ${marks.nonce}@ >${marks.report}`,
    `${own(marks, 'v')}= ${own(marks, 'q')}= ${own(marks, 'n')}=`,
    stashPrompts(marks),
    `[[ $- == *e* ]] || \\builtin return "$${status}"`,
    '\\builtin return 0',
    '',
  ].join('\n')
}

/** Bash acts on these before it reads the next line of ours; the next command gets them back. */
function stashPrompts(marks: Marks): string {
  return `[[ -z ${PROMPT_IS_SET} ]] || { { \\builtin declare -p ${PROMPT_NAMES.join(' ')} >|${quoteWord(fileOf.prompt(marks))}; \\builtin unset -v ${PROMPT_NAMES.join(' ')}; }${UNNOTICED}; }`
}

function reportTraps(marks: Marks): string {
  return `{ \\builtin printf '%s\\0' @${marks.nonce} X 0; \\builtin trap -p; \\builtin printf '\\0%s\\0' ${marks.nonce}@; } >${marks.report}; \\builtin trap - DEBUG RETURN; ${installTraps(marks, null)}`
}

/**
 * In POSIX mode special builtins come before functions, and an assignment is enough to get there. Going back resets a few options that
 * are then put back as they were.
 */
function repairCode(marks: Marks): string {
  const options = own(marks, 'b')
  const back = ['inherit_errexit', 'expand_aliases', 'shift_verbose', 'sourcepath', 'interactive_comments'].map(
    (name) =>
      `if [[ :\${${options}}: == *:${name}:* ]]; then \\builtin shopt -s ${name}; else \\builtin shopt -u ${name}; fi`,
  )
  return `${options}=$BASHOPTS:$SHELLOPTS; POSIXLY_CORRECT=1; \\unset -f builtin exec unset enable printf source declare trap; \\unset POSIXLY_CORRECT; \\enable builtin . : [ alias cd declare dirs enable eval exec exit export history kill printf read return set shopt source trap umask unset; ${back.join('; ')}; if [[ :\${${options}}: == *:posix:* ]]; then \\builtin set -o posix; fi`
}

/**
 * After an interrupt: stderr back in its place, traps installed again, and a word that the shell is ready. An interrupt that is
 * still on its way takes the first line with it.
 */
export function recoverLines(number: number, marks: Marks, userExit: string | null): string {
  const saved = own(marks, 'e')
  const back = `[[ ! /dev/fd/2 -ef ${NOWHERE} ]] || \\exec 2>&"$${saved}"; \\exec {${saved}}>&-; { \\builtin . ${quoteWord(fileOf.interrupt(marks))}; } 2>/dev/null; \\builtin unset -v ${saved}`
  const forget = `${own(marks, 'v')}= ${own(marks, 'q')}=`
  return `{ \\builtin :; } 2>/dev/null\n[[ -z \${${saved}-} ]] || { ${back}; }; { ${forget}; ${installTraps(marks, userExit)}; ${dumpCode(marks, AFTER)}; ${report(marks, 'R', number, '"$-" "${PWD-}"')}; } 2>/dev/null\n`
}

/** The agent's EXIT trap runs after our dump, once. */
export function exitTrapLine(marks: Marks, userExit: string | null): string {
  return `{ ${installExit(marks, userExit)}; } 2>/dev/null\n`
}

/** A RETURN trap that a file of the agent's has set: every command gets it, our own lines do not. */
export const withoutReturnTrap = '{ \\builtin trap - RETURN; } >/dev/null 2>&1\n'

/** Sourced without arguments, so that `$@` is the shell's own; `$?` is left as it was, for the next command. */
export function dumpFileText(marks: Marks): string {
  const status = own(marks, 's')
  return `{ ${status}=$?; ${dumpCode(marks, AFTER)}; ${report(marks, 'D', 0, '""')}; [[ $- == *e* ]] || \\builtin return "$${status}"; } 2>/dev/null\n`
}

export function dumpLine(marks: Marks, keepStatus: boolean): string {
  // A RETURN trap that nobody knows of yet goes off behind the report, when the next command may have begun.
  return `{ \\builtin . ${quoteWord(fileOf.dump(marks))}${keepStatus ? '' : UNNOTICED};} >/dev/null 2>&1\n`
}

/** The code comes through a pipe, like the state itself. What the shell has then is written down: given is not yet had. */
export function restoreLines(number: number, marks: Marks, code: Uint8Array, from: string): string {
  const variable = own(marks, 'r')
  const take = `${bindingPrelude([{ variable, value: code }], from)} && \\builtin eval "$${variable}"`
  return `{ ${take}; } </dev/null >/dev/null 2>&1\n{ \\builtin unset -v ${variable}; ${dumpCode(marks, AFTER)}; ${report(marks, 'R', number, '"$-" "${PWD-}"')}; } 2>/dev/null\n`
}

export function setUpLine(marks: Marks): string {
  return `\\builtin . ${quoteWord(fileOf.setUp(marks))}\n`
}

/** A shell whose command was moved to the background leaves with that command's status. */
export function leaveLine(marks: Marks): string {
  const file = quoteWord(fileOf.leave(marks))
  return `[[ ! -e ${file} ]] || \\builtin . ${file}; ${leaveFileText(marks)}`
}

/** At its prompt bash says "exit" on stderr, which would be the command's; in a file it does not. */
export function leaveFileText(marks: Marks): string {
  return `\\builtin exit "$${own(marks, 'rc')}"\n`
}

function report(marks: Marks, kind: string, number: number, fields: string): string {
  return `\\builtin printf '%s\\0' @${marks.nonce} ${kind} ${number} ${fields} ${marks.nonce}@ >${marks.report}`
}
