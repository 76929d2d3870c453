/**
 * What known hosts do with a result before the model sees it, so that what they would cut out
 * of the middle is never there.
 */

export interface Host {
  /** Characters of a result that reach the model; null: all of them. */
  readonly maxChars: number | null
  /** The same for error results. */
  readonly maxFailedChars: number | null
  /** False: it shows the model both halves of a result, the second one for nothing. */
  readonly structured: boolean
}

const UNKNOWN: Host = { maxChars: null, maxFailedChars: null, structured: true }

/** Measured with the hosts of `npm run test:hosts`; a little is left for what JSON adds to a text. */
const HOSTS: readonly (readonly [RegExp, Host])[] = [
  // About 5,000 characters of each end of an error text.
  [/^claude-code\b/, { maxChars: null, maxFailedChars: 9_500, structured: true }],
  // 12,020 characters of anything.
  [/^codex\b/, { maxChars: 10_500, maxFailedChars: 10_500, structured: true }],
  // Every failure twice: as text and as JSON.
  [/^gemini-cli\b/, { maxChars: null, maxFailedChars: null, structured: false }],
]

export function hostOf(client: { readonly name?: unknown } | undefined): Host {
  const name = typeof client?.name === 'string' ? client.name : ''
  return HOSTS.find(([known]) => known.test(name))?.[1] ?? UNKNOWN
}
