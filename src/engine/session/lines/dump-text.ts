/** How a shell writes its state down, by builtins only. `shell/dump.ts` reads it. */
import { quoteWord } from '../../../contract/quote.js'
import { HUSHED, type DumpMarks } from './marks.js'

/** The first word of a dump, and so part of the EXIT trap that writes one. */
export const STATE_BEGINS = 'cerith-state'

/** When a dump was written: as the shell left, behind a command, or before the command of a number. */
export const LEAVING = 'leaving'
export const AFTER = 'after'
export function before(number: number): string {
  return `before${number}`
}

export const SECTIONS: readonly (readonly [name: string, code: string])[] = [
  ['variables', 'declare -p'],
  ['functions', 'declare -f'],
  ['functionNames', 'declare -F'],
  ['aliases', 'alias -p'],
  // One write instead of one for each option. (BASHOPTS is not always true: GLOBIGNORE and
  // POSIX mode change more than it says.)
  ['options', `printf %s "$SHELLOPTS"`],
  ['shopts', 'shopt -s -p'],
  ['umask', 'umask -p'],
  ['traps', 'trap -p'],
  ['disabled', 'enable -n'],
  ['hashed', 'hash -l'],
  ['completions', 'complete -p'],
  ['clock', `printf '%s %(%s)T' "$SECONDS" -1`],
  ['positional', `printf '%q\\n' "$#" "$@"`],
  // Not by DIRSTACK: bash would show that it has been looked at.
  ['directories', 'dirs -l -p'],
  ['cwd', 'pwd'],
]

/**
 * Prints everything a successor needs, NUL-separated, by builtins only: no fork. Each part is
 * there even if the builtin before it failed.
 */
export function dumpText(marks: DumpMarks, more: typeof SECTIONS = []): string {
  const body = [...more, ...SECTIONS].map(
    ([name, code]) => `\\builtin printf '\\0${name}\\n'; \\builtin ${code} || \\builtin :`,
  )
  return `{ \\builtin printf '${STATE_BEGINS} ${marks.nonce}'; ${body.join('; ')}; }`
}

/**
 * Makes what was written a whole dump. Never part of a file: a command that could read the seal
 * could write a dump that is believed.
 */
export function dumpEnd(marks: DumpMarks, mark: string): string {
  const proof = mark === LEAVING ? marks.farewell : marks.seal
  return `\\builtin printf '\\0end ${proof} ${mark}\\0'`
}

/**
 * The whole dump of a shell that leaves, into the pipe. A restricted one (`set -r`) may name no file to write to, so
 * that a program does it.
 */
export function dumpLeaving(marks: DumpMarks, more: typeof SECTIONS = []): string {
  const text = `__cerith_t${marks.nonce.slice(0, 8)}`
  const print = `\\builtin eval "$${text}"`
  const usual = `[[ $- == *r* ]] || ${print} >${marks.state} || \\builtin :`
  const restricted = `[[ $- != *r* ]] || ${print} | \\builtin command dd of=${marks.state} || \\builtin :`
  return (
    `{ ${text}=${quoteWord(`${dumpText(marks, more)}; ${dumpEnd(marks, LEAVING)}`)}; ${usual}; ${restricted}; ` +
    `\\builtin unset -v ${text}; } ${HUSHED}`
  )
}
