/** What the guard is willing to read. Beyond these it refuses; it never guesses and never gets slow. */
export const GUARD_LIMITS = {
  /** UTF-16 units of one command. A larger script belongs into a file. */
  maxChars: 4_200_000,
  /** Shells inside shells, wrappers inside wrappers, functions calling functions. */
  maxDepth: 60,
  /** Simple commands, words and expansions looked at for one verdict. */
  maxSteps: 160_000,
  /** Fields one word may expand to (`{1..99999}`). */
  maxFields: 4_096,
  /** Numbers in one range (`{1..99999}`): bash makes a word of each, and a thousand million of them fill the memory. */
  maxRange: 1_000_000,
  /** Different values a word may have when something in it is not known. */
  maxAlternatives: 64,
  /** Curly braces in one unbroken run of characters: the parser's time grows with their square. */
  maxBracesPerWord: 400,
  /** Of a file that a session's command wrote: a longer one is not kept in mind, nor read again. */
  keptFileChars: 4_000,
  /** A session that writes files all day keeps the last few in mind. */
  keptFiles: 32,
} as const

export type LimitName = 'size' | 'depth' | 'steps' | 'syntax'

/** Thrown inside the guard only, and always turned into a refusal. */
export class GuardLimit extends Error {
  constructor(
    readonly limit: LimitName,
    message: string,
  ) {
    super(message)
  }
}
