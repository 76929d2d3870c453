/**
 * Bash code that gives a new shell the state of another one, without running any of the agent's
 * code; and a look at whether it has it.
 */
import { quoteWord } from '../../../contract/quote.js'
import { isStartHook } from '../../../env/hooks.js'
import { isBindingVariable } from '../../../secrets/deliver/binding.js'
import type { Declaration } from './declarations.js'
import { STOP_NAME } from '../lines/marks.js'
import { aliasesOf, isCarriedOn, OF_THE_SHELL, utf8, type ShellState } from './state.js'

/**
 * What killed the predecessor would kill its successor too; the others make bash act at its
 * prompt, where our lines are.
 */
const LEFT_OUT_OPTIONS =
  /^(?:errexit|noexec|onecmd|history|emacs|vi|monitor|posix|xtrace|verbose|interactive-comments)$/
const LEFT_OUT_SHOPTS = /^(?:login_shell|restricted_shell)$/
/** On in every new bash. */
const USUAL_OPTIONS = ['braceexpand', 'hashall']
/** Every new bash sets them, whatever it inherits. */
const USUAL_VARIABLES = ['IFS', 'OPTIND', 'OPTERR', 'PATH', 'TERM', 'HOSTNAME', 'OLDPWD']

/** What the shell that gets a state has already. */
export interface Present {
  /** Names that it inherits. */
  readonly variables: readonly string[]
  /** What it remembers itself: a living shell that gets back what a command changed elsewhere. */
  readonly state?: ShellState
}

/**
 * The code is bytes (latin1), like the state. What can go wrong (a body that this bash does not
 * parse) stands in an `eval` of its own, and takes nothing else along.
 */
export function restoreCode(state: ShellState, present: Present): string {
  const there = new Map(present.state?.variables.map(({ name, text }) => [name, text]))
  const kept = state.variables.filter((one) => isCarriedOn(one) && there.get(one.name) !== one.text)
  const same = new Set(state.variables.filter(({ name, text }) => there.get(name) === text).map(({ name }) => name))
  // Also those that come back: only so they lose an attribute such as -x.
  const replaced = [...present.variables, ...there.keys(), ...USUAL_VARIABLES]
    .filter((name) => /^[A-Za-z_]\w*$/.test(name))
    .filter((name) => !same.has(name) && !OF_THE_SHELL.test(name) && !isBindingVariable(name) && !isStartHook(name))
  const shopts = state.shopts.filter((name) => /^\w+$/.test(name) && !LEFT_OUT_SHOPTS.test(name))
  const options = state.options.filter((name) => /^[\w-]+$/.test(name) && !LEFT_OUT_OPTIONS.test(name))
  const off = [...USUAL_OPTIONS, ...(present.state?.options ?? [])].filter(
    (name) => !options.includes(name) && !LEFT_OUT_OPTIONS.test(name),
  )
  return [
    ...(present.state ? forgetCode(present.state) : []),
    `\\builtin shopt -u \${BASHOPTS//:/ } ${(present.state?.shopts ?? []).join(' ')}`,
    `\\builtin shopt -s ${shopts.join(' ')}`,
    ...off.map((name) => `\\builtin set +o ${name}`),
    ...(replaced.length > 0 ? [`\\builtin unset -v ${replaced.join(' ')}`] : []),
    ...kept.flatMap(restoreVariable),
    // GLOBIGNORE has changed it.
    `\\builtin shopt ${shopts.includes('dotglob') ? '-s' : '-u'} dotglob`,
    ...(/^umask [0-7]+$/.test(state.umask) ? [`\\builtin ${state.umask}`] : []),
    `\\builtin cd -- ${quoteWord(state.cwd)}`,
    // OLDPWD comes from the cd above; `cd -` shall go where it would have gone.
    ...state.variables.filter(({ name }) => name === 'OLDPWD').flatMap(restoreVariable),
    ...state.directories
      .slice(1)
      .toReversed()
      .map((directory) => `\\builtin pushd -n -- ${quoteWord(directory)}`),
    ...(state.positional.length > 0 ? [`\\builtin set -- ${state.positional.slice(1).join(' ')}`] : []),
    // Behind PATH, which empties the table.
    ...state.hashed.map((words) => `\\builtin hash -p ${words}`),
    ...(state.completions ? [`\\builtin eval ${quoteWord(state.completions)}`] : []),
    // A body may hold patterns that only bash with extglob can read, wherever that was turned off behind it.
    ...(state.functions
      ? [
          '\\builtin shopt -s extglob',
          `\\builtin eval ${quoteWord(state.functions)}`,
          `\\builtin shopt ${shopts.includes('extglob') ? '-s' : '-u'} extglob`,
        ]
      : []),
    ...state.exportedFunctions.map((name) => `\\builtin declare -fx -- ${quoteWord(name)}`),
    ...aliasesOf(state.aliases).map(([name, value]) => `\\builtin alias -- ${quoteWord(`${name}=${value}`)}`),
    // Behind everything that allexport would export, or nounset and noglob would change.
    ...options.map((name) => `\\builtin set -o ${name}`),
    ...(state.disabled.length > 0 ? [`\\builtin enable -n -- ${state.disabled.map(quoteWord).join(' ')}`] : []),
    ...state.traps.filter(isCarriedTrap).map(({ text }) => `\\builtin ${text}`),
    ...(state.clock
      ? [`SECONDS=${state.clock.seconds + Math.max(0, Math.round(Date.now() / 1_000) - state.clock.at)}`]
      : []),
    '',
  ].join('\n')
}

/** All that a living shell remembers besides variables and options. */
function forgetCode(state: ShellState): string[] {
  const functions = functionNames(state).map(quoteWord)
  return [
    '\\builtin unalias -a; \\builtin dirs -c; \\builtin hash -r; \\builtin complete -r',
    ...(functions.length > 0 ? [`\\builtin unset -f -- ${functions.join(' ')}`] : []),
    ...(state.disabled.length > 0 ? [`\\builtin enable -- ${state.disabled.map(quoteWord).join(' ')}`] : []),
    ...state.traps.filter(isCarriedTrap).map(({ signal }) => `\\builtin trap - ${signal}`),
  ]
}

/** DEBUG and RETURN would go off in the rest of the code; the next command gets them from the session. EXIT has run. */
function isCarriedTrap({ signal }: { readonly signal: string }): boolean {
  return !/^(?:EXIT|DEBUG|RETURN)$/.test(signal) && !signal.includes(STOP_NAME)
}

/**
 * An integer variable evaluates what it is given, and the text of an array index can be a
 * command: the value comes first, the attribute after. Behind another word `name=(...)` is no
 * assignment but a syntax error, so arrays need the bare word.
 */
function restoreVariable({ name, flags, text }: Declaration): string[] {
  const word = /[aA]/.test(flags) ? '' : '\\builtin '
  if (!flags.includes('i')) return [`${word}${text}`]
  const others = flags.replace(/[ir-]/g, '')
  return [
    word + text.replace(/^declare -\S+/, `declare ${others ? `-${others}` : '--'}`),
    `\\builtin declare -i${flags.includes('r') ? 'r' : ''} ${name}`,
  ]
}

/** What the new shell does not have although it was given it, in words. */
export function notRestored(wanted: ShellState, found: ShellState): string[] {
  const now = new Map(found.variables.map(({ name, text }) => [name, text]))
  const missing = wanted.variables
    .filter((one) => isCarriedOn(one) && one.name !== 'OLDPWD' && now.get(one.name) !== one.text)
    .map(({ name }) => name)
  const lists: readonly [what: string, wanted: readonly string[], found: readonly string[]][] = [
    ['function', functionNames(wanted), functionNames(found)],
    ['alias', aliasesOf(wanted.aliases).map(String), aliasesOf(found.aliases).map(String)],
    ['shopt', wanted.shopts.filter((name) => !LEFT_OUT_SHOPTS.test(name)), found.shopts],
    ['option', wanted.options.filter((name) => !LEFT_OUT_OPTIONS.test(name)), found.options],
    [
      'trap for',
      wanted.traps.filter(isCarriedTrap).map(({ signal }) => signal),
      found.traps.map(({ signal }) => signal),
    ],
    ['directory', wanted.directories.slice(1), found.directories.slice(1)],
    ['disabled builtin', wanted.disabled, found.disabled],
  ]
  for (const [what, names, there] of lists) {
    const has = new Set(there)
    missing.push(...names.filter((name) => !has.has(name)).map((name) => `${what} ${utf8(name)}`))
  }
  if (wanted.positional.join('\n') !== found.positional.join('\n')) missing.push('positional parameters')
  if (wanted.umask !== found.umask) missing.push('umask')
  return missing
}

function functionNames({ sections }: ShellState): string[] {
  return (sections.get('functionNames') ?? '')
    .split('\n')
    .flatMap((line) => /^declare -\S+ (.+)$/.exec(line)?.[1] ?? [])
}
