/** Turns an argv into one bash command line that means exactly those words. */
import { quoteWord } from '../engine/quote.js'

const RESERVED = new Set('if then else elif fi for while until do done case esac in function select time coproc'.split(' '))

/** `quote(['ls', 'my file'])` is `ls 'my file'`; a string is one word. Throws a TypeError for a NUL, which no argument can hold. */
export function quote(words: string | readonly string[]): string {
  const argv = typeof words === 'string' ? [words] : words
  if (argv.some((word) => word.includes('\0'))) throw new TypeError('An argument cannot contain a NUL character')
  // As the first word these would begin a construct of the shell instead of naming a program.
  return argv.map((word, index) => (index === 0 && RESERVED.has(word) ? `'${word}'` : quoteWord(word))).join(' ')
}
