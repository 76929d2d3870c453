/** Quotes words for bash: the exact bytes come back out, whatever they are. */
import { nameSet } from './names.js'

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
