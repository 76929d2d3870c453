/**
 * Programs that only read, by name: whatever their words are, or as long as their words say so. A first look lets them
 * pass without following their words; the rows of the tables say the same about each of them, which a test compares.
 */
import { nameList, nameSet } from '../../contract/quote.js'
import { basename, table } from './row/call.js'

/** Whether a program with these words only reads. Null stands for a word that is not constant. */
type OnlyReads = (words: readonly (string | null)[]) => boolean

const always: OnlyReads = () => true

const every =
  (allowed: RegExp): OnlyReads =>
  (words) =>
    words.every((word) => word !== null && allowed.test(word))

/** Programs that show that a file is there, not what it holds, and builtins whose words name variables. */
const LOOKS_AT_NAMES = nameSet(
  'ls stat file test [ [[ du echo printf cd dirname basename realpath readlink which type read unset export',
)

/** The lines of a file that is named so, or is read as a table of what to look for, are shown; also shortened. */
const SHOWS_LINES: Readonly<Record<string, RegExp>> = { file: /^-\w*[fm]|^--(?:f|ma)/, du: /^--f/ }

export function looksAtNames(program: string, words: readonly (string | null)[]): boolean {
  const shows = Object.hasOwn(SHOWS_LINES, program) ? SHOWS_LINES[program] : undefined
  return LOOKS_AT_NAMES.has(program) && !(shows && words.some((word) => word === null || shows.test(word)))
}

const TREE_READERS = nameSet('cp tar bsdtar rsync zip 7z 7za scp rg ag find cpio pax rgrep')
/** An option of grep with which it reads whole trees, and what a link in them leads to. */
const RECURSIVE = /^-\w*[rRd]|^--(?:rec|der|di)/

/** Whether a program with these words reads all that lies below directories which they name. */
export function readsTrees(program: string, words: readonly (string | null)[]): boolean {
  const name = basename(program)
  return (
    TREE_READERS.has(name) ||
    (/^(?:[ef]?grep|diff)$/.test(name) && words.some((word) => word !== null && RECURSIVE.test(word)))
  )
}

/** Verbs of git that look, or change the repository only; none of them runs what its words say. */
const GIT_VERBS = nameSet(`
  add blame branch cat-file commit describe diff log ls-files ls-tree merge-base reflog rev-list rev-parse shortlog
  show show-ref status tag
`)

const git: OnlyReads = ([verb, ...words]) =>
  typeof verb === 'string' &&
  (GIT_VERBS.has(verb) || verb === '--version' || (verb === 'stash' && words[0] === 'list')) &&
  words.every((word) => word !== null && !word.startsWith('--output') && !word.startsWith('--ext'))

/** Lines picked out or replaced: nothing in such a script writes a file or runs a command. */
export const SUBSTITUTION = /^s(?:\/[^/\\\n]*\/[^/\\\n]*\/|\|[^|\\\n]*\|[^|\\\n]*\|)[gIi\d]*p?$/
const SELECTION = /^(?:\d+|\$)?(?:,(?:\d+|\$))?[pdq]$/

const sed: OnlyReads = (words) => {
  const at = words.findIndex((word) => word === null || !/^-[nEr]+$/.test(word))
  let rest = words.slice(Math.max(0, at))
  const scripts: (string | null | undefined)[] = []
  for (; rest[0] === '-e'; rest = rest.slice(2)) scripts.push(rest[1])
  if (scripts.length === 0) scripts.push(...rest.splice(0, 1))
  return (
    at >= 0 &&
    scripts.every((script) => SELECTION.test(script ?? '\n') || SUBSTITUTION.test(script ?? '\n')) &&
    rest.every((word) => word !== null && !word.startsWith('-'))
  )
}

/** A call of what is no function of awk's own. */
const OTHER_CALL =
  /\b(?!(?:length|substr|split|g?sub|index|int|tolower|toupper|s?printf?|if|while|for)\b)[A-Za-z_]\w*\s*\(/

const awk: OnlyReads = (words) => {
  const at = words.findIndex((word) => word === null || !/^-F.$/s.test(word))
  return (
    at >= 0 &&
    /^(?!-)[\w\s{}()$+*=,.;:&!<%"-]*$/.test(words[at] ?? '\n@') &&
    !/system|getline|close|include|load|exec|fork|rm\b|dd\b/.test(words[at] ?? '') &&
    !OTHER_CALL.test(words[at] ?? '') &&
    words.slice(at + 1).every((word) => word !== null && !word.startsWith('-'))
  )
}

/** `-v NAME[INDEX]` evaluates the index, and an expansion may turn out to be such an option. */
const tests: OnlyReads = (words) => {
  const [first, second, ...others] = words
  if (first === '!') return tests(words.slice(1))
  if (
    first === undefined ||
    !(first === null ? /^(?:==?|!=|-(?:eq|ne|lt|le|gt|ge))$/.test(second ?? '') : isNoName(first))
  )
    return false
  // `-v` and what it evaluates may be two expansions.
  if (words.some((word, at) => word === null && words[at + 1] === null)) return false
  return [second, ...others].every((word) => word === null || word === undefined || isNoName(word))
}

function isNoName(word: string): boolean {
  return !/^-[vR]|\[|^-[ao]$/.test(word)
}

/** `find -exec PROGRAM {} \\;`, where the program only reads. */
const find: OnlyReads = (words) => {
  if (!words.every((word) => word !== null && !FIND_CHANGES.test(word))) return false
  const at = words.indexOf('-exec')
  if (at < 0) return true
  const end = words.findIndex((word, i) => i > at && (word === ';' || (word === '+' && words[i - 1] === '{}')))
  const [program, ...given] = words.slice(at + 1, end < 0 ? undefined : end)
  return words.indexOf('-exec', at + 1) < 0 && typeof program === 'string' && onlyReads(program, given)
}

const FIND_CHANGES = /^-(?:delete|rm|execdir|ok|okdir|fprint|fprint0|fprintf|fls|files0-from)$/

/** `xargs -n 1 PROGRAM`, where the program only reads, whatever else it is given. */
const xargs: OnlyReads = ([first, ...words]) => {
  if (typeof first !== 'string' || first === 'xargs') return false
  const option = /^-(?:[0rt]+|[nLP](\d*))$/.exec(first)
  if (option) return xargs(option[1] === '' ? words.slice(1) : words)
  return onlyReads(first, [...words, null])
}

const BY_NAME: Readonly<Record<string, OnlyReads>> = {
  ...table(
    nameList(
      ': true false echo pwd cat tac head tail cut tr rev nl fold seq grep egrep fgrep ls du stat id whoami ' +
        'dirname basename realpath readlink which wc diff cmp comm file df md5sum sha1sum sha256sum date uname ' +
        'sleep paste od',
    ),
    always,
  ),
  // A second operand is written; the first may be `-`.
  uniq: (words) =>
    words.every((word) => word !== null && word !== '--') &&
    words.filter((word) => !/^-./s.test(word ?? '')).length <= 1,
  test: tests,
  '[': tests,
  // `command -v` and `type` look for a program and do not start it.
  command: ([how, ...names]) => how === '-v' && names.length === 1 && names[0] !== null,
  type: every(/^(?!-)/),
  hash: (words) => words.length === 1 && words[0] === '-r',
  env: (words) => words.length === 0,
  // `-v NAME` assigns.
  printf: (words) => words[0] !== null && words[0] !== undefined && !words[0].startsWith('-'),
  sort: every(/^(?!-)|^-[bdfghinrRsuVzk0-9.,]+$/s),
  find,
  xargs,
  git,
  sed,
  awk,
}

export function onlyReads(name: string, words: readonly (string | null)[]): boolean {
  return Object.hasOwn(BY_NAME, name) && (BY_NAME[name] as OnlyReads)(words)
}
