/**
 * Text as the guard knows it: ordinary characters, plus marks for what only the running shell could know.
 *
 * A folded word is a plain string in which a few Unicode noncharacters (never valid in text) stand for an
 * unknown piece, an active wildcard, or a place where the shell splits fields. Quoted wildcards stay ordinary
 * characters, so `'*'` and `*` can be told apart after quote removal.
 */

/** Some text that is not known here; it is not empty. */
export const UNKNOWN = '\uFDD0'
/** An unquoted `*`. */
export const STAR = '\uFDD1'
/** An unquoted `?`. */
export const QUESTION = '\uFDD2'
/** The ends of an unquoted `[...]`. */
export const OPEN = '\uFDD3'
export const CLOSE = '\uFDD4'
/** After a path: the path and everything below it (what `find /` prints). */
export const TREE = '\uFDD5'
/** Where field splitting cuts a word. */
export const BREAK = '\uFDD6'
/** Quotes were here: keeps an empty field alive. */
export const QUOTES = '\uFDD7'
/** Somewhere below a directory, but only what a name test selected. */
export const SELECTED = '\uFDD8'

/** Nothing, when the command that was to print a directory failed (`$(cd x && pwd)`). */
export const FAILED = '\uFDD9'

/** What a table of file systems or disks shows: lines that begin with a device. */
export const DEVICES = `/dev/${UNKNOWN}\n`

/** As the mode of a write: the file is empty afterwards, or filled with nothing that was in it. */
export const EMPTY = 'empty'
/** In the place of a file's text: a named pipe, which holds nothing. */
export const FIFO = '\uFDDAfifo'
/** The same, once a command has opened it for reading. */
export const READ_FIFO = `${FIFO} read`
/** As the mode of a move: the thing stays where it is under a longer name (`mysql.bak`). */
export const ASIDE = 'aside'
/** As the mode of a move: the thing has another name afterwards, in the same home. */
export const AT_HOME = 'at-home'
/** As the mode of a removal: only files that git does not track. */
export const UNTRACKED = 'untracked'

const MARKS = /[\uFDD0-\uFDDF]/g
const WILD = /[\uFDD1-\uFDD4]/

/** Alternatives that a piece of text may have at run time; bounded, never empty. */
export type Alternatives = readonly string[]

export const NOTHING: Alternatives = ['']
export const ANYTHING: Alternatives = [UNKNOWN]
/** A variable that the script does not assign: most likely unset, perhaps something else. */
export const MAYBE_UNSET: Alternatives = [UNKNOWN, '']

const MAX_ALTERNATIVES = 64
const MAX_TEXT = 1_000_000
/** One of several alternatives is never longer: together they must stay small. */
const MAX_ALTERNATIVE_TEXT = 8_192
/** All of them together: more is copied and compared over and over. */
const MAX_ALTERNATIVES_TEXT = 16_384

/** Input must not be able to forge marks. */
export function withoutMarks(text: string): string {
  return text.replace(MARKS, '\uFFFD')
}

export function isConstant(text: string): boolean {
  return text.search(MARKS) < 0
}

export function hasWildcard(text: string): boolean {
  return WILD.test(text)
}

export function hasUnknown(text: string): boolean {
  return text.includes(UNKNOWN) || text.includes(SELECTED) || text.includes(FAILED)
}

const ALL_NAMES = new RegExp(`${TREE}|(?:^|[\\s/])\\.?${STAR}(?:\\s|$)`)

/** All names of a directory, or all below it (`ls`, `echo *`, `find`): a filter that drops some leaves nearly all. */
export function isEverything(text: string): boolean {
  return ALL_NAMES.test(text)
}

/** Quoted or printed wildcards are ordinary characters again. */
export function plain(text: string): string {
  if (isConstant(text)) return text
  return text
    .replaceAll(STAR, '*')
    .replaceAll(QUESTION, '?')
    .replaceAll(OPEN, '[')
    .replaceAll(CLOSE, ']')
    .replaceAll(QUOTES, '')
    .replaceAll(BREAK, ' ')
}

/** For people: unknown pieces become an ellipsis. */
export function readable(text: string): string {
  if (isConstant(text)) return text
  return plain(text).replaceAll(TREE, '').replaceAll(UNKNOWN, '…').replaceAll(SELECTED, '…').replaceAll(FAILED, '')
}

/** Makes the wildcards of an unquoted expansion active again, as the shell does. */
export function activate(text: string): string {
  if (!/[*?[]/.test(text)) return text
  return text
    .replaceAll('*', STAR)
    .replaceAll('?', QUESTION)
    .replace(/\[([^\]/]+)\]/g, `${OPEN}$1${CLOSE}`)
}

export function unique(values: readonly string[]): Alternatives {
  if (values.length < 2) return values
  if (values.length === 2) return values[0] === values[1] ? values.slice(0, 1) : values
  const set = [...new Set(values)]
  return set.length <= MAX_ALTERNATIVES ? set : fewest(set, MAX_ALTERNATIVES)
}

/**
 * At most `count` of the alternatives: those that could do harm where a path or a command is expected, then the first.
 */
export function fewest(values: Alternatives, count: number): Alternatives {
  if (values.length <= count) return values
  const ranked = values.map((text, at) => ({ text, at, rank: harmRank(text) }))
  ranked.sort((a, b) => a.rank - b.rank || a.at - b.at)
  const kept = new Set(ranked.slice(0, count - 1).map(({ text }) => text))
  return [...values.filter((text) => kept.has(text)), ...(kept.has(UNKNOWN) ? [] : [UNKNOWN])]
}

/** Short absolute paths, nothing at all, options and commands come before names and prose. */
function harmRank(text: string): number {
  if (text === '') return 0
  if (/^[/~](?:[^/\s]*\/?){0,2}$/.test(text)) return 1
  if (/^[\s]*(?:rm|dd|mkfs|find|chmod|chown|mv|sh|bash|sudo|eval|-\w+)\b|^[.*\uFDD1]|:\(\)/.test(text)) return 2
  return text.includes('/') ? 3 : 4
}

/** Every left followed by every right, bounded. */
export function concat(left: Alternatives, right: Alternatives): Alternatives {
  if (left.length === 1 && right.length === 1) {
    const text = joined(left[0] ?? '', right[0] ?? '')
    return text.length > MAX_TEXT ? ANYTHING : [text]
  }
  const all: string[] = []
  let room = MAX_ALTERNATIVES_TEXT
  const add = (a: string, b: string): void => {
    const length = a.length + b.length
    room -= length
    all.push(length <= MAX_ALTERNATIVE_TEXT && room > 0 ? joined(a, b) : UNKNOWN)
  }
  if (left.length * right.length <= MAX_ALTERNATIVES) for (const a of left) for (const b of right) add(a, b)
  else {
    // Too many to pair up: each one once, and both ends, so that "everything is empty" stays among them.
    for (const a of left) add(a, right[0] ?? '')
    for (const b of right) add(left[0] ?? '', b)
    add(left[left.length - 1] ?? '', right[right.length - 1] ?? '')
  }
  return unique(all)
}

/** Two unknown pieces side by side are one. */
function joined(a: string, b: string): string {
  return a.endsWith(UNKNOWN) && b.startsWith(UNKNOWN) ? a + b.slice(1) : a + b
}

export function map(values: Alternatives, change: (text: string) => string): Alternatives {
  return unique(values.map(change))
}

/** Of files that were written: a secret, or a word that may do harm. */
const MATTERS =
  /\{\{(?:secret|decrypt):|\b(?:rm|dd|mkfs|shred|wipefs|blkdiscard|rmtree|rmSync|rm_rf|unlink\w*|truncate|find|source|eval|(?:ba|z|da)?sh|chmod|chown|kill|shutdown|reboot|poweroff|halt|system|exec\w*)\b|\|.*&|\/etc\/(?:passwd|shadow|sudoers|fstab)\b|\/dev\/(?:[shv]d[a-z]|nvme|mmcblk)/
/** Of short ones also a name at the root, or text that hides another one: it may become a word of a command. */
const MAY_BECOME_A_WORD =
  /(?:^|[\s="',:])(?:[/~][\w.-]*\/?|\$HOME|-\w*[rR]\w*)(?=["'\s*\0]|$)|^(?:[A-Za-z0-9+/]{8,}\n?)+={0,2}\s*$/
const SHORT = 200

/** Whether the text of a file that was written may matter to a later command. */
export function isWorthKeeping(text: string): boolean {
  return MATTERS.test(text) || (text.length <= SHORT && MAY_BECOME_A_WORD.test(text))
}
