/** Settings that keep programs from asking, paging and colouring, because no person sits at the other end. */
type Variables = Readonly<Record<string, string | undefined>>

/**
 * What to add to an environment. `inherited` is what the user exported, `given` what the caller
 * asked for; nothing given is ever changed. Programs that wait for a person are replaced even
 * when exported; the rest gives way to the user's own setting.
 */
export function nonInteractiveDefaults(inherited: Variables, given: Variables): Record<string, string> {
  const added: Record<string, string> = {}
  for (const [name, value] of Object.entries(ALWAYS)) added[name] = value
  for (const [name, value] of Object.entries(UNLESS_EXPORTED)) if (inherited[name] === undefined) added[name] = value
  // Node warns on every start when both are set, and colours that the caller forces are wanted.
  if (!wantsColour(inherited) && !wantsColour(given) && inherited['NO_COLOR'] === undefined) added['NO_COLOR'] = '1'
  Object.assign(added, utf8Locale({ ...inherited, ...given }))
  for (const name of Object.keys(given)) delete added[name]
  return added
}

/**
 * A pager or an editor would wait for a key for ever. `false` makes an interactive rebase fail
 * aloud instead of running its list unread.
 */
const ALWAYS: Readonly<Record<string, string>> = {
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GH_PAGER: 'cat',
  MANPAGER: 'cat',
  SYSTEMD_PAGER: 'cat',
  BAT_PAGER: 'cat',
  DELTA_PAGER: 'cat',
  AWS_PAGER: '',
  PSQL_PAGER: 'cat',
  EDITOR: 'false',
  VISUAL: 'false',
  GIT_EDITOR: 'true',
  GIT_SEQUENCE_EDITOR: 'false',
  GIT_TERMINAL_PROMPT: '0',
  TERM: 'dumb',
}

const UNLESS_EXPORTED: Readonly<Record<string, string>> = {
  GCM_INTERACTIVE: 'never',
  SSH_ASKPASS_REQUIRE: 'never',
  DEBIAN_FRONTEND: 'noninteractive',
  APT_LISTCHANGES_FRONTEND: 'none',
  PIP_NO_INPUT: '1',
  POETRY_NO_INTERACTION: '1',
  COMPOSER_NO_INTERACTION: '1',
}

function wantsColour(variables: Variables): boolean {
  return [variables['FORCE_COLOR'], variables['CLICOLOR_FORCE']].some((value) => value !== undefined && value !== '0')
}

/** LC_ALL beats LC_CTYPE beats LANG; only the one that decides is changed, and only when it names another encoding. */
function utf8Locale(variables: Variables): Record<string, string> {
  for (const name of ['LC_ALL', 'LC_CTYPE', 'LANG']) {
    const value = variables[name]
    if (value) return /utf-?8/i.test(value) ? {} : { [name]: 'C.UTF-8' }
  }
  return { LANG: 'C.UTF-8' }
}
