/** What a keyboard sends: keys by name, text as typed. Names are those people know from tmux, emacs and menus. */
import { badRequest, type ShellError } from '../../contract/errors.js'
import { nameList } from '../../contract/quote.js'

export interface KeyboardModes {
  /** Full-screen programs ask for other codes for the cursor keys (DECCKM). */
  readonly applicationCursor: boolean
}

const PLAIN: KeyboardModes = { applicationCursor: false }

/** The bytes of one key, e.g. `C-c`, `enter`, `up`, `M-x`, `F5`, `S-tab`, `C-left`, `^D`, or a single character. */
export function keyBytes(name: string, modes: KeyboardModes = PLAIN): string {
  const key = parseKey(name)
  if (!key) throw unknownKey(name)
  const { base, control, meta, shift } = key
  const modifier = 1 + (shift ? 1 : 0) + (meta ? 2 : 0) + (control ? 4 : 0)
  const letter = CURSOR_KEYS[base]
  if (letter)
    return modifier > 1 ? `\x1b[1;${modifier}${letter}` : `\x1b${modes.applicationCursor ? 'O' : '['}${letter}`
  const number = NUMBERED_KEYS[base]
  if (number) return modifier > 1 ? `\x1b[${number};${modifier}~` : `\x1b[${number}~`
  const front = FRONT_KEYS[base]
  if (front) return modifier > 1 ? `\x1b[1;${modifier}${front}` : `\x1bO${front}`
  const escape = meta ? '\x1b' : ''
  if (base === 'btab' || (base === 'tab' && shift)) return `${escape}\x1b[Z`
  const named = NAMED_KEYS[base]
  if (named !== undefined && !control) return escape + named
  const character = named === ' ' ? '@' : base
  if (!control) return escape + (shift ? character.toUpperCase() : character)
  const code = controlCode(character)
  if (code === null) throw unknownKey(name)
  return escape + code
}

/** Text as a person would type it: on a terminal the end of a line is the Enter key. */
export function typedText(text: string): string {
  return text.replace(/\r?\n/g, '\r')
}

/** Whether any of these keys depends on the mode of the terminal. */
export function hasCursorKeys(keys: readonly string[]): boolean {
  return keys.some((name) => CURSOR_KEYS[parseKey(name)?.base ?? ''] !== undefined)
}

interface Key {
  readonly base: string
  readonly control: boolean
  readonly meta: boolean
  readonly shift: boolean
}

const MODIFIER = /^(?:(c|ctrl|control)|(m|a|alt|meta|option)|(s|shift))[-+](?=.)/i

function parseKey(name: string): Key | null {
  if (typeof name !== 'string' || name === '') return null
  let rest = name
  let [control, meta, shift] = [false, false, false]
  for (;;) {
    const found = MODIFIER.exec(rest)
    if (!found) break
    if (found[1]) control = true
    else if (found[2]) meta = true
    else shift = true
    rest = rest.slice(found[0].length)
  }
  if (/^\^.$/.test(rest)) {
    control = true
    rest = rest.slice(1)
  }
  // One character is itself, whatever it is; letter case counts unless Control is held.
  if ([...rest].length === 1) return { base: rest, control, meta, shift }
  const base = ALIASES.get(rest.toLowerCase()) ?? rest.toLowerCase()
  return KNOWN.has(base) ? { base, control, meta, shift } : null
}

/** C-a is 1; C-@ (and C-space) 0; C-[ escape; C-? delete. */
function controlCode(character: string): string | null {
  if (character === '?') return '\x7f'
  const code = character.toUpperCase().codePointAt(0) ?? 0
  return code >= 0x40 && code <= 0x5f ? String.fromCharCode(code & 0x1f) : null
}

const CURSOR_KEYS: Readonly<Record<string, string>> = { up: 'A', down: 'B', right: 'C', left: 'D', home: 'H', end: 'F' }
const FRONT_KEYS: Readonly<Record<string, string>> = { f1: 'P', f2: 'Q', f3: 'R', f4: 'S' }
const NUMBERED_KEYS: Readonly<Record<string, number>> = {
  insert: 2,
  delete: 3,
  pageup: 5,
  pagedown: 6,
  f5: 15,
  f6: 17,
  f7: 18,
  f8: 19,
  f9: 20,
  f10: 21,
  f11: 23,
  f12: 24,
}
const NAMED_KEYS: Readonly<Record<string, string>> = {
  enter: '\r',
  tab: '\t',
  escape: '\x1b',
  space: ' ',
  backspace: '\x7f',
}
/** Other names of a key. */
const ALIASES = new Map(
  Object.entries({
    enter: 'return cr ret newline',
    escape: 'esc',
    space: 'spc',
    backspace: 'bs bspace',
    delete: 'del dc',
    insert: 'ins ic',
    pageup: 'pgup ppage prior page-up',
    pagedown: 'pgdn npage next page-down',
    up: 'arrowup',
    down: 'arrowdown',
    left: 'arrowleft',
    right: 'arrowright',
  }).flatMap(([key, others]) => nameList(others).map((other) => [other, key] as const)),
)
const KNOWN: ReadonlySet<string> = new Set([
  ...Object.keys(CURSOR_KEYS),
  ...Object.keys(FRONT_KEYS),
  ...Object.keys(NUMBERED_KEYS),
  ...Object.keys(NAMED_KEYS),
  'btab',
])

function unknownKey(name: unknown): ShellError {
  return badRequest(
    `Bad request: no such key: ${JSON.stringify(String(name).slice(0, 40))}`,
    'Keys are named like enter, tab, escape, up, pagedown, F5, C-c, M-x, S-tab, or are one character; send ' +
      'words as text.',
  )
}
