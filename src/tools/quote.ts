/** Turns an argv into one bash command line that means exactly those words. */
import { quoteArgv } from '../contract/quote.js'

/**
 * `quote(['ls', 'my file'])` is `ls 'my file'`; a string is one word. Throws a TypeError for a
 * NUL, which no argument can hold.
 */
export function quote(words: string | readonly string[]): string {
  const argv = typeof words === 'string' ? [words] : words
  if (argv.some((word) => word.includes('\0'))) throw new TypeError('An argument cannot contain a NUL character')
  return quoteArgv(argv)
}
