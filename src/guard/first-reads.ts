/** What a first look lets a command read: files below its directory, of which none can be one that must not be read. */
import { isInside } from '../contract/names/inside.js'
import type { FirstEffects } from './first-effects.js'
import type { GuardContext } from './policy/context.js'
import { looksAtNames, readsTrees } from './programs/readers.js'
import { globMatches } from './words/glob.js'
import { hasWildcard, STAR } from './words/text.js'

/** A word that names something outside of the current directory, or in it by another name. */
const LEADS_AWAY = /^[/~]|^-[A-Za-z]@?[/~]|[=@<:][/~]|\.\./
/** A name behind an option, which may be a link. */
const JOINED = /[=@]|^-C|^--dir/
/** A pattern for the files that grep finds. */
const CHOICE = new RegExp(`^--(?:in|ex)clude=${STAR}`)

export class FirstReads {
  /** Words of this command name files that are read. */
  #reads = false

  constructor(
    private readonly context: GuardContext,
    /** The directories in which a command may be. */
    private readonly places: readonly string[],
    private readonly effects: FirstEffects,
  ) {}

  /** Words that stay below the current directory cannot name a file that must not be read, unless one lies there. */
  get areFarFromSecrets(): boolean {
    const { unreadablePaths = [] } = this.context
    const isFar = (place: string): boolean =>
      !isInside(place, '/proc') && unreadablePaths.every((path) => !isInside(path, place))
    return !this.#reads || unreadablePaths.length === 0 || this.places.every(isFar)
  }

  /** Whether a program may have these words: what it is given is read. */
  may(program: string, words: readonly (string | null)[]): boolean {
    if (words.length === 0 || looksAtNames(program, words)) return true
    this.#reads = true
    const takesTree = program === 'xargs' || readsTrees(program, words)
    return words.every(
      (word) =>
        word !== null &&
        !((word.length > 1 || takesTree) && LEADS_AWAY.test(word)) &&
        !this.#mayBeSecret(word) &&
        !(takesTree && !CHOICE.test(word) && this.#mayLeadAway(word)),
    )
  }

  #mayLeadAway(word: string): boolean {
    return JOINED.test(word) || hasWildcard(word) || this.effects.leadsAway(word, this.places)
  }

  /** A name like one of the files that must not be read, also behind the letter of an option: a link may lead there. */
  #mayBeSecret(word: string): boolean {
    const { unreadablePaths = [] } = this.context
    const isPattern = hasWildcard(word)
    return unreadablePaths.some((path) => {
      const secret = path.slice(path.lastIndexOf('/') + 1)
      if (!isPattern && !word.includes(secret)) return false
      const last = /[^/=@<]*$/.exec(word.replace(/;[\w-]+=.*$/s, '').replace(/(?:\/\.?)+$/, ''))?.[0] ?? ''
      return isPattern ? /^-\w/.test(word) || globMatches(last, secret) : last.endsWith(secret)
    })
  }
}
