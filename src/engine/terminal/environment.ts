/** The environment of a command on a terminal: what keeps programs from drawing gives way, what keeps them from asking stays. */

/** `given` is what the caller asked for: it always wins. */
export function terminalEnvironment(
  env: Readonly<Record<string, string>>,
  given: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const out: Record<string, string> = { ...env }
  if (given['TERM'] === undefined) out['TERM'] = 'xterm-256color'
  // A terminal was asked for in order to see what a person would see, colours included.
  if (given['NO_COLOR'] === undefined) delete out['NO_COLOR']
  // They would overrule the terminal's own size, for ever.
  for (const name of ['LINES', 'COLUMNS']) if (given[name] === undefined) delete out[name]
  return out
}
