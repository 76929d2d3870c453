/**
 * What a first look lets a command change: plain names below its directory, through which no link leads elsewhere, that
 * are none of the places of `rules/` and near nothing that is protected.
 */
import { nameList, nameSet } from '../contract/quote.js'
import type { GuardContext } from './policy/context.js'
import { isUnheardOf, knownBehind, NOT_FOUND } from './programs/dispatch.js'
import { onlyReads, SUBSTITUTION } from './programs/readers.js'
import { COMMAND_TEXT } from './programs/row/call.js'
import { formatted } from './programs/shell/printf.js'
import type { EffectKind } from './rules/findings.js'
import { judgeEffect } from './rules/judge.js'
import { isCodeFile } from './walk/code-files.js'
import { Disk } from './walk/disk.js'
import { isInside } from '../contract/names/inside.js'
import { resolvePath } from './words/paths.js'
import { USUAL_PATH } from './words/state.js'
import { EMPTY, isConstant, isWorthKeeping } from './words/text.js'

type Words = readonly (string | null)[]

/** Nothing hidden, no option, no pattern, no way up. */
const PLAIN_NAME = /^(?:\.\/)?[\w@+=,][\w@+=.,-]*(?:\/[\w@+=,][\w@+=.,-]*)*$/
/** Files that something runs later, and directories of the system. */
const RUN_LATER =
  /\/\.|^\/(?:etc|var|usr|boot|dev|proc|sys|run|lib\w*|s?bin)(?:\/|$)|\.(?:service|socket)\.d(?:\/|$)|\.timer$/

/** What they print is not known, whatever they are given. */
const PRINTS_UNKNOWN = nameSet('wc diff cmp comm df md5sum sha1sum sha256sum date uname git stat')

/** Where git finds its settings, and what it works upon. */
const GIT_VARIABLES = nameList(`
  GIT_CONFIG GIT_CONFIG_COUNT GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_PARAMETERS GIT_DIR GIT_WORK_TREE
`)

/** Words with which they do print something that they are given. */
const REPEATS: ReadonlyMap<string, RegExp> = new Map([
  ['stat', /^-\w*c|^--|\//],
  ['df', /^--|target/],
  ['date', /\//],
  ['git', /^(?:config|show|cat-file)$/],
  ['find', /^-(?:printf|exec)$/],
])

/** What they print is as little known as what they are given. */
const PASSES_ON = nameSet('head sort tail uniq wc')

/** What comes into a program: nothing, what is not known, names of files, or text that is known. */
export type Input = 'none' | 'unknown' | 'names' | 'known'

/** What a program does to a name that it is given, and the mode that it gives it. */
type Change = readonly [kind: EffectKind, name: string, mode?: string]

/** What a program does; null: a closer look is needed; undefined: nothing with these words. */
type Effects = (words: readonly string[], input: Input) => readonly Change[] | null | undefined

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
    if (from === undefined || to === undefined || others.length > 0 || from.startsWith('-')) return null
    const inside = `${to}/${from.slice(from.lastIndexOf('/') + 1)}`
    return [...(takesAway ? [['move', from] as const] : []), ['overwrite', to], ['overwrite', inside]]
  }

/** `sed -i[SUFFIX] s/A/B/ FILE...`: what the line was is part of what it becomes. */
const sed: Effects = ([first = '', ...words]) => {
  if (!/^-[nErs]*i/.test(first)) return undefined
  const [script = '', ...names] = words[0] === '-E' ? words.slice(1) : words
  const isEdit = /^-i[.\w]*$/.test(first) && SUBSTITUTION.test(script) && !/^s.\^?\.\*/.test(script)
  return isEdit && names.length > 0 ? names.map((name) => ['edit', name] as const) : null
}

/** `chmod MODE FILE...` */
const chmod: Effects = ([mode = '', ...names]) =>
  /^(?:[0-7]{3,4}|[ugoa]*[-+=][rwxX]+)$/.test(mode) && names.length > 0
    ? names.map((name) => ['mode', name, mode] as const)
    : null

/** `tar cf NAME FILE...`, `tar tf NAME`. */
const tar: Effects = ([bundle = '', name = '', ...files]) => {
  if (/^-?t[vzjJ]*f$/.test(bundle) && files.length === 0) return []
  return /^-?c[vzjJ]*f$/.test(bundle) && files.every((file) => PLAIN_NAME.test(file)) ? [['overwrite', name]] : null
}

/** `sort -o NAME`: of what is not known. */
const sort: Effects = (words, input) => {
  const at = words.indexOf('-o')
  if (at < 0) return undefined
  return input !== 'known' && words.every((word, i) => i === at || /^(?:[^-]|-[bdfghinrRsuV]+$)/.test(word))
    ? [['overwrite', words[at + 1] ?? '']]
    : null
}

/** Settings of git that name no command. */
const CONFIG_KEY = /^(?:user\.(?:name|email)|init\.defaultBranch|pull\.(?:rebase|ff)|push\.default|fetch\.prune)$/i

/** Verbs that change the work tree by what is in the repository. */
const git: Effects = ([verb = '', ...words]) => {
  if (/^(?:checkout|switch|reset)$/.test(verb))
    return words.every((word) => /^(?!-\w*f|--[fhmo]|\.$)/.test(word)) ? [] : null
  if (verb === 'stash') return words.every((word) => /^(?:list|show|pop|apply|drop|push|-q)$/.test(word)) ? [] : null
  if (verb !== 'config') return undefined
  const [key = '', value, ...others] = words.filter((word) => !/^--(?:global|local)$/.test(word))
  return CONFIG_KEY.test(key) && others.length === 0 && !value?.startsWith('-') && !isWorthKeeping(value ?? '')
    ? []
    : null
}

const CHANGES: Readonly<Record<string, Effects>> = {
  chmod,
  git,
  sed,
  sort,
  tar,
  tee: (words, input) => (input === 'unknown' ? each(/^-a$/, () => 'overwrite')(words, input) : null),
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
  /** Something has another name now, perhaps a link. */
  #hasMoved = false
  /** Places that no effect may be in or around: what is protected, by all its names, and where programs lie. */
  #kept: { readonly protects: readonly string[]; readonly programs: readonly string[] } | undefined

  constructor(context: GuardContext) {
    this.#context = context
    this.disk = new Disk(context.resolveSymlink)
  }

  /** Whether a program of the table does no harm with these words; null where they change nothing. */
  changes(program: string, words: Words, input: Input, places: readonly string[]): boolean | null {
    if (!Object.hasOwn(CHANGES, program)) return null
    const known = words.filter((word) => word !== null)
    const effects = (CHANGES[program] as Effects)(known, input)
    if (effects === undefined) return null
    if (effects === null || known.length < words.length) return false
    // What is copied is read as a whole, and may be a program.
    const isPlace = (word: string): boolean => /^\/(?:(?:usr\/)?s?bin|dev|proc)\//.test(word)
    const leads = (word: string): boolean =>
      this.leadsAway(word, places) || places.some((place) => isPlace(resolvePath(word, place)))
    const reads = program === 'cp' && known.some((word) => !word.startsWith('-') && leads(word))
    if (program === 'git' && this.#gitIsSet) return false
    // What is made of a file that was written is known.
    if (this.#hasWritten && /^(?:sed|sort|tar)$/.test(program)) return false
    const passes = !reads && effects.every(([kind, name, mode]) => this.#isHarmless(kind, name, places, mode))
    this.#hasMoved ||= program === 'mv'
    return passes
  }

  /** Whether all that the program does is to read, as far as anyone knows. */
  onlyReads(program: string, words: Words, input: Input, cwd: string): boolean {
    // Names in text that is known are followed.
    if (program === 'xargs' && input === 'known') return false
    if (!onlyReads(program, words)) return this.#isUnheardOf(program, words, cwd)
    return !((program === 'git' || words.includes('git')) && this.#gitIsSet)
  }

  /** A program that no table knows by its name, or by the one that it has behind a link. */
  #isUnheardOf(program: string, words: Words, cwd: string): boolean {
    if (!words.every((word) => word !== null) || !isUnheardOf(program, words) || !this.isUntouched) return false
    const { functions = {} } = this.#context
    const real = (path: string): string | undefined => this.disk.real(path)
    return !Object.hasOwn(functions, NOT_FOUND) && knownBehind(program, this.#path, cwd, real) === undefined
  }

  get #path(): string {
    return this.#context.variables?.['PATH'] ?? USUAL_PATH
  }

  /** Settings of git from the environment, which may be commands. */
  get #gitIsSet(): boolean {
    const { variables = {} } = this.#context
    return GIT_VARIABLES.some((name) => variables[name] !== undefined)
  }

  /** Whether what the program prints may go into the file. */
  writes(
    program: string,
    words: Words,
    { input, text: document }: { readonly input: Input; readonly text: string | null },
    name: string,
    places: readonly string[],
  ): boolean {
    const text = this.prints(program, words, input) === 'unknown' ? null : textOf(program, words, input, document)
    if (text === undefined || (text !== null && (this.#hasWritten || isWorthKeeping(text)))) return false
    this.#hasWritten ||= text !== null
    return this.#isHarmless('overwrite', name, places)
  }

  /** What it prints for such an input. */
  prints(program: string, words: Words, input: Input): Input {
    const isRepeated = (word: string | null): boolean =>
      word === null || COMMAND_TEXT.test(word) || (REPEATS.get(program)?.test(word) ?? false)
    if (input === 'known' || !this.isUntouched || words.some(isRepeated)) return 'known'
    if (program === 'grep') return words.some((word) => /^-\w*[lL]|^--files/.test(word ?? '')) ? 'names' : 'unknown'
    if (PRINTS_UNKNOWN.has(program)) return 'unknown'
    if (PASSES_ON.has(program) && input !== 'none') return input
    return program === 'find' ? 'names' : 'known'
  }

  /** No file is known that was written. */
  get isUntouched(): boolean {
    return !this.#hasWritten && !this.#knowsFiles
  }

  /** What a file holds is known from an earlier command. */
  get #knowsFiles(): boolean {
    return Object.keys(this.#context.held?.files ?? {}).length > 0
  }

  /** A link is on the way to the name. */
  leadsAway(name: string, places: readonly string[]): boolean {
    return this.#hasMoved || places.some((place) => this.disk.behind(resolvePath(name, place), true) !== undefined)
  }

  #keepAway(): { readonly protects: readonly string[]; readonly programs: readonly string[] } {
    const { protectedPaths = [] } = this.#context
    return {
      protects: protectedPaths.flatMap((path) => [path, this.disk.behind(path, true) ?? path]),
      programs: this.#path.split(':').map((one) => (one.startsWith('/') ? resolvePath(one, '/') : one)),
    }
  }

  /** (Where PATH names the current directory, anything may be a program.) */
  #isHarmless(kind: EffectKind, name: string, places: readonly string[], mode = EMPTY): boolean {
    const { home, variables } = this.#context
    // What a file held before is told anew when it changes.
    if (!PLAIN_NAME.test(name) || this.#knowsFiles || this.#hasMoved) return false
    const homes = [variables?.['HOME'] ?? home, home]
    const { protects, programs } = (this.#kept ??= this.#keepAway())
    return places.every((place) => {
      const path = resolvePath(name, place)
      return (
        path.startsWith('/') &&
        !RUN_LATER.test(path) &&
        !isCodeFile(path) &&
        programs.every((one) => one.startsWith('/') && !isInside(path, one)) &&
        !protects.some((one) => isInside(path, one) || isInside(one, path)) &&
        this.disk.behind(path, !/^(?:delete|move)/.test(kind)) === undefined &&
        !judgeEffect({ kind, path, word: name, mode }, { homes, mayExist: () => true, guessed: false })
      )
    })
  }
}

/** What goes into the file; undefined where more than a look is needed. */
function textOf(program: string, words: Words, input: Input, document: string | null): string | undefined {
  if (program === 'cat' && words.length === 0) return document ?? undefined
  if (input !== 'none') return undefined
  if (!words.every((word): word is string => word !== null && isConstant(word))) return undefined
  if (program === 'echo') return words[0]?.startsWith('-') ? undefined : `${words.join(' ')}\n`
  return program === 'printf' ? formatted(words)[0] : undefined
}
