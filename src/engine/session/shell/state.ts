/** The state of a shell as text: parsed from what bash wrote down, made into code that gives it to a successor without running any of the agent's. */
import { judgeVariable } from '../../../env/filter.js'
import { isBindingVariable } from '../../../secrets/deliver/binding.js'
import { quoteWord } from '../../plan/quote.js'

export interface ShellState {
  readonly variables: readonly Declaration[]
  readonly functions: string
  readonly exportedFunctions: readonly string[]
  readonly aliases: string
  readonly shopts: readonly string[]
  readonly options: readonly string[]
  readonly umask: string
  readonly traps: readonly { readonly text: string; readonly signal: string }[]
  /** `$#`, then `$1`, `$2` ... as bash quoted them. */
  readonly positional: readonly string[]
  /** As `dirs` lists them, the current one first. */
  readonly directories: readonly string[]
  readonly cwd: string
}

export interface Declaration {
  readonly name: string
  readonly flags: string
  /** The whole `declare` line as bash printed it: quoted by bash, safe to be read by bash again. */
  readonly text: string
}

/** The first word of what a shell writes down, and so part of our trap that does it. */
export const STATE_BEGINS = 'cerith-state'

/** By which a dump is told from the one before it. */
export function markOf(dump: string): number {
  return Number(dump.slice(dump.lastIndexOf('\0') + 1))
}

/** Null when the text is not a whole dump (torn by a crash, or foreign). */
export function parseState(dump: string): ShellState | null {
  const parts = dump.split('\0')
  if (parts[0] !== STATE_BEGINS || parts.length < 14 || parts[12] !== 'end') return null
  const [, variables, functions, functionNames, aliases, shopts, options, umask, traps, positional, directories, cwd] =
    parts as string[]
  return {
    variables: parseDeclarations(variables as string),
    functions: functions as string,
    exportedFunctions: lines(functionNames)
      .map((line) => /^declare -\S*x\S* (.+)$/.exec(line)?.[1])
      .filter((name) => name !== undefined),
    aliases: aliases as string,
    shopts: lines(shopts),
    options: lines(options),
    umask: (umask as string).trim(),
    traps: parseTraps(traps as string),
    positional: lines(positional),
    directories: lines(directories),
    // As `pwd` prints it: what the shell knows, whatever became of `$PWD`.
    cwd: (cwd as string).replace(/\n$/, ''),
  }
}

/** Set by bash itself, or meaningless in another process. */
const OF_THE_SHELL =
  /^(?:BASH|BASHOPTS|BASHPID|BASH_.*|COMP_.*|COPROC.*|DIRSTACK|EPOCHREALTIME|EPOCHSECONDS|EUID|FUNCNAME|GROUPS|HISTCMD|HOSTNAME|HOSTTYPE|LINENO|MACHTYPE|OPTERR|OSTYPE|PIPESTATUS|PPID|PS1|PS4|PWD|RANDOM|SECONDS|SHELLOPTS|SHLVL|SRANDOM|UID|HISTFILE|HISTFILESIZE|HISTSIZE|HISTCONTROL|MAILCHECK|TMOUT|PS0|PS2|POSIXLY_CORRECT|PROMPT_COMMAND|BASH_ENV|ENV|_|CERITH_ENGINE)$/
/** Different at every look, and of no use to the guard. */
const VARYING =
  /^(?:_|BASHPID|BASH_COMMAND|BASH_ARGV0|BASH_SUBSHELL|COLUMNS|EPOCH\w+|HISTCMD|LINENO|LINES|PWD|S?RANDOM|SECONDS|__cerith\w*)$/
/** A restored shell must not die of what killed its predecessor, nor become interactive in other ways than ours. */
const LEFT_OUT_OPTIONS =
  /\b(?:errexit|noexec|history|histexpand|emacs|vi|monitor|notify|interactive-comments|ignoreeof|onecmd|privileged|posix|xtrace|verbose)\b/
const LEFT_OUT_SHOPTS =
  /\b(?:login_shell|restricted_shell|checkwinsize|huponexit|checkjobs|progcomp\w*|hostcomplete|force_fignore|complete_fullquote|cmdhist|lithist|histappend|histreedit|histverify|mailwarn|promptvars)\b/

/** Bash code for the successor. `initial` names what it inherits: anything of that which is no longer set is unset. */
export function restoreCode(state: ShellState, initial: readonly string[]): string {
  const kept = state.variables.filter((variable) => isOurs(variable) && isCarriedOn(variable))
  const alive = new Set(state.variables.map(({ name }) => name))
  const gone = initial.filter((name) => !alive.has(name) && !OF_THE_SHELL.test(name) && /^[A-Za-z_]\w*$/.test(name))
  const lines = [
    ...state.shopts.filter((line) => /^shopt -[su] \w+$/.test(line) && !LEFT_OUT_SHOPTS.test(line)),
    ...(gone.length > 0 ? [`unset -v ${gone.join(' ')}`] : []),
    ...kept.flatMap(restoreVariable),
    ...(/^umask [0-7]+$/.test(state.umask) ? [state.umask] : []),
    `cd -- ${quoteWord(state.cwd)}`,
    // OLDPWD comes from the cd above; `cd -` shall go where it would have gone.
    ...kept.filter(({ name }) => name === 'OLDPWD').map(({ text }) => text),
    ...state.directories
      .slice(1)
      .filter((dir) => dir.startsWith('/'))
      .toReversed()
      .map((dir) => `pushd -n ${quoteWord(dir)}`),
    ...(state.positional.length > 1 ? [`set -- ${state.positional.slice(1).join(' ')}`] : []),
    ...state.options.filter((line) => /^set [-+]o [\w-]+$/.test(line) && !LEFT_OUT_OPTIONS.test(line)),
    // Behind another word `name=(...)` is no assignment but a syntax error, so arrays need the bare word.
  ].map((line) => (/^declare -\w*[aA]/.test(line) ? line : `\\builtin ${line}`))
  // DEBUG and RETURN would go off during the rest of this; the next command gets them from the session. EXIT has run.
  const traps = state.traps
    .filter(({ signal }) => !/^(?:EXIT|DEBUG|RETURN|XFSZ)$/.test(signal) && !signal.includes('RTMIN+9'))
    .map(({ text }) => `\\builtin ${text}`)
  return [
    ...lines,
    state.functions,
    ...state.exportedFunctions.map((name) => `\\builtin declare -fx ${quoteWord(name)}`),
    ...aliasLines(state.aliases),
    ...traps,
    '',
  ].join('\n')
}

/** Exported names that a successor does not get: what the environment filter keeps from a fresh shell does not come back through a session either. */
export function namesLeftBehind(state: ShellState, initial: readonly string[]): string[] {
  return state.variables
    .filter((variable) => isOurs(variable) && !isCarriedOn(variable) && !initial.includes(variable.name))
    .map(({ name }) => name)
}

/** The dump as it may lie on a disk: without what a successor does not get, and without any known secret. */
export function withoutSecrets(dump: string, mask: (text: string) => string): string {
  const state = parseState(dump)
  if (!state) return ''
  const parts = dump.split('\0')
  parts[1] = state.variables
    .filter((variable) => isOurs(variable) && isCarriedOn(variable) && mask(variable.text) === variable.text)
    .map(({ text }) => text)
    .join('\n')
  for (const at of [2, 4, 8, 9]) parts[at] = mask(parts[at] as string)
  return parts.join('\0')
}

function isOurs({ name }: Declaration): boolean {
  return !OF_THE_SHELL.test(name) && !isBindingVariable(name) && !name.startsWith('__cerith')
}

function isCarriedOn({ name, flags, text }: Declaration): boolean {
  return !flags.includes('x') || judgeVariable(name, valueOf(text) ?? '', 'session').keep
}

/** An integer variable evaluates what it is given, and the text of an array index can be a command: the value comes first, the attribute after. */
function restoreVariable({ name, flags, text }: Declaration): string[] {
  if (!flags.includes('i')) return [text]
  const others = flags.replace(/[ir-]/g, '')
  return [
    text.replace(/^declare -\S+/, `declare ${others ? `-${others}` : '--'}`),
    `declare -i${flags.includes('r') ? 'r' : ''} ${name}`,
  ]
}

function aliasLines(text: string): string[] {
  return aliasesOf(text).map(([name, value]) => `\\builtin alias -- ${quoteWord(`${name}=${value}`)}`)
}

function aliasesOf(text: string): [string, string][] {
  return [...text.matchAll(/^alias (?:-- )?([^=\s]+)='((?:[^']|'\\'')*)'$/gm)].map((match) => [
    match[1] as string,
    (match[2] as string).replaceAll(String.raw`'\''`, "'"),
  ])
}

export interface Knowledge {
  readonly variables: Record<string, string>
  readonly functions: Record<string, string>
  readonly aliases: Record<string, string>
}

/** What the guard may know: constant strings, functions and aliases. */
export function knowledge(state: ShellState): Knowledge {
  const variables: Record<string, string> = {}
  for (const { name, flags, text } of state.variables) {
    if (/[aAn]/.test(flags) || VARYING.test(name)) continue
    const value = valueOf(text)
    if (value !== null && value.length <= 4_096 && !isBindingVariable(name)) variables[name] = value
  }
  const functions: Record<string, string> = {}
  // Behind the brace may be redirections of the whole function.
  for (const match of state.functions.matchAll(/^(\S+) \(\) ?\n([\s\S]*?^\}(?: .*)?)$/gm))
    functions[match[1] as string] = match[2] as string
  return { variables, functions, aliases: Object.fromEntries(aliasesOf(state.aliases)) }
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
  const simple: Record<string, string> = {
    n: '\n',
    t: '\t',
    r: '\r',
    a: '\x07',
    b: '\b',
    e: '\x1b',
    E: '\x1b',
    f: '\f',
    v: '\v',
  }
  return ansi.replaceAll(/\\(?:([0-7]{1,3})|([\s\S]))/g, (_, octal: string | undefined, letter: string | undefined) =>
    octal ? String.fromCharCode(Number.parseInt(octal, 8)) : (simple[letter as string] ?? (letter as string)),
  )
}

function parseTraps(text: string): { text: string; command: string; signal: string }[] {
  return [...text.matchAll(/^(trap -- '((?:[^']|'\\'')*)' (\S+))$/gm)].map((match) => ({
    text: match[1] as string,
    command: (match[2] as string).replaceAll(String.raw`'\''`, "'"),
    signal: (match[3] as string).replace(/^SIG/, ''),
  }))
}

interface Traps {
  readonly exit: string | null
  readonly debug: string | null
  readonly return: string | null
  readonly errTrap: boolean
  /** For signals. */
  readonly others: boolean
}

/** The agent's traps, those of the kinds that concern our own lines as it wrote them. */
export function trapsOf(text: string): Traps {
  const commands = new Map(parseTraps(text).map(({ command, signal }) => [signal, command]))
  const exit = commands.get('EXIT') ?? null
  return {
    exit: exit?.includes(STATE_BEGINS) ? null : exit,
    debug: commands.get('DEBUG') ?? null,
    return: commands.get('RETURN') ?? null,
    errTrap: commands.has('ERR'),
    others: [...commands.keys()].some(
      (signal) => !/^(?:EXIT|DEBUG|RETURN|ERR|XFSZ)$/.test(signal) && !signal.includes('RTMIN+9'),
    ),
  }
}

/** Whether a shell with this state may set traps, or have an ERR trap, without a word of it in the next command. */
export function hasTraps(state: ShellState): boolean {
  return state.traps.length > 3 || mentionsTraps(state)
}

/** Also what runs text from elsewhere. */
const MAY_TRAP = /\b(?:trap|eval|source)\b|(?:^|[\s;&|(){}!`'])\.\s/m

export function mentionsTraps({ functions, aliases }: ShellState): boolean {
  return MAY_TRAP.test(functions) || MAY_TRAP.test(aliases)
}

function lines(text: string | undefined): string[] {
  return (text ?? '').split('\n').filter((line) => line !== '')
}
