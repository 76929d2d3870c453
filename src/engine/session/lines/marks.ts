/**
 * What the lines of a session call their own: the names of its variables and files, how a variable of the agent's is
 * kept and given back, and how a report is written.
 */
import { quoteWord } from '../../../contract/quote.js'

/** What `native/bash` is loaded as. */
export const LOADED = '__cerith'

/**
 * No common program uses it, and the kernel queues it. Counted from the last one: where real-time signals begin,
 * libraries differ (34 for glibc, 35 for musl), and a shell whose handler has another number would end by this one.
 */
export const STOP_SIGNAL = 55
export const STOP_NAME = 'RTMAX-9'

/** Where a shell writes its state, and what marks it. */
export interface DumpMarks {
  /** Stands in files, where a command can read it: it begins a dump, and proves nothing. */
  readonly nonce: string
  /** Ends a dump behind, or before, a command. It stands in typed lines and in the builtin's memory only. */
  readonly seal: string
  /**
   * Ends the dump of a shell that leaves. It stands in the session's EXIT trap: only code that
   * the shell itself runs can see it.
   */
  readonly farewell: string
  /** The writing end of the pipe. */
  readonly state: string
}

/**
 * `nonce` is part of the names of the session's own variables: a command can see it. `seal`
 * also marks reports: what imitates one does not know it.
 */
export interface Marks extends DumpMarks {
  /** Opened by name for every report of bash's own, so that no program ever inherits a descriptor of it. */
  readonly report: string
  /** All files of one shell begin like this. */
  readonly files: string
}

/**
 * Files of a shell: commands go in, state comes out. The builtin knows those of `command` and `settle` by name.
 */
export const fileOf = {
  command: ({ files }: Marks) => `${files}.command`,
  setUp: ({ files }: Marks) => `${files}.setup`,
  /** Takes away what bash would act upon, or show, at its prompt. */
  settle: ({ files }: Marks) => `${files}.settle`,
  /** Reports the end of a command that was sourced; its argument is the seal. */
  end: ({ files }: Marks) => `${files}.end`,
  dump: ({ files }: Marks) => `${files}.dump`,
  /** Ends a shell whose command has gone on without the session. */
  leave: ({ files }: Marks) => `${files}.leave`,
  /** The agent's traps as a command left them. */
  traps: ({ files }: Marks) => `${files}.traps`,
  /** Says that they are written down; its name goes on with those of RETURN and DEBUG that the command was given. */
  noted: ({ files }: Marks) => `${files}.noted`,
  /** A function of the agent's while a line needs the builtin of its name. */
  aside: ({ files }: Marks) => `${files}.aside`,
  /** The agent's INT trap while an interrupt of the session's is on its way. */
  interrupt: ({ files }: Marks) => `${files}.interrupt`,
} as const

export const own = (marks: Marks, what: string): string => `__cerith_${what}${marks.nonce.slice(0, 8)}`
export const keptAs = (marks: Marks, name: string): string => own(marks, `v_${name}_`)
export const source = (file: string): string => `\\builtin . ${quoteWord(file)}`

/** Keeps a variable, in memory, as text that makes it again; empty where it is not set. */
export const keepVariable = (marks: Marks, name: string): string => `${keptAs(marks, name)}=\${${name}[@]@A}`

/**
 * Makes it again. Bash takes `name=(...)` behind no word but a bare `declare`, so the
 * attributes come first and the value after.
 */
export function giveBack(marks: Marks, name: string): string {
  const kept = keptAs(marks, name)
  const value = own(marks, 'a')
  const flags = own(marks, 'f')
  // `declare -rx NAME=VALUE` becomes `rx ` and `NAME=VALUE`; a plain variable has no flags.
  const split = `${value}=\${${kept}#declare * }; ${flags}=\${${kept}%"$${value}"}; ${flags}=\${${flags}#declare -}`
  const declare = `\\\\builtin declare -g\${${flags}/r/} ${name};`
  const lock = `;\\\\builtin declare -g\${${flags}} ${name}`
  const again = `\\builtin eval "\${${flags}:+${declare}} $${value} \${${flags}:+${lock}}"`
  return `[[ -z \${${kept}-} ]] || { ${split}; ${again}; }; \\builtin unset -v ${kept} ${value} ${flags}`
}

export function report(marks: Marks, kind: string, number: number, fields: string): string {
  return `\\builtin printf '%s\\0' @${marks.seal} ${kind} ${number} ${fields} ${marks.seal}@ >${marks.report}`
}

/**
 * A status that is not zero would set off an ERR trap of the agent's, or end a shell with
 * `set -e`, except on the left side of a list.
 */
export const UNNOTICED = ' || \\builtin :'

/**
 * Nothing that a line of the session's would say is seen. To read: a restricted shell (`set -r`) may open no file to
 * write to, and a descriptor that is closed would be the next file that a trap of the agent's opens.
 */
export const HUSHED = '2</dev/null'

/**
 * Nor anything that a trap of the agent's says of such a line (DEBUG). It must be able to say it: under `extdebug` a
 * trap that fails keeps bash from the line. So both streams lead to /dev/null to write, but in a restricted shell,
 * where they are to read: `$-` as a number of 36 digits is zero where it has no `r`, and BASH_VERSINFO has an entry 0,
 * not 99.
 */
const RESTRICTED = '36#0${-//[^r]/0}'
export const UNHEARD = `${HUSHED} >&"\${BASH_VERSINFO[${RESTRICTED}]:+/dev/null}\${BASH_VERSINFO[99*(${RESTRICTED}<1)]:+0}"`

/**
 * Takes the line of the session's that bash has just noted out of the history: `-s` puts its word in the place of that
 * line. (After a mere `-d` the next `-s` would take the place of the agent's last command.)
 */
export const UNNOTE = `\\builtin history -s ${LOADED}; \\builtin history -d -1`
