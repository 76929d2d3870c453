/**
 * The bash side of a session, as text. The shell is an interactive one without a terminal that reads short lines of ours from its stdin:
 * that is the only kind of bash in which an interrupt ends a whole command list and keeps every bit of state. The agent's commands are
 * sourced from a file, with stdin empty, so that bash behaves as in a script (no job notices, no "exit" on stderr).
 *
 * Names start with `\builtin` so that neither an alias nor a function of the agent's can stand in the way.
 */
import { quoteWord } from './quote.js'

/** SIGRTMIN+9: nobody else uses it, and the kernel queues it. */
export const STOP_SIGNAL = 43
const STOP_NAME = 'RTMIN+9'

export interface Marks {
  /** Unguessable; output that imitates a report does not know it. */
  readonly nonce: string
  /** Opened anew for every report, so that no descriptor of ours is ever inherited. */
  readonly report: string
  /** Where the shell writes its state. */
  readonly stateFile: string
}

/** Makes the shell quiet and plain before the first command. */
export function setUpLines(marks: Marks): string {
  return [
    `PS1= PS2= PS0=; \\builtin set +H +m +o history; \\builtin unset -v HISTFILE MAILCHECK PROMPT_COMMAND TMOUT PS1 PS0; \\builtin shopt -u checkwinsize huponexit checkjobs mailwarn; PS2=`,
    installTraps(marks, null),
  ].join('\n')
}

/**
 * Two traps of ours. EXIT writes the state down while the shell still has it. The stop signal is acted upon between two commands, so the
 * engine can end the running one without the next one of the list being started: the handler interrupts the shell itself.
 */
export function installTraps(marks: Marks, userExit: string | null): string {
  const exit = `${dumpCode(marks)}${userExit === null ? '' : `\n${userExit}`}`
  const stop = `\\exec {__cerith_e}>&2 2>/dev/null; \\builtin trap - INT; \\builtin kill -INT $$`
  return `\\builtin trap -- ${quoteWord(exit)} EXIT; \\builtin trap -- ${quoteWord(stop)} ${STOP_NAME}`
}

/** For commands that look at or set traps themselves: ours are out of sight meanwhile. */
export function hideTraps(userExit: string | null): string {
  return `\\builtin trap - ${STOP_NAME}; ${userExit === null ? '\\builtin trap - EXIT' : `\\builtin trap -- ${quoteWord(userExit)} EXIT`}`
}

/** Everything a successor needs, NUL-separated, by builtins only: no fork. */
export function dumpCode({ stateFile }: Marks): string {
  const parts = ['declare -p', 'declare -f', 'declare -F', 'alias -p', 'shopt -p', 'set +o', 'umask -p', 'trap -p']
  const body = parts.map((part) => `\\builtin ${part} || \\builtin true; \\builtin printf '\\0'`).join('; ')
  return `{ \\builtin printf 'cerith-state\\0'; ${body}; \\builtin printf '%s\\0end\\0' "\${PWD-}"; } >|${quoteWord(stateFile)} 2>/dev/null`
}

export interface CallLine {
  readonly number: number
  readonly file: string
  readonly stdin: string
  readonly merged: boolean
  /** Re-point stdout and stderr first (a process of an earlier call still holds the old pipes). */
  readonly stdout: string | null
  readonly stderr: string | null
  readonly cwd: string | null
  readonly env: Readonly<Record<string, string>>
  readonly savedEnvFile: string
  readonly secrets: { readonly prelude: string; readonly epilogue: string } | null
  /** What `$?` and `$_` shall be at the start, when the command looks at them. */
  readonly before: { readonly status: number; readonly last: string } | null
  readonly traps: { readonly userExit: string | null } | null
  readonly dumpFirst: boolean
  /** `source` hides DEBUG and RETURN traps of earlier calls; with such a trap the command is evaluated instead. */
  readonly evaluate: boolean
  /** The command may have shadowed or disabled the builtins we speak with. */
  readonly repairBuiltins: boolean
}

export function callLine(call: CallLine, marks: Marks): string {
  const before: string[] = []
  if (call.dumpFirst) before.push(dumpCode(marks))
  if (call.traps) before.push(`{ ${hideTraps(call.traps.userExit)}; } 2>/dev/null`)
  if (call.stdout) before.push(`\\exec >${call.stdout}`)
  if (call.stderr) before.push(`\\exec 2>${call.stderr}`)
  if (call.cwd) before.push(`\\builtin cd -- ${quoteWord(call.cwd)} >/dev/null`)
  const names = Object.keys(call.env)
  if (names.length > 0) {
    before.push(`{ \\builtin declare -p ${names.join(' ')}; } >|${quoteWord(call.savedEnvFile)} 2>/dev/null`)
    before.push(`\\builtin export ${names.map((name) => `${name}=${quoteWord(call.env[name] as string)}`).join(' ')}`)
  }
  if (call.before) before.push(`\\builtin : ${quoteWord(call.before.last)}`, ...(call.before.status === 0 ? [] : [`(\\builtin exit ${call.before.status})`]))

  const redirect = `<${quoteWord(call.stdin)}${call.merged ? ' 2>&1' : ''}`
  const run = call.evaluate ? `{ IFS= \\builtin read -r -d '' __cerith_c <${quoteWord(call.file)}; \\builtin eval "$__cerith_c"; } ${redirect}` : `{ \\builtin source ${quoteWord(call.file)}; } ${redirect}`
  const guarded = call.secrets ? `if ${call.secrets.prelude}\nthen ${run}; else (\\builtin exit 125); fi` : run

  const after: string[] = []
  after.push(`__cerith_rc=$?`)
  if (call.repairBuiltins) after.push(`POSIXLY_CORRECT=1; \\unset -f builtin exec unset enable printf source declare trap; \\unset POSIXLY_CORRECT; \\enable builtin printf source declare trap exec unset kill cd export`)
  if (call.secrets) after.push(call.secrets.epilogue)
  after.push(report(marks, 'E', call.number, '"$__cerith_rc" "$-" "${PWD-}" ""'))
  if (names.length > 0) after.push(`\\builtin unset -v ${names.join(' ')}; \\builtin source ${quoteWord(call.savedEnvFile)}`)
  if (call.traps) after.push(`{ \\builtin printf '%s\\0' @${marks.nonce} X ${call.number}; \\builtin trap -p EXIT; \\builtin printf '\\0%s\\0' ${marks.nonce}@; } >${marks.report}`)
  // Everything after the command is out of sight of `set -x`.
  return [...before, guarded].join('; ') + `; { ${after.join('; ')}; } 2>/dev/null\n`
}

/** The end of the sourced file: status, `$_` and the pipeline's stages, taken before anything can change them. */
export function trailer(number: number, marks: Marks): string {
  const kept = `__cerith_p${marks.nonce.slice(0, 8)}`
  return `\n{ ${kept}=("$?" "$_" "\${PIPESTATUS[@]}"); ${report(marks, 'T', number, `"\${${kept}[0]}" "$-" "\${PWD-}" "\${${kept}[1]:0:1000}" "\${${kept}[@]:2}"`)}; \\builtin return "\${${kept}[0]}"; } 2>/dev/null\n`
}

/** After an interrupt: stderr back in its place, our traps installed again, and a word that the shell is ready. */
export function recoverLine(number: number, marks: Marks, userExit: string | null): string {
  return `{ [[ \${__cerith_e-} ]] && \\exec 2>&"$__cerith_e" {__cerith_e}>&-; } ; { \\builtin unset -v __cerith_e; ${installTraps(marks, userExit)}; ${report(marks, 'R', number, '"$-" "${PWD-}"')}; } 2>/dev/null\n`
}

export function dumpLine(number: number, marks: Marks): string {
  return `{ ${dumpCode(marks)}; ${report(marks, 'D', number, '""')}; } 2>/dev/null\n`
}

export function restoreLine(number: number, file: string, marks: Marks): string {
  return `{ \\builtin source ${quoteWord(file)} </dev/null >/dev/null; ${installTraps(marks, null)}; ${report(marks, 'R', number, '"$-" "${PWD-}"')}; } 2>/dev/null\n`
}

/** A shell whose command was moved to the background leaves with that command's status. */
export const LEAVE_LINE = '\\builtin exit "$__cerith_rc"\n'

function report(marks: Marks, kind: string, number: number, fields: string): string {
  return `\\builtin printf '%s\\0' @${marks.nonce} ${kind} ${number} ${fields} ${marks.nonce}@ >${marks.report}`
}
