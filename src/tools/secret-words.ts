/**
 * What a model is told about secrets: that there are some, how a command uses one, and their
 * names. Nothing while there are none.
 */

/** More names than this are not read, only paid for. */
const MOST_NAMES = 20

export function secretWords(names: readonly string[]): string {
  if (names.length === 0) return ''
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : ''
  return (
    'Secrets: write {{secret:NAME}} in a command, the value is never shown. Names: ' +
    `${names.slice(0, MOST_NAMES).join(', ')}${more}.`
  )
}
