/** The ways to have a command done, and the one choice between them. */
import { isRepeatable, isUsual, type CallText } from './call-text.js'
import { commandFileText, commandHead } from './command-file.js'
import { nativeLine, programLine, sourcedLines } from './lines.js'
import type { Marks } from './marks.js'
import { OwnWords } from './own-words.js'

const LONGEST_TYPED = 2_000

/**
 * `native`: the builtin does it and reports its end. `sourced`: bash does both by itself, with whatever else has to be
 * said around the command.
 */
export type Way = 'native' | 'sourced'

export function chooseWay(call: CallText): Way {
  const isNative =
    call.hasBuiltin &&
    call.native &&
    !call.bare &&
    isUsual(call) &&
    call.stdin === '/dev/null' &&
    !call.keepStdin &&
    call.stages === null &&
    call.lastArgument === null
  return isNative ? 'native' : 'sourced'
}

/** A command as a shell is given it. */
export interface CommandLine {
  readonly way: Way
  readonly line: Uint8Array
  /** The text of the command file; null when the words stand in the line. */
  readonly file: string | null
  /** What bash would quote of that file with a mistake in the command, where something stands before it. */
  readonly own?: OwnWords
  /** How to do it when the builtin declines. */
  readonly fallback: (() => CommandLine) | null
}

export function commandLine(
  call: CallText,
  shell: { readonly marks: Marks; readonly hasBuiltin: boolean },
): CommandLine {
  const { marks } = shell
  const way = chooseWay(call)
  if (way === 'sourced') {
    const head = commandHead(call, marks)
    const line = Buffer.from(sourcedLines(call, marks))
    const given = { way, line, file: commandFileText(call, head, marks), fallback: null }
    return head === '' ? given : { ...given, own: new OwnWords(marks, head) }
  }
  const fallback = (): CommandLine =>
    commandLine({ ...call, native: false, hasBuiltin: shell.hasBuiltin && call.hasBuiltin }, shell)
  // Programs and their words need no file, and no copy of bash. Bash reads a line byte by byte, a file at once.
  return call.programs && isRepeatable(call) && call.script.length <= LONGEST_TYPED
    ? { way, line: Buffer.from(programLine(call.programs, marks)), file: null, fallback }
    : { way, line: Buffer.from(nativeLine(call, marks)), file: call.script, fallback }
}
