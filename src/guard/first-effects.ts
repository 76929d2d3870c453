/**
 * What a first look lets a command change: plain names below its directory, through which no link leads elsewhere, that
 * are none of the places of `rules/` and near nothing that is protected.
 */
import { nameSet } from '../contract/quote.js'
import type { GuardContext } from './policy/context.js'
import { formatted } from './programs/shell/printf.js'
import type { EffectKind } from './rules/findings.js'
import { judgeEffect } from './rules/judge.js'
import { Disk } from './walk/disk.js'
import { isInside } from '../contract/names/inside.js'
import { resolvePath } from './words/paths.js'
import { EMPTY, isConstant, isWorthKeeping } from './words/text.js'

type Words = readonly (string | null)[]

/** Nothing hidden, no option, no pattern, no way up. */
const PLAIN_NAME = /^(?:\.\/)?[\w@+=,][\w@+=.,-]*(?:\/[\w@+=,][\w@+=.,-]*)*$/
/** Files that something runs later, and directories of the system. */
const RUN_LATER =
  /\/\.|^\/(?:etc|var|usr|boot|dev|proc|sys|run|lib\w*|s?bin)(?:\/|$)|-(?:commit|push|checkout|merge|rewrite|receive|applypatch)$|-msg$|\.(?:desktop|service|timer)$|customize\.py$/

/** What they print is not known, whatever they are given. */
const PRINTS_UNKNOWN = nameSet('wc diff cmp comm df md5sum sha1sum sha256sum date uname git stat')

/** What a program does to the names that it is given; null: a closer look is needed. */
type Effects = (words: readonly string[]) => readonly (readonly [EffectKind, string])[] | null

const each =
  (options: RegExp, kindOf: (given: readonly string[]) => EffectKind): Effects =>
  (words) => {
    const given = words.filter((word) => word.startsWith('-'))
    const names = words.filter((word) => !word.startsWith('-'))
    return names.length > 0 && given.every((option) => options.test(option))
      ? names.map((name) => [kindOf(given), name] as const)
      : null
  }

/** One file or directory to one other name. */
const transfer =
  (options: RegExp, takesAway: boolean): Effects =>
  (words) => {
    const [from, to, ...others] = words.filter((word) => !options.test(word))
    if (from === undefined || to === undefined || others.length > 0) return null
    const inside = `${to}/${from.slice(from.lastIndexOf('/') + 1)}`
    return [...(takesAway ? [['move', from] as const] : []), ['overwrite', to], ['overwrite', inside]]
  }

const CHANGES: Readonly<Record<string, Effects>> = {
  mkdir: each(/^-p$/, () => 'create'),
  touch: each(/^(?!)/, () => 'create'),
  rm: each(/^-[rRf]+$/, (given) => (given.some((option) => /[rR]/.test(option)) ? 'delete-tree' : 'delete')),
  cp: transfer(/^-[rRapfn]+$/, false),
  mv: transfer(/^-[fn]+$/, true),
}

export class FirstEffects {
  readonly disk: Disk
  readonly #context: GuardContext
  /** A file was written with text that is known. */
  #hasWritten = false

  constructor(context: GuardContext) {
    this.#context = context
    this.disk = new Disk(context.resolveSymlink)
  }

  /** Whether a program of the table does no harm with these words; null where it is none of the table. */
  changes(program: string, words: Words, places: readonly string[]): boolean | null {
    if (!Object.hasOwn(CHANGES, program)) return null
    if (!words.every((word): word is string => word !== null)) return false
    const effects = (CHANGES[program] as Effects)(words)
    // What is copied is read as a whole.
    const reads = program === 'cp' && words.some((word) => !word.startsWith('-') && this.leadsAway(word, places))
    return effects !== null && !reads && effects.every(([kind, name]) => this.#isHarmless(kind, name, places))
  }

  /** Whether what the program prints may go into the file. */
  writes(program: string, words: Words, input: string | null, name: string, places: readonly string[]): boolean {
    const text = this.printsUnknown(program) ? null : textOf(program, words, input)
    if (text === undefined || (text !== null && (this.#hasWritten || isWorthKeeping(text)))) return false
    this.#hasWritten ||= text !== null
    return this.#isHarmless('overwrite', name, places)
  }

  /** Whether what it prints is not known. */
  printsUnknown(program: string): boolean {
    return PRINTS_UNKNOWN.has(program) || (program === 'grep' && !this.#hasWritten && !this.#knowsFiles)
  }

  /** What a file holds is known from an earlier command. */
  get #knowsFiles(): boolean {
    return Object.keys(this.#context.held?.files ?? {}).length > 0
  }

  /** A link is on the way to the name. */
  leadsAway(name: string, places: readonly string[]): boolean {
    return places.some((place) => this.disk.behind(resolvePath(name, place), true) !== undefined)
  }

  #isHarmless(kind: EffectKind, name: string, places: readonly string[]): boolean {
    const { home, variables, protectedPaths = [] } = this.#context
    // What a file held before is told anew when it changes.
    if (!PLAIN_NAME.test(name) || this.#knowsFiles) return false
    const homes = [variables?.['HOME'] ?? home, home]
    const protects = protectedPaths.flatMap((path) => [path, this.disk.behind(path, true) ?? path])
    return places.every((place) => {
      const path = resolvePath(name, place)
      return (
        path.startsWith('/') &&
        !RUN_LATER.test(path) &&
        !protects.some((one) => isInside(path, one) || isInside(one, path)) &&
        this.disk.behind(path, !/^(?:delete|move)/.test(kind)) === undefined &&
        !judgeEffect({ kind, path, word: name, mode: EMPTY }, { homes, mayExist: () => true, guessed: false })
      )
    })
  }
}

/** What goes into the file; undefined where more than a look is needed. */
function textOf(program: string, words: Words, input: string | null): string | undefined {
  if (program === 'cat' && words.length === 0) return input ?? undefined
  if (!words.every((word): word is string => word !== null && isConstant(word))) return undefined
  if (program === 'echo') return words[0]?.startsWith('-') ? undefined : `${words.join(' ')}\n`
  return program === 'printf' ? formatted(words)[0] : undefined
}
