/**
 * The bash side of a session, as text. The shell is an interactive one without a terminal that
 * reads short lines from its stdin: that is the only kind of bash in which an interrupt ends a
 * whole command list and keeps every bit of state. The agent's commands are sourced from a file,
 * with stdin empty, so that bash behaves as in a script (no job notices, no "exit" on stderr).
 *
 * The mark of a report (`seal`) stands in typed lines only: no file, variable or trap that a
 * command can look at holds it. Names start with `\builtin`, so that neither an alias nor a
 * function of the agent's is reached. What bash prints to be read again (`trap -p`, `${x@A}`) is
 * never sourced as it is, because its first word would be: it is evaluated behind `\builtin`.
 */
import { quoteWord } from '../../../contract/quote.js'
import type { ProgramStep } from '../../../contract/verdict.js'
import { isPlain, reportsTraps, type CallText } from './call-text.js'
import { bindingPrelude } from '../../../secrets/deliver/binding.js'
import { AFTER, before as beforeCommand, dumpEnd, dumpText } from './dump-text.js'
import { fileOf, giveBack, keepVariable, keptAs, LOADED, own, report, source } from './marks.js'
import { HUSHED, STOP_NAME, UNHEARD, UNNOTE, UNNOTICED, type Marks } from './marks.js'
import { installBareStop, installExit, installStop, noteTraps, NOWHERE } from './traps.js'
import { hushed, leaveStatus, passedStatus } from './command-file.js'

/** After an interrupt a history is still on, and has noted the line that this stands in. */
function unnoted(marks: Marks): string {
  return `[[ ! -o history ]] || { ${UNNOTE}; ${own(marks, 'h')}=h; \\builtin set +o history; }`
}
/** In characters; each may be four bytes, and quoted. */
const LONGEST_NOTED = 2_000
/** What makes an interactive bash say or do something at its prompt. */
const PROMPT_NAMES = ['PS0', 'PS1', 'PS2', 'PROMPT_COMMAND', 'TMOUT', 'MAILCHECK']

/** Makes the shell quiet and plain before the first command. */
export function setUpCode(marks: Marks): string {
  const plain =
    `\\builtin set +H +m +o history; ${UNNOTE}; \\builtin history -c; \\builtin unset -v HISTFILE HISTFILESIZE ` +
    `HISTSIZE ${PROMPT_NAMES.join(' ')}; \\builtin shopt -u checkwinsize huponexit checkjobs mailwarn`
  return `{ ${plain}; ${installStop(marks)}; } 2>/dev/null\n`
}

/** The builtin says by itself that it is there; where it could not be loaded, bash says so. */
export function setUpLines(marks: Marks, builtin: string | null, orders: string): string {
  const load = builtin
    ? `{ \\builtin enable -f ${quoteWord(builtin)} ${LOADED} && \\builtin ${LOADED} = ${marks.report} ` +
      `${marks.seal} ${quoteWord(marks.files)} ${marks.state} ${marks.nonce} ${orders} || ` +
      `${report(marks, 'G', 1, '""')}; } 2>/dev/null\n`
    : ''
  return `${source(fileOf.setUp(marks))}\n${exitTrapLine(marks, null)}${load}`
}

/** A whole dump, in a line that is typed. */
function dumpNow(marks: Marks, mark: string): string {
  return `{ ${source(fileOf.dump(marks))}${UNNOTICED}; ${dumpEnd(marks, mark)}; } >${marks.state}${UNNOTICED}`
}

/** What a call needs, before its command file is sourced: typed, and so read without the aliases of the agent's. */
function preparation(call: CallText, marks: Marks): string[] {
  const steps: string[] = []
  if (call.bare) steps.push(installBareStop(marks))
  if (call.traps && !call.traps.exitStays)
    steps.push(
      `{ ${call.traps.listed ? `\\builtin trap - ${STOP_NAME}; ` : ''}${call.traps.exit === null ? '\\builtin trap - EXIT' : `\\builtin trap -- ${quoteWord(call.traps.exit)} EXIT`}; ` +
        '} 2>/dev/null',
    )
  if (call.cwd) steps.push(`\\builtin cd -- ${quoteWord(call.cwd)} >/dev/null && \\builtin :`)
  const names = Object.keys(call.env)
  if (names.length > 0) {
    steps.push(`{ ${names.map((name) => keepVariable(marks, name)).join('; ')}; } 2>/dev/null`)
    steps.push(`\\builtin export ${names.map((name) => `${name}=${quoteWord(call.env[name] as string)}`).join(' ')}`)
  }
  if (call.secrets) steps.push(`{ ${call.secrets.prelude}; } || ${own(marks, 'q')}=125`)
  if (call.prompts) steps.push(`{ ${unsettle(call.script, marks)}; } 2>/dev/null`)
  return steps
}

/** `builtin exec` would undo its redirections at once, so a function of that name is put aside meanwhile. */
function repoint({ redirects }: CallText, marks: Marks): string {
  if (redirects.length === 0) return ''
  const saved = quoteWord(fileOf.aside(marks))
  const move = `\\exec ${redirects.map(({ fd, path }) => `${fd}>${path}`).join(' ')}`
  return (
    `\\builtin declare -f exec >|${saved} && \\builtin unset -f exec; ${move}; [[ ! -s ${saved} ]] || \\builtin ` +
    `. ${saved}`
  )
}

const JOINTS = { ';': ';', '&&': '&', '||': 'o', '|': '|' } as const
const STDERR = { kept: '-', joined: 'm', dropped: 'n' } as const

/** The words of programs, for the builtin. What no command knows stands before each, so that no word passes for it. */
export function programLine(programs: readonly ProgramStep[], { seal }: Marks): string {
  const isAlone = programs.length === 1 && programs[0]?.stderr === 'kept'
  const steps = programs.map(({ joint, words, stderr }) =>
    isAlone ? words : `'${seal}${JOINTS[joint]}${STDERR[stderr]}' ${words}`,
  )
  return `\\${LOADED} ${steps.join(' ')} </dev/null\n`
}

/**
 * The command file, for the builtin: with `$?` as given, and the state written down before the
 * report where it may have changed.
 */
export function nativeLine(call: CallText, marks: Marks): string {
  const repointed = call.redirects.length > 0 ? `${repoint(call, marks)}\n` : ''
  return (
    `${dumpFirstLine(call.dumpFirst, marks)}${repointed}\\${LOADED} . ${call.status} ` +
    `${call.inert ? '-' : '+'}${call.merged ? 'm' : ''}\n`
  )
}

function dumpFirstLine(number: number | null, marks: Marks): string {
  return number === null ? '' : `{ ${dumpNow(marks, beforeCommand(number))}; } 2>/dev/null\n`
}

/**
 * The lines that are typed where bash does everything by itself: the command with its stdin,
 * then the report of its end.
 */
export function sourcedLines(call: CallText, marks: Marks): string {
  const stdin =
    call.stdin === null ? `"&$${own(marks, 'i')}"` : call.stdin === '/dev/null' ? call.stdin : quoteWord(call.stdin)
  const after: string[] = []
  if (call.repairBuiltins) after.push(repairCode(marks))
  if (call.hasBuiltin) after.push(`\\builtin unset -v ${own(marks, 'm')}`)
  if (call.secrets) after.push(call.secrets.epilogue)
  for (const name of Object.keys(call.env)) after.push(`\\builtin unset -v ${name}; ${giveBack(marks, name)}`)
  if (reportsTraps(call)) after.push(`\\builtin unset -v ${trapWords(marks).join(' ')}; ${installExit(marks, null)}`)
  // Before the answer: what a completed call did must not depend on what becomes of the shell after it.
  if (!isPlain(call)) after.push(dumpNow(marks, AFTER))
  const status = own(marks, 'q')
  // The redirections come first, outside of the file: no mistake in the command can keep them from happening.
  const first = [
    repoint(call, marks),
    `${status}=${reportsTraps(call) ? ` ${trapWords(marks).join('=() ')}=()` : ''}`,
    ...preparation(call, marks),
  ]
    .filter(Boolean)
    .join('; ')
  const given = sourceCommand(call, stdin, marks)
  const command = `${first}; ${call.secrets ? `[[ \${${status}-} ]] || { ${given};}` : given}`
  // Before bash prompts for the next line, and shows it.
  const settle = `{ ${source(fileOf.settle(marks))};} 2>/dev/null`
  const end = `${source(fileOf.end(marks))} ${marks.seal}${call.errTrap || call.watchTraps ? UNNOTICED : ''}`
  const over =
    call.hasBuiltin && !reportsTraps(call)
      ? ''
      : `{ ${status}=\${${status}:-$?};${call.hasBuiltin ? '' : `${leaveDeaf(marks)};`}${quiet(call, marks)}} ` +
        `${reportsTraps(call) ? UNHEARD : HUSHED}; `
  return (
    `${dumpFirstLine(call.dumpFirst, marks)}${command};${settle}\n` +
    `${over}{ ${status}=\${${status}:-$?}; ${unnoted(marks)}; ` +
    `${after.map((step) => `${step}; `).join('')}${end};} 2>/dev/null\n`
  )
}

/** What notes and gives the agent's traps: empty before a command, unset behind it. */
const trapWords = (marks: Marks): string[] => ['x', 'gr', 'gd'].map((what) => own(marks, what))

/** Behind a command: none of its traps sees what comes next. Where it came to its end, its file has noted them. */
function quiet(call: CallText, marks: Marks): string {
  const noted = own(marks, 'x')
  return reportsTraps(call) ? `[[ \${${noted}-} ]] || { ${noteTraps(marks)};};\\builtin trap - DEBUG RETURN;` : ''
}

/** With `set -a` bash exports what a line of the session assigns: programs must not get it. */
const KEEP_OWN = '[[ $- != *a* ]] || \\builtin export -n "${!__cerith_@}"'

/**
 * By bash alone, the shell's own stdin and stderr are on descriptors 10 and 11 meanwhile, where
 * a command (`exec 10>file`) may get in their way. The builtin keeps them elsewhere; a command
 * may have disabled it. No `if`: the agent may have an alias of that name.
 */
function sourceCommand(call: CallText, stdin: string, marks: Marks): string {
  const { hasBuiltin, merged } = call
  const passed = passedStatus(call, marks)
  const status = own(marks, 'q')
  const from = stdin.startsWith('"&') ? `&"${stdin.slice(2)}` : stdin
  // A builtin that is gone has left the shell without aliases, as its lines are read.
  const alone =
    '[[ :$BASHOPTS: != *:expand_aliases:* ]] || \\builtin shopt -s expand_aliases;{ ' +
    `${passed === 0 ? '' : `${leaveStatus(passed)}; `}${source(fileOf.command(marks))};} ` +
    `<${from}${merged ? ' 2>&1' : ''};${hushed(`{ ${status}=$?;${leaveDeaf(marks)};${quiet(call, marks)}${dropReserved};}`, call)}`
  if (!hasBuiltin) return `${KEEP_OWN};${alone}`
  const missing = own(marks, 'm')
  const find = `${missing}=;{ \\builtin enable ${LOADED} || ${missing}=x;} 2>/dev/null`
  const native =
    `\\builtin ${LOADED} , ${stdin} ${merged ? 'm' : '-'} ` +
    `${passed};${reportsTraps(call) ? `{ ${status}=$?;${quiet(call, marks)}} ${UNHEARD}` : `${status}=$?`}`
  return `${find};${KEEP_OWN};[[ \${${missing}-} ]] || { ${native};};[[ -z \${${missing}-} ]] || { ${alone};}`
}

/**
 * Without the builtin a restricted shell (`set -r`) stays one, and one whose command has closed descriptor 10 has no
 * stdin any more: it can be told nothing, and leaves with the status of its command.
 */
function leaveDeaf(marks: Marks): string {
  return (
    '[[ $- != *r* && ! /dev/fd/0 -ef /dev/null ]] || \\builtin exit ' +
    `"\${${own(marks, 'k')}:-\${${own(marks, 'q')}:-130}}"`
  )
}

/**
 * Without the builtin all lines are read with the agent's aliases: those of words that our
 * lines are made of end with their call.
 */
const dropReserved =
  `\\builtin unalias ${['{', '}', '[[', '!', 'if', 'then', 'else', 'fi'].map(quoteWord).join(' ')} ` +
  `2>/dev/null${UNNOTICED} 2>/dev/null`

/**
 * Sourced with the seal as its argument: reports the end of a command, whether that came to the end of its file or not.
 */
export function endFileText(marks: Marks): string {
  const kept = own(marks, 'k')
  const status = own(marks, 'rc')
  const kind = own(marks, 'w')
  return [
    `${kind}=T; [[ \${${kept}+x} ]] || { ${kind}=E; ${kept}=("$${own(marks, 'q')}" ""); }`,
    `${status}=\${${kept}[0]}`,
    source(fileOf.settle(marks)),
    `\\builtin printf '%s\\0' "@$1" "$${kind}" 0 "$${status}" "\${${own(marks, 'v')}:-$-}" "\${PWD-}" ` +
      `"\${${kept}[1]:0:1000}" ` +
      `"${PROMPT_NAMES.map((name) => `\${${keptAs(marks, name)}:+x}`).join('')}\${${own(marks, 'h')}-}" ` +
      `"\${${own(marks, 'i')}-}" "\${${kept}[@]:2}" "$1@" >${marks.report}`,
    `\\builtin unset -v ${kept} ${kind} ${own(marks, 'v')} ${own(marks, 'q')}`,
    KEEP_OWN,
    `[[ $- == *e* ]] || \\builtin return "$${status}"`,
    '\\builtin return 0',
    '',
  ].join('\n')
}

/** What bash acts upon, or shows, before it reads the next line; the next command gets it back. */
export function settleFileText(marks: Marks): string {
  return `{ ${[
    `${own(marks, 'v')}=\${${own(marks, 'v')}:-$-}`,
    `[[ $- != *[xv]* ]] || \\builtin set +xv`,
    `[[ ! -o history ]] || { ${own(marks, 'h')}=h; \\builtin set +o history; }`,
    ...PROMPT_NAMES.map(
      (name) => `[[ -z \${${name}[@]+x} ]] || { ${keepVariable(marks, name)}; \\builtin unset -v ${name}; }`,
    ),
  ].join('; ')}; } 2>/dev/null\n`
}

function unsettle(script: string, marks: Marks): string {
  const history = own(marks, 'h')
  // Bash notes no line of a file that is sourced. (A line that is typed has to fit into a pipe.)
  const note = script.length > LONGEST_NOTED ? '' : `; \\builtin history -s -- ${quoteWord(script)}`
  return [
    // One that could not be taken away is still there.
    ...PROMPT_NAMES.map((name) => `[[ \${${name}+x} ]] || { ${giveBack(marks, name)}; }`),
    `[[ -z \${${history}-} ]] || { ${history}=; \\builtin set -o history${note}; }`,
  ].join('; ')
}

/**
 * The builtin does it where there is one. Without: in POSIX mode special builtins come before
 * functions, and an assignment is enough to get there: so a function named `builtin` is found and
 * dropped. Going back resets a few options, which are then put back as BASHOPTS says that they were.
 */
function repairCode(marks: Marks): string {
  const options = own(marks, 'b')
  const back = ['inherit_errexit', 'expand_aliases', 'shift_verbose', 'sourcepath', 'interactive_comments'].map(
    (name) =>
      `if [[ :\${${options}}: == *:${name}:* ]]; then \\builtin shopt -s ${name}; else \\builtin shopt -u ${name}; fi`,
  )
  const drop = `POSIXLY_CORRECT=1; \\unset -f builtin; \\unset POSIXLY_CORRECT; ${back.join('; ')}`
  const enable =
    '\\builtin enable builtin . : [ alias cd declare dirs enable eval exec exit export history kill printf read ' +
    'return set shopt source trap umask unset'
  // Where the builtin `builtin` itself was disabled, only `enable` can help, so that no function may be in its way.
  const last =
    `POSIXLY_CORRECT=1; \\unset -f enable; \\unset POSIXLY_CORRECT; \\enable builtin; ${enable}; ` +
    `${back.join('; ')}`
  const alone =
    `${options}=$BASHOPTS:$SHELLOPTS; if [[ -o posix ]]; then \\unset -f builtin; else ${drop}; fi; ${enable} || ` +
    `{ ${last}; }`
  return `\\${LOADED} - || { ${alone}; }`
}

/**
 * After an interrupt: stderr back in its place, traps installed again, and a word that the
 * shell is ready. An interrupt that is still on its way takes the first line with it.
 */
export function recoverLines(number: number, marks: Marks, userExit: string | null, hasBuiltin: boolean): string {
  const saved = own(marks, 'e')
  const trap = own(marks, 'a')
  const file = quoteWord(fileOf.interrupt(marks))
  const traps = `\\builtin read -r -d '' ${trap} <${file}; \\builtin eval "\${${trap}:+\\\\builtin $${trap}}"; >|${file}`
  const stderr =
    `[[ -z \${${saved}-} ]] || { [[ ! /dev/fd/2 -ef ${NOWHERE} ]] || \\exec 2>&"$${saved}"; \\builtin : ` +
    `{${saved}}>&-; \\builtin unset -v ${saved}; }`
  const words = [...['k', 'v', 'q'].map((what) => own(marks, what)), ...trapWords(marks)]
  const forget = `\\builtin unset -v ${words.join(' ')}`
  const deaf = hasBuiltin ? '' : `{ ${leaveDeaf(marks)}; } ${HUSHED}\n${dropReserved}\n`
  return (
    `${deaf}{ ${unnoted(marks)}; } 2>/dev/null\n${stderr}; { [[ ! -s ${file} ]] || { ${traps}; }; ${forget}; ` +
    `${source(fileOf.settle(marks))}; ${installExit(marks, userExit)}; ${installStop(marks)}; ` +
    `${dumpNow(marks, AFTER)}; ${report(marks, 'R', number, '"$-" "${PWD-}"')}; } 2>/dev/null\n`
  )
}

/** The agent's EXIT trap runs after the dump, once. */
export function exitTrapLine(marks: Marks, userExit: string | null): string {
  return `{ ${installExit(marks, userExit)}; } 2>/dev/null\n`
}

/** A RETURN trap that a file of the agent's has set: every command gets it, the session's own lines do not. */
export const withoutReturnTrap = '{ \\builtin trap - RETURN; } >/dev/null 2>&1\n'

/** Sourced without arguments, so that `$@` is the shell's own. Where it goes is up to what sources it. */
export function dumpFileText(marks: Marks): string {
  return `${dumpText(marks)}\n`
}

export function dumpLine(marks: Marks): string {
  return `{ ${dumpNow(marks, AFTER)}; ${report(marks, 'D', 0, '""')}; } 2>/dev/null\n`
}

/**
 * The code comes through a pipe, like the state itself. What the shell has then is written down: given is not yet had.
 */
export function restoreLines(number: number, marks: Marks, code: Uint8Array, from: string): string {
  const variable = own(marks, 'r')
  const take = `${bindingPrelude([{ variable, value: code }], from)} && \\builtin eval "$${variable}"`
  return (
    `{ ${take}; } </dev/null >/dev/null 2>&1\n{ \\builtin unset -v ${variable}; ${dumpNow(marks, AFTER)}; ` +
    `${report(marks, 'R', number, '"$-" "${PWD-}"')}; } 2>/dev/null\n`
  )
}

/** Behind a command of the builtin's that goes on without the session: `leaveLine` finds its status there. */
export function keepStatusLine(marks: Marks): string {
  return `${own(marks, 'rc')}=$?\n`
}

/** Answered when everything that was typed before has been done; keeps the status of that. */
export function askLine(number: number, marks: Marks): string {
  return `{ ${own(marks, 'rc')}=$?; ${KEEP_OWN}; ${report(marks, 'R', number, '"$-" "${PWD-}"')}; } 2>/dev/null\n`
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
