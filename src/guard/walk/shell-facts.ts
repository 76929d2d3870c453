/**
 * What a command can do to the shell that carries it out, read from its syntax tree. No program
 * can change a shell: only bash's own words, functions and aliases can, and expansions that
 * assign. What the tree does not show counts as able to do anything.
 */
import type { AndOr, Command, ParsedScript, PipelineNode } from 'unbash'
import type { ProgramStep, ShellFacts } from '../../contract/verdict.js'
import { BUILTINS, constantOf, ShellReader } from './shell-reader.js'

/** Of a text that cannot be read. */
export const UNKNOWN_SHELL_FACTS: ShellFacts = {
  words: [],
  harmless: false,
  clear: false,
  dynamic: true,
  builtinsOnly: false,
  leavesChildren: true,
  programs: null,
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
    programs: plainPrograms(script, text),
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
 * Programs and their words, in pipelines and lists: bash has only to start them. Null where anything else is to be
 * done: an expansion, a file, a builtin, a subshell, the background.
 */
function plainPrograms({ commands, errors }: ParsedScript, text: string): readonly ProgramStep[] | null {
  // `!` is history to an interactive shell.
  if (errors?.length || text.includes('!')) return null
  const steps: ProgramStep[] = []
  for (const { command, background } of commands) if (background || !addNode(command, ';', steps)) return null
  return steps.length > 0 ? steps : null
}

function addNode(node: PipelineNode | AndOr, joint: ProgramStep['joint'], steps: ProgramStep[]): boolean {
  switch (node.type) {
    case 'Command':
      return addStep(node, joint, steps)
    case 'AndOr':
      return node.commands.every((one, at) => addNode(one, at === 0 ? joint : (node.operators[at - 1] ?? ';'), steps))
    case 'Pipeline':
      return (
        node.prefixes.length === 0 &&
        node.operators.every((operator) => operator === '|') &&
        node.commands.every((one, at) => addNode(one, at === 0 ? joint : '|', steps))
      )
    default:
      return false
  }
}

function addStep({ name, prefix, suffix }: Command, joint: ProgramStep['joint'], steps: ProgramStep[]): boolean {
  const program = name && constantOf(name)
  // `time` is a word of bash's own in most places.
  if (!program || name.text !== program || BUILTINS.has(program) || /^-|^time$/.test(program) || prefix.length > 0)
    return false
  let words = program
  let stderr: ProgramStep['stderr'] = 'kept'
  for (const one of suffix) {
    if (one.type === 'Word' && constantOf(one) !== null && !/\n|\\$/.test(one.text)) words += ` ${one.text}`
    else if (one.type !== 'Redirect' || stderr !== 'kept') return false
    else if (one.descriptor?.type !== 'FileDescriptor' || one.descriptor.value !== 2) return false
    else if (one.operator === '>&' && one.target?.text === '1') stderr = 'joined'
    else if (one.operator === '>' && one.target?.text === '/dev/null') stderr = 'dropped'
    else return false
  }
  steps.push({ joint, program, words, stderr })
  return true
}
