/**
 * Paths that no command may change: the guard's own configuration, the engine's state, the
 * vault. Some may not be read either.
 */
import { isExtreme } from '../rules/judge.js'
import { type Effect, objection } from '../rules/findings.js'
import type { GuardContext } from './context.js'
import { looksAtNames, readsTrees } from '../programs/readers.js'
import { globMatches } from '../words/glob.js'
import { resolvePath } from '../words/paths.js'
import { hasUnknown, hasWildcard, plain, readable, SELECTED, TREE, UNKNOWN, UNTRACKED } from '../words/text.js'
import type { Disk } from '../walk/disk.js'
import type { Observer } from '../walk/effects.js'
import type { Walker } from '../walk/walk.js'

export function watchProtected(context: GuardContext, text: string): Partial<Observer> {
  const tidy = (path: string): string => path.replace(/(.)\/+$/, '$1')
  const paths = (context.protectedPaths ?? []).map(tidy)
  const secret = (context.unreadablePaths ?? []).map(tidy)
  const secretPlaces = secret.map(placeOf)
  // Where the command makes links any word can mean them, otherwise one with a name of theirs or a pattern.
  const lastNames = secretPlaces.map(({ parts }) => parts[parts.length - 1] ?? '')
  const mayName = (word: string, { namesakes }: Walker): boolean =>
    !namesakes.isEmpty || PATTERN.test(word) || lastNames.some((name) => word.includes(name))
  const known = new Map<string, readonly Place[]>()
  const tracked =
    keepsIndex(text) && !['git', 'cd'].some((name) => context.aliases?.[name] ?? context.functions?.[name])
  // Asked for every word that names a path: the disk answers once in a verdict.
  const places = (path: string, disk: Disk): readonly Place[] => {
    const found = known.get(path) ?? namesOf(path, disk).map(placeOf)
    known.set(path, found)
    return found
  }
  return {
    command: (argv, shell, walker) => {
      if (secret.length === 0 || looksAtNames(plain(argv[0] ?? ''), argv)) return
      const all = readsTrees(plain(argv[0] ?? ''), argv.slice(1)) ? TREE : ''
      const from = all ? directoryOf(argv) : ''
      if (all && argv.length > 1 && READS_HERE.test(plain(argv[0] ?? ''))) walker.reads(`./${all}`, shell, argv)
      for (const word of argv.slice(1)) {
        if (from) walker.reads(`${from}/${word}/${all}`, shell, argv)
        if (mayName(word, walker)) for (const name of namesIn(word)) walker.reads(name, shell, argv)
        if (all && word !== '' && !OPTION.test(word)) walker.reads(`${word}/${all}`, shell, argv)
      }
    },
    reads: (path, walker, argv) => {
      const behind = mayLeadTo(path, secret) ? walker.disk.behind(path, true) : undefined
      const words = [path, ...(behind ? [behind] : [])].map((one) => ({
        parts: partsOf(resolvePath(one, '/').replace(TREE, '')),
        takesTree: one.endsWith(TREE),
      }))
      const hit = secretPlaces.find((place) => words.some((word) => names(word, place)))
      if (hit) refuse(walker, argv, readable(path), `would read ${hit.path}, which holds cerith's secrets`)
    },
    effect: (effect, walker, argv) => {
      const stays = ({ path }: Place): boolean =>
        tracked && effect.mode === UNTRACKED && walker.disk.isTracked(path, effect.path)
      // In a container that runs already only the file's own name counts, in case its directory is mounted there.
      const elsewhere = walker.namesakes.isElsewhere
      const hit = paths.find((path) =>
        places(path, walker.disk).some(
          (place) =>
            (!elsewhere || `${effect.path}/`.startsWith(`${place.path}/`)) &&
            touches(effect, place, walker.disk, secret) &&
            !stays(place),
        ),
      )
      if (hit !== undefined) refuse(walker, argv, effect.word, `would change ${hit}, which belongs to cerith itself`)
    },
  }
}

/** Plain commands one after the other, of which none before `git clean` can take a name out of the index. */
function keepsIndex(text: string): boolean {
  if (/[|<>(){}$`\\'"!]|(?<!&)&(?!&)|\b(?:while|until|for|do|if|case|trap)\b/.test(text)) return false
  const steps = text.split(/&&|;|\n/).map((step) => step.trim())
  const last = steps.findLastIndex((step) => /^git (?:-C \S+ )?(?:clean|stash)\b/.test(step))
  return steps.slice(0, last).every((step) => step === '' || KEEPS_INDEX.test(step))
}

const KEEPS_INDEX =
  /^(?:cd \S+|pwd|ls( \S+)*|git (?:-C \S+ )?(?:(?:clean|stash|status|fetch|pull|switch|checkout|log|diff)\b.*|reset --hard( [\w\/.~^@-]+)?))$/

/** A protected path, by one of its names. */
interface Place {
  readonly path: string
  readonly parts: readonly string[]
}

function placeOf(path: string): Place {
  return { path, parts: partsOf(path) }
}

function partsOf(path: string): string[] {
  return path.split('/').slice(1)
}

/** `tar -C DIR`: the names that follow are below it. */
function directoryOf(argv: readonly string[]): string {
  const at = argv.findIndex((word) => /^(?:-C|--directory)$/.test(word))
  const joined = argv.find((word) => /^(?:-C.|--directory=)/.test(word))
  return at > 0 ? (argv[at + 1] ?? '') : (joined?.replace(/^(?:-C|--directory=)/, '') ?? '')
}

/** Only such a name is followed through links: a link of another name to one of the files is refused when made. */
function mayLeadTo(path: string, files: readonly string[]): boolean {
  const last = path.slice(path.lastIndexOf('/') + 1)
  return path.endsWith(TREE) || hasWildcard(last) || files.some((file) => file.endsWith(`/${last}`))
}

/** They read the current directory where they are given none. */
const READS_HERE = /(?:^|\/)(?:[ef]?grep|rgrep|rg|ag)$/

/** The word; where it is an option, also what may be a name behind its letters: `-nfvault`. */
function namesIn(word: string): readonly string[] {
  const [, letters = ''] = /^-([A-Za-z]{1,4})/.exec(word) ?? []
  return [word, ...Array.from(letters, (_, at) => word.slice(at + 2))]
}

/** One that names nothing. */
const OPTION = /^--?[\w-]+$/
const PATTERN = /[*?[\uFDD1-\uFDD9]/

function refuse(walker: Walker, argv: readonly string[], word: string, why: string): void {
  const guidance = 'A person can do this with this file; a command cannot. Do without it, or ask.'
  walker.add(objection('deny', 'protected-path', [readable(argv[0] ?? ''), word], { why: ` ${why}`, guidance }))
}

/** A path by its name, and by the name that it has behind links. */
function namesOf(path: string, disk: Disk): readonly string[] {
  const real = disk.behind(path, true)
  return real === undefined ? [path] : [path, real]
}

/** Writing in or at the path, taking away a directory that holds it, or a pattern that picks it out. */
function touches(effect: Effect, { path, parts: own }: Place, disk: Disk, inside: readonly string[]): boolean {
  if (!effect.path.startsWith('/')) return false
  const tree = effect.path.endsWith(TREE)
  const parts = partsOf(tree ? effect.path.slice(0, -1) : effect.path)
  if (parts.length === 1 && parts[0] === '') parts.pop()
  const last = parts[parts.length - 1] ?? ''
  if (last.startsWith(SELECTED)) {
    const start = parts.slice(0, -1)
    if (!leadsTo(start, own)) return false
    if (start.length >= own.length && !start.some((part) => hasWildcard(part))) return true
    const known = [path, ...inside.filter((file) => file.startsWith(`${path}/`)), `${path}/audit.jsonl`]
    return known.some(
      (file) =>
        disk.real(file) !== undefined && isSelected(last.slice(1), Math.min(start.length, own.length - 1), file),
    )
  }
  if (!leadsTo(parts, own)) return false
  if (parts.length >= own.length) {
    if (parts.slice(0, own.length).every((part) => !hasWildcard(part))) return true
    // Nothing lies below a file; and a harmless mode does not change what the file says.
    if ((parts.length > own.length && /\.json$/.test(path)) || isHarmlessMode(effect)) return false
    return disk.real(path) !== undefined
  }
  return takesAll(effect, tree) && disk.real(path) !== undefined
}

/** Whether the first parts can be those of the path. */
function leadsTo(parts: readonly string[], own: readonly string[]): boolean {
  return parts.every((part, i) => i >= own.length || isName(part, own[i] ?? ''))
}

/** What a name test of find lets through: the pattern of a name, or of a whole path. */
function isSelected(pattern: string, from: number, path: string): boolean {
  if (pattern === '' || pattern === UNKNOWN) return false
  if (pattern.includes('/')) return globMatches(pattern, path)
  return path
    .split('/')
    .slice(1 + from)
    .some((name) => globMatches(pattern, name))
}

/** An effect on a directory that takes everything below it along. */
function takesAll({ kind, mode }: Effect, tree: boolean): boolean {
  if (kind === 'delete-tree' || kind === 'move') return true
  if (kind === 'mode-tree' || (tree && kind === 'mode')) return isExtreme(mode ?? '')
  return tree && (kind === 'delete' || kind === 'overwrite' || kind === 'replace')
}

function isHarmlessMode({ kind, mode }: Effect): boolean {
  return /^owner/.test(kind) || (/^mode/.test(kind) && !isExtreme(mode ?? ''))
}

function isName(part: string, name: string): boolean {
  if (part === name) return true
  if (!hasWildcard(part) || hasUnknown(part)) return false
  return globMatches(part, name) && (!name.startsWith('.') || part.startsWith('.'))
}

/** A word of a command that names the file, or with a wildcard could. */
function names(
  { parts, takesTree }: { readonly parts: readonly string[]; readonly takesTree: boolean },
  { path: file, parts: own }: Place,
): boolean {
  const last = parts[parts.length - 1] ?? ''
  if (last.startsWith(SELECTED)) {
    const start = parts.slice(0, -1)
    return start.length < own.length && leadsTo(start, own) && isSelected(last.slice(1), start.length, file)
  }
  // The directory right around it counts where everything in it is read.
  return (parts.length === own.length || (takesTree && parts.length === own.length - 1)) && leadsTo(parts, own)
}
