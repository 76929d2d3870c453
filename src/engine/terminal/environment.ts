/**
 * The environment of a command on a terminal: what keeps programs from drawing gives way, what
 * keeps them from asking stays.
 */

/**
 * Sessions have TERM=dumb, because they have no terminal. A shell with the state of one gets
 * what a terminal needs; an own choice stays.
 */
export const KNOW_TERMINAL =
  '__cerith_t="${TERM-}" __cerith_n="${NO_COLOR-}"; [[ $__cerith_t != dumb ]] || \\builtin export ' +
  'TERM=xterm-256color; \\builtin unset -v NO_COLOR LINES COLUMNS'
/** Before its state goes back. */
export const FORGET_TERMINAL =
  '[[ ${TERM-} != xterm-256color ]] || \\builtin export TERM="$__cerith_t"; [[ -z $__cerith_n || ${NO_COLOR+x} ' +
  ']] || \\builtin export NO_COLOR="$__cerith_n"; \\builtin unset -v LINES COLUMNS'

/** `given` is what the caller asked for: it always wins. */
export function terminalEnvironment(
  env: Readonly<Record<string, string>>,
  given: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const out: Record<string, string> = { ...env }
  if (given['TERM'] === undefined) out['TERM'] = 'xterm-256color'
  // A terminal was asked for in order to see what a person would see, colours included.
  if (given['NO_COLOR'] === undefined) delete out['NO_COLOR']
  // LINES and COLUMNS would overrule the terminal's own size, for ever.
  for (const name of ['LINES', 'COLUMNS']) if (given[name] === undefined) delete out[name]
  return out
}
