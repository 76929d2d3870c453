/** The state of a shell as text: parsed from what bash wrote down, made into code that gives it to a successor without running any of the agent's. */
import { judgeVariable } from '../env/filter.js'
import { isBindingVariable } from '../secrets/binding.js'
import { quoteWord } from './quote.js'

export interface ShellState {
  readonly variables: readonly Declaration[]
  readonly functions: string
  readonly exportedFunctions: readonly string[]
  readonly aliases: string
  readonly shopts: readonly string[]
  readonly options: readonly string[]
  readonly umask: string
  readonly traps: readonly { readonly text: string; readonly signal: string }[]
  readonly cwd: string
}

export interface Declaration {
  readonly name: string
  readonly flags: string
  /** The whole `declare` line as bash printed it: quoted by bash, safe to be read by bash again. */
  readonly text: string
}

/** Null when the text is not a whole dump (torn by a crash, or foreign). */
export function parseState(dump: string): ShellState | null {
  const parts = dump.split('\0')
  if (parts[0] !== 'cerith-state' || parts.length < 12 || parts[10] !== 'end') return null
  const [, variables, functions, functionNames, aliases, shopts, options, umask, traps, cwd] = parts as string[]
  return {
    variables: parseDeclarations(variables as string),
    functions: functions as string,
    exportedFunctions: lines(functionNames).map((line) => /^declare -\S*x\S* (.+)$/.exec(line)?.[1]).filter((name) => name !== undefined),
    aliases: aliases as string,
    shopts: lines(shopts),
    options: lines(options),
    umask: (umask as string).trim(),
    traps: parseTraps(traps as string),
    cwd: cwd as string,
  }
}

/** Set by bash itself, or meaningless in another process. */
const OF_THE_SHELL = /^(?:BASH|BASHOPTS|BASHPID|BASH_.*|COMP_.*|COPROC.*|DIRSTACK|EPOCHREALTIME|EPOCHSECONDS|EUID|FUNCNAME|GROUPS|HISTCMD|HOSTNAME|HOSTTYPE|LINENO|MACHTYPE|OPTERR|OSTYPE|PIPESTATUS|PPID|PS1|PS4|PWD|RANDOM|SECONDS|SHELLOPTS|SHLVL|SRANDOM|UID|POSIXLY_CORRECT|PROMPT_COMMAND|BASH_ENV|ENV|_|CERITH_ENGINE)$/
/** A restored shell must not die of what killed its predecessor, nor become interactive in other ways than ours. */
const LEFT_OUT_OPTIONS = /\b(?:errexit|noexec|history|histexpand|emacs|vi|monitor|notify|interactive-comments|ignoreeof|onecmd|privileged|posix|xtrace|verbose)\b/
const LEFT_OUT_SHOPTS = /\b(?:login_shell|restricted_shell|checkwinsize|huponexit|checkjobs|progcomp\w*|hostcomplete|force_fignore|complete_fullquote|cmdhist|lithist|histappend|histreedit|histverify|mailwarn|promptvars)\b/

/** Bash code for the successor. `initial` names what it inherits: anything of that which is no longer set is unset. */
export function restoreCode(state: ShellState, initial: readonly string[]): string {
  const kept = state.variables.filter(({ name, flags, text }) => !OF_THE_SHELL.test(name) && !isBindingVariable(name) && !name.startsWith('__cerith') && (!flags.includes('x') || judgeVariable(name, valueOf(text) ?? '', 'session').keep))
  const alive = new Set(state.variables.map(({ name }) => name))
  const gone = initial.filter((name) => !alive.has(name) && !OF_THE_SHELL.test(name) && /^[A-Za-z_]\w*$/.test(name))
  return [
    ...state.shopts.filter((line) => /^shopt -[su] \w+$/.test(line) && !LEFT_OUT_SHOPTS.test(line)).map((line) => `\\builtin ${line}`),
    ...(gone.length > 0 ? [`\\builtin unset -v ${gone.join(' ')}`] : []),
    ...kept.map(({ text }) => `\\builtin ${text}`),
    state.functions,
    ...state.exportedFunctions.map((name) => `\\builtin declare -fx ${quoteWord(name)}`),
    ...(/^umask [0-7]+$/.test(state.umask) ? [`\\builtin ${state.umask}`] : []),
    `\\builtin cd -- ${quoteWord(state.cwd)}`,
    // OLDPWD comes from the cd above; `cd -` shall go where it would have gone.
    ...kept.filter(({ name }) => name === 'OLDPWD').map(({ text }) => `\\builtin ${text}`),
    ...state.options.filter((line) => /^set [-+]o [\w-]+$/.test(line) && !LEFT_OUT_OPTIONS.test(line)).map((line) => `\\builtin ${line}`),
    state.aliases,
    ...state.traps.filter(({ signal }) => signal !== 'EXIT' && !signal.includes('RTMIN+9')).map(({ text }) => `\\builtin ${text}`),
    '',
  ].join('\n')
}

/** What the guard may know: constant strings, functions and aliases. */
export function knowledge(state: ShellState): { variables: Record<string, string>; functions: Record<string, string>; aliases: Record<string, string> } {
  const variables: Record<string, string> = {}
  for (const { name, flags, text } of state.variables) {
    if (/[aAn]/.test(flags)) continue
    const value = valueOf(text)
    if (value !== null && value.length <= 4_096 && !isBindingVariable(name)) variables[name] = value
  }
  const functions: Record<string, string> = {}
  for (const match of state.functions.matchAll(/^(\S+) \(\) ?\n([\s\S]*?)^\}$/gm)) functions[match[1] as string] = `${match[2]}}`
  const aliases: Record<string, string> = {}
  for (const match of state.aliases.matchAll(/^alias (?:-- )?([^=\s]+)='((?:[^']|'\\'')*)'$/gm)) aliases[match[1] as string] = (match[2] as string).replaceAll(String.raw`'\''`, "'")
  return { variables, functions, aliases }
}

function parseDeclarations(text: string): Declaration[] {
  const found: { name: string; flags: string; text: string }[] = []
  for (const line of text.split('\n')) {
    const match = /^declare -([-\w]+) ([A-Za-z_]\w*)(?:=|$)/.exec(line)
    const last = found.at(-1)
    if (match) found.push({ flags: match[1] as string, name: match[2] as string, text: line })
    else if (last && line !== '') last.text += `\n${line}` // An older bash prints newlines as they are.
  }
  return found
}

/** The plain value of `declare -x NAME="..."` or `NAME=$'...'`; null for arrays and unset names. */
export function valueOf(text: string): string | null {
  const quoted = /^declare -\S+ \w+="([\s\S]*)"$/.exec(text)?.[1]
  if (quoted !== undefined) return quoted.replaceAll(/\\([$`"\\])/g, '$1')
  const ansi = /^declare -\S+ \w+=\$'([\s\S]*)'$/.exec(text)?.[1]
  if (ansi === undefined) return null
  const simple: Record<string, string> = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', e: '\x1b', E: '\x1b', f: '\f', v: '\v' }
  return ansi.replaceAll(/\\(?:([0-7]{1,3})|([\s\S]))/g, (_, octal: string | undefined, letter: string | undefined) => (octal ? String.fromCharCode(Number.parseInt(octal, 8)) : (simple[letter as string] ?? (letter as string))))
}

function parseTraps(text: string): { text: string; signal: string }[] {
  const found: { text: string; signal: string }[] = []
  for (const match of text.matchAll(/^(trap -- '(?:[^']|'\\'')*' (\S+))$/gm)) found.push({ text: match[1] as string, signal: (match[2] as string).replace(/^SIG/, '') })
  return found
}

/** The command of `trap -- '...' EXIT` as the agent wrote it; null without one. */
export function trapCommand(text: string): string | null {
  const match = /^trap -- '((?:[^']|'\\'')*)' EXIT$/m.exec(text)
  return match ? (match[1] as string).replaceAll(String.raw`'\''`, "'") : null
}

function lines(text: string | undefined): string[] {
  return (text ?? '').split('\n').filter((line) => line !== '')
}
