/**
 * What a command can do to the shell that carries it out, read from its syntax tree. No program
 * can change a shell: only bash's own words, functions and aliases can, and expansions that
 * assign. What the tree does not show counts as able to do anything.
 */
import type { ParsedScript } from 'unbash'
import type { ShellFacts } from '../../contract/verdict.js'
import { BUILTINS, constantOf, ShellReader } from './shell-reader.js'

/** Of a text that cannot be read. */
export const UNKNOWN_SHELL_FACTS: ShellFacts = {
  words: [],
  harmless: false,
  clear: false,
  dynamic: true,
  builtinsOnly: false,
  leavesChildren: true,
  oneProgram: false,
  whole: false,
  empty: false,
  setsTraps: true,
  listsTraps: true,
  mentionsErr: true,
  hidesBuiltins: true,
  movesStreams: true,
  movesStdin: true,
  looksAtLast: true,
  looksAtStatus: true,
  looksAtStages: true,
  mayEndShell: true,
  turnsVerbose: true,
}

/** What ends a shell though nothing in the command changes it: programs that send signals, with its number. */
const ENDS = /\b(?:kill|pkill|killall)\b|\$\$|BASHPID/
const MAY_END =
  /\b(?:exec|kill|pkill|killall|ulimit|enable|suspend)\b|\bset\b[^;|&]*-\w*t|\bonecmd\b|\$\$|BASHPID|<&|>&-/

export function shellFacts(script: ParsedScript | undefined, text: string): ShellFacts {
  if (!script) return UNKNOWN_SHELL_FACTS
  const reader = new ShellReader()
  reader.statements(script.commands, true)
  const { clear } = reader
  const harmless = reader.harmless && clear
  // Also in a process of its own: a subshell lists the traps of its parent.
  const maySetTraps = !clear || reader.named.has('trap')
  return {
    words: [...reader.words],
    harmless,
    clear,
    dynamic: reader.dynamic,
    builtinsOnly: reader.builtinsOnly,
    leavesChildren: reader.leavesChildren,
    oneProgram: isOneProgram(script, text),
    whole: reader.whole,
    empty: script.commands.length === 0,
    // A word that stands in the text of a command which cannot do it is only a word.
    setsTraps: maySetTraps && /\btrap\b/.test(text),
    listsTraps: maySetTraps && /\btrap\b(?=\s*(?:-[a-z]*p|[;|&)>\n]|$))/.test(text),
    mentionsErr: maySetTraps && /\bERR\b/i.test(text),
    hidesBuiltins: !clear && /\b(?:builtin|enable)\b/.test(text),
    movesStreams: !clear && /\bexec\b/.test(text),
    movesStdin: !clear && /\bexec\b[^\n]*</.test(text),
    looksAtLast: /\$(?:_\b|\{_)/.test(text),
    looksAtStatus: text.includes('$?') || text.includes('${?'),
    looksAtStages: text.includes('PIPESTATUS'),
    mayEndShell: (harmless ? ENDS : MAY_END).test(text),
    turnsVerbose: !harmless && /\bset\b[^;|&\n]*-\w*v|\bverbose\b/.test(text),
  }
}

/**
 * One program and words that are what they look like, on the streams of the shell: nothing for
 * bash to do but to start it.
 */
function isOneProgram(script: ParsedScript, text: string): boolean {
  const [only, ...others] = script.commands
  if (!only || others.length > 0 || only.background || only.command.type !== 'Command') return false
  const { name, prefix, suffix, pos, end } = only.command
  // Nothing around it either: a comment would swallow what is typed behind it, and `!` is
  // history to an interactive shell.
  if (text.trim().length !== end - pos || /[!\\]$|!/.test(text)) return false
  const word = name && constantOf(name)
  if (!word || name.text !== word || BUILTINS.has(word) || word.startsWith('-') || prefix.length > 0) return false
  return suffix.every((one) => {
    if (one.type === 'Word') return constantOf(one) !== null && !one.text.includes('\n')
    return (
      one.type === 'Redirect' &&
      one.operator === '>&' &&
      one.descriptor?.type === 'FileDescriptor' &&
      one.descriptor.value === 2 &&
      one.target?.text === '1'
    )
  })
}
