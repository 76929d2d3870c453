/** Words: one quoted for bash, so that the exact bytes come back out; and tables of many. */

export function quoteWord(word: string): string {
  if (
    word !== '' &&
    /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) &&
    !word.startsWith('=') &&
    !/^[A-Za-z_][A-Za-z0-9_]*\+?=/.test(word)
  )
    return word
  return `'${word.replaceAll("'", String.raw`'\''`)}'`
}

const RESERVED = nameSet('if then else elif fi for while until do done case esac in function select time coproc')

/**
 * `['ls', 'my file']` becomes `ls 'my file'`. As the first word a reserved one would begin a
 * construct instead of naming a program.
 */
export function quoteArgv(words: readonly string[]): string {
  return words.map((word, index) => (index === 0 && RESERVED.has(word) ? `'${word}'` : quoteWord(word))).join(' ')
}

/** A table of names, written as a text with many to a line: `nameList('tar cpio pax')`. */
export function nameList(text: string): string[] {
  return text.trim().split(/\s+/)
}

export function nameSet(text: string): ReadonlySet<string> {
  return new Set(nameList(text))
}
