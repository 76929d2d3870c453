/** What is to be said to a session's shell for one call, before it is put into lines of bash. */
import type { ProgramStep } from '../../../contract/verdict.js'

/** A descriptor of the shell, and the path on which it has to be opened before the next command. */
export interface Redirect {
  readonly fd: number
  readonly path: string
}

/**
 * The agent's traps that the session's own lines must not set off, or that the session's own traps replace for a while.
 */
export interface UserTraps {
  readonly exit: string | null
  readonly debug: string | null
  readonly return: string | null
}

/** Which of the session's own traps stay while a command runs. */
interface TrapCare {
  /** The command may look at them: none does. */
  readonly listed: boolean
  /** It neither looks at traps nor sets any: a shell that it ends writes its state down, as without traps. */
  readonly exitStays: boolean
}

/** What a command needs that its lines of bash depend on. */
interface TextNeeds {
  /**
   * Set when the agent uses traps; the session's own are then removed for the command, and the
   * agent's are read after it.
   */
  readonly traps: (UserTraps & TrapCare) | null
  /** None are known, but there may be some afterwards: it may set traps without a word of it. */
  readonly watchTraps: boolean
  /** What `$_` shall be at the start; null when nothing in the command looks at it. */
  readonly lastArgument: string | null
  /** What `PIPESTATUS` shall be at the start; null when nothing in the command looks at it. */
  readonly stages: readonly number[] | null
  /** It cannot change anything that the shell remembers. */
  readonly inert: boolean
  /** Programs with their words, which the builtin may start; null where it is more than that. */
  readonly programs: readonly ProgramStep[] | null
  /** Nothing that the builtin does not do has to be done around it. */
  readonly native: boolean
  /** It may point stdin somewhere else for good. */
  readonly keepStdin: boolean
  readonly prompts: boolean
  readonly xtrace: boolean
  /** Bash shows every line that it reads, also the session's own: it does already, or the command makes it so. */
  readonly verbose: 'no' | 'begins' | 'yes'
}

/** What a command needs to be run with. */
export interface CallNeeds extends TextNeeds {
  readonly looksAtStatus: boolean
  /** It can have started no process that is still there. */
  readonly childless: boolean
  /** Bash waits for every process that it starts; one of them may still leave another behind. */
  readonly waits: boolean
  /** It prints nothing unless it fails. */
  readonly silent: boolean
  /** The shell may end because of it, though not at once. */
  readonly risky: boolean
}

export interface CallText extends TextNeeds {
  readonly script: string
  /** False when the end of the script may swallow a line behind it (a here-document without its end). */
  readonly whole: boolean
  /**
   * An alias may replace words of the session's own lines: none of those words is put into the command's file.
   */
  readonly bare: boolean
  /** Null: what the shell's stdin was made by an earlier `exec <file`. */
  readonly stdin: string | null
  readonly merged: boolean
  /** Descriptors that are opened anew first (a process of an earlier call still holds the old pipes). */
  readonly redirects: readonly Redirect[]
  readonly cwd: string | null
  readonly env: Readonly<Record<string, string>>
  readonly secrets: { readonly prelude: string; readonly epilogue: string } | null
  /** What `$?` shall be at the start; 0 when nothing in the command looks at it. */
  readonly status: number
  readonly errTrap: boolean
  /** Write the state down first, with this mark; null where it is known. */
  readonly dumpFirst: number | null
  /** Where bash shows what it does under `set -x`; null: on stderr. */
  readonly traceFd: string | null
  /** The shell has the builtin, whatever does the command. */
  readonly hasBuiltin: boolean
  /** The command may have shadowed or disabled the builtins that the session's own lines use. */
  readonly repairBuiltins: boolean
}

/** Of what the builtin does: nothing depends on the moment, and the same text does it again on the same streams. */
export function isRepeatable(call: CallText): boolean {
  return isPlain(call) && !call.merged && call.redirects.length === 0 && call.dumpFirst === null
}

export function reportsTraps(call: CallText): boolean {
  return call.traps !== null || call.watchTraps
}

/** A command that cannot have changed the shell needs nothing looked after behind it; it pays for its report only. */
export function isPlain(call: CallText): boolean {
  return call.inert && call.whole && isUsual(call)
}

/** Nothing has to be said or done around it. */
export function isUsual(call: CallText): boolean {
  return (
    call.cwd === null &&
    !call.xtrace &&
    call.verbose === 'no' &&
    !reportsTraps(call) &&
    !call.errTrap &&
    !call.prompts &&
    !call.secrets &&
    !call.repairBuiltins &&
    Object.keys(call.env).length === 0
  )
}
