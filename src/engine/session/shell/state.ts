/** The state of a shell: read from what bash wrote down. Its texts are bytes (latin1), as bash printed them. */
import type { ShellHoldings } from '../../../contract/verdict.js'
import { isStartHook } from '../../../env/hooks.js'
import { isBindingVariable } from '../../../secrets/deliver/binding.js'
import { quoteWord } from '../../../contract/quote.js'
import { parseDeclarations, valueOf, type Declaration } from './declarations.js'
import { STATE_BEGINS } from '../lines/dump-text.js'
import { STOP_NAME } from '../lines/marks.js'
import { sectionsOf, sectionsText } from './dump.js'

export interface ShellState {
  readonly sections: ReadonlyMap<string, string>
  readonly variables: readonly Declaration[]
  readonly functions: string
  readonly exportedFunctions: readonly string[]
  readonly aliases: string
  /** Names of those that are on: of `set -o`, and of `shopt`. */
  readonly options: readonly string[]
  readonly shopts: readonly string[]
  readonly umask: string
  readonly traps: readonly { readonly text: string; readonly signal: string }[]
  readonly disabled: readonly string[]
  /** The words behind `hash -p`, quoted. */
  readonly hashed: readonly string[]
  /** As `complete -p` prints them. */
  readonly completions: string
  /** `SECONDS`, and when it was read. */
  readonly clock: { readonly seconds: number; readonly at: number } | null
  /** `$#`, then `$1`, `$2` ... as bash quoted them. */
  readonly positional: readonly string[]
  /** As `dirs` lists them, the current one first. */
  readonly directories: readonly string[]
  /** As `pwd` prints it: what the shell knows, whatever became of `$PWD`. */
  readonly cwd: string
  /** What the last command left behind it; only where a shell of its own ran it. */
  readonly last: { readonly status: number; readonly argument: string; readonly stages: readonly number[] } | null
  /** What an earlier process had to leave out of the file that this comes from. */
  readonly missing: readonly string[]
  /** Of a file: the sandbox in which it was made, written by the engine; empty where there was none. */
  readonly madeIn: string
}

/** Null when there is no directory in it: no whole dump of a shell. */
export function parseState(sections: ReadonlyMap<string, string> | null | undefined): ShellState | null {
  const cwd = sections?.get('cwd')?.replace(/\n$/, '')
  if (!sections || !cwd) return null
  const part = (name: string): string => sections.get(name) ?? ''
  const clock = /^(\d+) (\d+)$/.exec(part('clock'))
  const last = /^(\d+) ([\d ]*)\n([\s\S]*)$/.exec(part('last'))
  return {
    sections,
    variables: parseDeclarations(part('variables')),
    functions: part('functions'),
    exportedFunctions: lines(part('functionNames')).flatMap((line) => /^declare -\S*x\S* (.+)$/.exec(line)?.[1] ?? []),
    aliases: part('aliases'),
    options: part('options').split(':').filter(Boolean),
    shopts: lines(part('shopts')).flatMap((line) => /^shopt -s (\w+)$/.exec(line)?.[1] ?? []),
    umask: part('umask').trim(),
    traps: parseTraps(part('traps')),
    // The session's own builtin is no part of what the agent has: each new shell decides by itself whether it has one.
    disabled: lines(part('disabled')).flatMap((line) => /^enable -n (?!__cerith$)(\S+)$/.exec(line)?.[1] ?? []),
    hashed: lines(part('hashed')).flatMap((line) => hashedWords(line) ?? []),
    completions: part('completions'),
    clock: clock ? { seconds: Number(clock[1]), at: Number(clock[2]) } : null,
    positional: lines(part('positional')),
    directories: lines(part('directories')),
    cwd,
    last: last
      ? {
          status: Number(last[1]),
          argument: utf8(last[3] as string),
          stages: (last[2] as string).split(' ').filter(Boolean).map(Number),
        }
      : null,
    missing: lines(part('missing')),
    madeIn: utf8(part('made-in')),
  }
}

/** Set by bash itself, or meaningless in another process. */
export const OF_THE_SHELL =
  /^(?:BASH|BASHOPTS|BASHPID|BASH_(?!COMPAT$).*|COMP_.*|COPROC.*|DIRSTACK|EPOCHREALTIME|EPOCHSECONDS|EUID|FUNCNAME|GROUPS|HISTCMD|HOSTTYPE|LINENO|MACHTYPE|OSTYPE|PIPESTATUS|PPID|PS1|PS4|PWD|RANDOM|SECONDS|SHELLOPTS|SHLVL|SRANDOM|UID|HISTFILE|HISTFILESIZE|HISTSIZE|HISTCONTROL|MAILCHECK|TMOUT|PS0|PS2|POSIXLY_CORRECT|PROMPT_COMMAND|BASH_ENV|ENV|_|CERITH_ENGINE|CERITH_JOB)$/
/** Different at every look, and of no use to the guard. */
const VARYING =
  /^(?:_|BASHPID|BASH_COMMAND|BASH_ARGV0|BASH_SUBSHELL|COLUMNS|EPOCH\w+|HISTCMD|LINENO|LINES|PWD|S?RANDOM|SECONDS|__cerith\w*)$/

/** Whether a successor gets it. */
export function isCarriedOn({ name, flags }: Declaration): boolean {
  return !OF_THE_SHELL.test(name) && !isBindingVariable(name) && !(flags.includes('x') && isStartHook(name))
}

/** Exported names that no new shell gets, because a loader or a shell would run at its start what they name. */
export function hooksLeftOut(state: ShellState, initial: readonly string[]): string[] {
  return state.variables
    .filter(({ name, flags }) => flags.includes('x') && isStartHook(name) && !initial.includes(name))
    .map(({ name }) => name)
}

/**
 * The state as it may lie on a disk: without any known secret, with the names of what it lacks, and where it was made.
 */
export function snapshotText(
  state: ShellState,
  mask: (text: string) => string,
  initial: readonly string[],
  madeIn: string,
): string {
  const isSecret = (bytes: string): boolean => mask(utf8(bytes)) !== utf8(bytes)
  const sections = new Map(state.sections)
  const missing = hooksLeftOut(state, initial).map((name) => `hook ${name}`)
  const variables: string[] = []
  for (const { name, text } of state.variables.filter(isCarriedOn))
    if (isSecret(text)) missing.push(`secret ${name}`)
    else variables.push(text)
  sections.set('variables', variables.join('\n'))
  for (const name of ['functions', 'aliases', 'traps', 'positional', 'completions', 'hashed', 'directories']) {
    const text = sections.get(name) ?? ''
    if (!isSecret(text)) continue
    missing.push(`secret (${name})`)
    sections.set(name, bytesOf(mask(utf8(text))))
  }
  sections.set('missing', missing.join('\n'))
  sections.set('made-in', bytesOf(madeIn))
  return `${STATE_BEGINS}\0${sectionsText(sections)}\0end`
}

/** Null when the text is no whole snapshot (torn by a crash, or foreign). */
export function parseSnapshot(text: string): ShellState | null {
  const whole = text.startsWith(`${STATE_BEGINS}\0`) && text.endsWith('\0end')
  return whole ? parseState(sectionsOf(text.slice(STATE_BEGINS.length + 1, -4))) : null
}

export function aliasesOf(text: string): [string, string][] {
  return [...text.matchAll(/^alias (?:-- )?([^=\s]+)='([^']*(?:'\\''[^']*)*)'$/gm)].map((match) => [
    match[1] as string,
    (match[2] as string).replaceAll(String.raw`'\''`, "'"),
  ])
}

export interface Knowledge {
  readonly variables: Record<string, string>
  readonly functions: Record<string, string>
  readonly aliases: Record<string, string>
  held?: ShellHoldings
}

/** What the guard may know: constant strings, functions, aliases, and what else the shell holds. */
export function knowledge(state: ShellState): Knowledge {
  const variables: Record<string, string> = {}
  for (const { name, flags, text } of state.variables) {
    if (/[aAn]/.test(flags) || VARYING.test(name)) continue
    const value = valueOf(text)
    if (value !== null && value.length <= 4_096 && !isBindingVariable(name)) variables[name] = utf8(value)
  }
  const functions: Record<string, string> = {}
  // Behind the brace may be redirections of the whole function.
  for (const match of utf8(state.functions).matchAll(/^(\S+) \(\) ?\n([\s\S]*?^\}(?: .*)?)$/gm))
    functions[match[1] as string] = match[2] as string
  return { variables, functions, aliases: Object.fromEntries(aliasesOf(utf8(state.aliases))), held: holdings(state) }
}

function holdings(state: ShellState): ShellHoldings {
  const arrays: Record<string, string[]> = {}
  const references: Record<string, string> = {}
  const integers: string[] = []
  for (const { name, flags, text } of state.variables) {
    if (OF_THE_SHELL.test(name) || VARYING.test(name) || text.length > 16_384) continue
    if (/n/.test(flags)) references[name] = valueOf(text) ?? ''
    else if (/i/.test(flags) && !/r/.test(flags)) integers.push(name)
    else if (/[aA]/.test(flags))
      arrays[name] = [...text.matchAll(/\[[^\]]*\]=("(?:[^"\\]|\\.)*"|\$'(?:[^'\\]|\\.)*')/gs)].map((match) =>
        utf8(valueOf(`declare -- x=${match[1]}`) ?? ''),
      )
  }
  // Only names that start a program of another name are told.
  const hashed = state.hashed
    .map((words) => /^(.*) (\S+)$/.exec(words)?.slice(1).map(unquoted) ?? [])
    .filter(([path = '', name]) => path.split('/').pop() !== name)
  return {
    positional: state.positional.slice(1).map((word) => utf8(unquoted(word))),
    arrays,
    references,
    integers,
    directories: state.directories.slice(1).map(utf8),
    hashed: Object.fromEntries(hashed.map(([path = '', name = '']) => [utf8(name), utf8(path)])),
  }
}

/** A word as `printf %q` wrote it. */
function unquoted(word: string): string {
  const ansi = /^\$'[\s\S]*'$/.test(word) ? valueOf(`declare -- x=${word}`) : null
  return ansi ?? word.replace(/^''$/, '').replace(/\\([\s\S])/g, '$1')
}

/** Bytes as the text that they are, where they are UTF-8. */
export function utf8(bytes: string): string {
  // oxlint-disable-next-line no-control-regex -- ASCII is the usual case and needs no decoding
  return /^[\x00-\x7f]*$/.test(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString('utf8')
}

/** Text as the bytes of its UTF-8. */
export function bytesOf(text: string): string {
  // oxlint-disable-next-line no-control-regex -- ASCII is the usual case and needs no encoding
  return /^[\x00-\x7f]*$/.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1')
}

function parseTraps(text: string): { text: string; command: string; signal: string }[] {
  return [...text.matchAll(/^(trap -- '([^']*(?:'\\''[^']*)*)' (\S+))$/gm)].map((match) => ({
    text: match[1] as string,
    command: (match[2] as string).replaceAll(String.raw`'\''`, "'"),
    signal: (match[3] as string).replace(/^SIG/, ''),
  }))
}

interface Traps {
  readonly exit: string | null
  debug: string | null
  return: string | null
  readonly errTrap: boolean
  /** For signals. */
  readonly others: boolean
}

/**
 * The agent's traps, those of the kinds that concern our own lines as it wrote them. `exitBefore`: its EXIT trap before
 * the command.
 */
export function trapsOf(text: string, exitBefore: string | null = null): Traps {
  const commands = new Map(parseTraps(text).map(({ command, signal }) => [signal, command]))
  return {
    exit: ownExit(commands.get('EXIT') ?? null, exitBefore),
    debug: commands.get('DEBUG') ?? null,
    return: commands.get('RETURN') ?? null,
    errTrap: commands.has('ERR'),
    others: [...commands.keys()].some(
      (signal) => !/^(?:EXIT|DEBUG|RETURN|ERR)$/.test(signal) && !signal.includes(STOP_NAME),
    ),
  }
}

/**
 * The session's own stands on the first line of an EXIT trap, and the agent's behind it. The session's alone was never
 * touched by the agent: a stop took the line that gives the agent's back.
 */
function ownExit(command: string | null, before: string | null): string | null {
  if (!command?.includes(STATE_BEGINS)) return command
  const at = command.indexOf('\n')
  return at < 0 ? before : command.slice(at + 1)
}

/** Whether a shell with this state may set traps, or have an ERR trap, without a word of it in the next command. */
export function hasTraps(state: ShellState): boolean {
  return state.traps.length > 2 || mentionsTraps(state)
}

/** Also what runs text from elsewhere. */
const MAY_TRAP = /\b(?:trap|eval|source)\b|(?:^|[\s;&|(){}!`'])\.\s/m

export function mentionsTraps({ functions, aliases }: ShellState): boolean {
  return MAY_TRAP.test(functions) || MAY_TRAP.test(aliases)
}

const QUOTED = String.raw`(?:[\w@%+=:,./-]|'[^']*'|\\.|\$'(?:[^'\\]|\\.)*')+`
const QUOTED_WORDS = new RegExp(`^${QUOTED} ${QUOTED}$`)

/** An older bash prints them as they are. */
function hashedWords(line: string): string | null {
  const [, words = '', path = '', name = ''] = /^builtin hash -p ((.+) (\S+))$/.exec(line) ?? []
  if (words === '') return null
  return QUOTED_WORDS.test(words) ? words : `${quoteWord(path)} ${quoteWord(name)}`
}

function lines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '')
}
