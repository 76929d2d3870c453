/** Quotes words for bash: the exact bytes come back out, whatever they are. */

export function quoteWord(word: string): string {
  if (word !== '' && /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) && !word.startsWith('=') && !/^[A-Za-z_][A-Za-z0-9_]*\+?=/.test(word)) return word
  return `'${word.replaceAll("'", String.raw`'\''`)}'`
}

export function quoteArgv(words: readonly string[]): string {
  return words.map(quoteWord).join(' ')
}
