/**
 * Repositories that come into being inside a workspace, and those that are entered in an index:
 * plain `git status` above runs what their configuration says. They cannot be prevented without
 * forbidding work; they are told, and disarmed.
 */
import { lstatSync, readdirSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { indexEntries } from '../files/git-index.js'
import { readSmall } from './beneath.js'
import { attempt } from '../../contract/attempt.js'

const LEVELS = 2
/** A submodule's name with slashes is a directory for each part. */
const MODULE_LEVELS = 5
const MAX_DIRECTORIES = 10_000
/** Times of a file system tick coarser than the clock: within that, two changes can look like one. */
export const TICK_MS = 50
/** The look costs a call for each directory: not after every one of many quick commands. */
const LOOK_EVERY_MS = 1_000

export interface NewRepository {
  /** Its directory of git. */
  readonly dot: string
  /** What is told of. */
  readonly path: string
  readonly why: string
}

export class NestedRepositories {
  readonly #roots: readonly string[]
  /** What was told, with the change time of those that lead elsewhere: they may lead to another one later. */
  readonly #known = new Map<string, number>()
  readonly #links = new Map<string, { seen: number; readonly paths: Set<string> }>()
  readonly #most: number
  readonly #holds = new Map<string, Holdings>()
  #lookedAt = Number.NEGATIVE_INFINITY
  /** The last look was left out because another was a moment before. */
  isDue = false
  /** Whether there are more directories than are looked into. */
  isBeyond = false

  constructor(roots: readonly string[], most = MAX_DIRECTORIES) {
    this.#roots = roots
    this.#most = most * roots.length
    this.#find((path) => this.#note(path))
    for (const root of roots) {
      const paths = gitlinksOf(root)
      for (const path of paths) this.#note(join(root, path, '.git'))
      this.#links.set(root, { seen: stampOf(indexOf(root)), paths })
    }
  }

  #note(...paths: readonly string[]): void {
    for (const path of paths) this.#known.set(path, pointerStamp(path))
  }

  /** Whether a look would be one. Where it is too soon, it is due. */
  isTime(now = performance.now()): boolean {
    this.isDue = now - this.#lookedAt < LOOK_EVERY_MS
    return !this.isDue
  }

  /** What is new since the last look; `now` says when, in milliseconds. */
  look(now = performance.now()): NewRepository[] {
    if (!this.isTime(now)) return []
    this.#lookedAt = now
    const found: NewRepository[] = []
    const see = (path: string): void => {
      if (this.#known.get(path) === pointerStamp(path)) return
      const dot = directoryOf(path)
      const isTold = this.#known.has(dot)
      this.#note(dot, path)
      const why = 'a repository was made inside the workspace; its hooks and configuration are of a command’s making'
      if (!isTold) found.push({ dot, path, why })
    }
    this.#find(see)
    for (const [root, at] of this.#links) {
      for (const path of at.paths) see(join(root, path, '.git'))
      const seen = stampOf(indexOf(root))
      if (seen === at.seen) continue
      at.seen = seen
      for (const path of gitlinksOf(root)) {
        if (at.paths.has(path)) continue
        at.paths.add(path)
        this.#note(join(root, path, '.git'))
        const why =
          'it was entered in the index as a repository of its own: `git status` outside runs what its ' +
          'configuration says'
        found.push({ dot: directoryOf(join(root, path, '.git')), path: join(root, path), why })
      }
    }
    return found
  }

  #find(tell: (dot: string) => void): void {
    let left = this.#most
    const isLeft = (): boolean => left-- > 0
    const look = (directory: string, levels: number): void => {
      const { dots, directories } = this.#holdings(directory, levels > 0)
      for (const dot of dots) for (const one of [dot, ...repositoriesOf(dot, isLeft)]) tell(one)
      for (const path of directories) if (isLeft()) look(path, levels - 1)
    }
    for (const root of this.#roots) {
      look(root, LEVELS)
      // Its own is protected, or watched for; what it keeps is not.
      for (const one of repositoriesOf(join(root, '.git'), isLeft)) tell(one)
    }
    this.isBeyond = left < 0
  }

  /** One call for a directory that has not changed: names cannot come or go in it without its change time. */
  #holdings(directory: string, isDeeper: boolean): Holdings {
    const stamp = stampOf(directory)
    const known = this.#holds.get(directory)
    if (known?.stamp === stamp) return known
    // One without a directory of its own for its files is a repository as well: `git` in it believes its config, also
    // beside a `.git` that is none.
    const dot = join(directory, '.git')
    const isOwn = exists(dot) && !this.#roots.includes(directory)
    const found: Holdings = {
      // Times tick coarser than changes may come: a young one is looked at again.
      stamp: Date.now() - stamp < TICK_MS ? Number.NaN : stamp,
      dots: [...(isOwn ? [dot] : []), ...(isBare(directory) ? [directory] : [])],
      directories: isDeeper ? directoriesIn(directory).filter((path) => !/\/(?:\.git|node_modules)$/.test(path)) : [],
    }
    this.#holds.set(directory, found)
    return found
  }
}

interface Holdings {
  readonly stamp: number
  readonly dots: readonly string[]
  readonly directories: readonly string[]
}

/**
 * Worktrees and submodules that a repository keeps, wherever their files are: git outside believes a `config.worktree`,
 * and runs the hooks of a submodule that is checked out later. `isLeft`: whether one more directory may be looked at.
 */
function repositoriesOf(dot: string, isLeft: () => boolean): string[] {
  if (!exists(join(dot, 'HEAD'))) return []
  const modules = (directory: string, levels: number): string[] =>
    directoriesIn(directory).flatMap((path) => {
      if (!isLeft()) return []
      // One that is not whole yet counts: the rest may come with a later command.
      if (['HEAD', 'hooks', 'config'].some((name) => exists(join(path, name)))) return [path]
      return levels > 1 ? modules(path, levels - 1) : []
    })
  return [...directoriesIn(join(dot, 'worktrees')).filter(isLeft), ...modules(join(dot, 'modules'), MODULE_LEVELS)]
}

/** Of a `.git` that is a file or a link; 0 for a directory. */
function pointerStamp(path: string): number {
  return attempt(() => {
    const facts = lstatSync(path)
    return facts.isDirectory() ? 0 : facts.ctimeMs
  }, 0)
}

function isBare(path: string): boolean {
  return ['HEAD', 'objects', 'refs'].every((name) => exists(join(path, name)))
}

function directoriesIn(directory: string): string[] {
  const entries = attempt(() => readdirSync(directory, { withFileTypes: true }), [])
  return entries.flatMap((entry) => (entry.isDirectory() ? [join(directory, entry.name)] : []))
}

/** A name below something that is no directory is not there. */
export function exists(path: string): boolean {
  return attempt(() => lstatSync(path, { throwIfNoEntry: false }) !== undefined, false)
}

/** Where a `.git` leads: itself, or the directory that a file or link names. */
export function directoryOf(dot: string): string {
  const named = /^gitdir:\s*(.+?)\s*$/m.exec(readSmall(dot) ?? '')?.[1]
  const path = named === undefined ? dot : isAbsolute(named) ? named : join(dirname(dot), named)
  return attempt(() => realpathSync.native(path), dot)
}

function indexOf(root: string): string {
  return join(root, '.git', 'index')
}

function stampOf(path: string): number {
  return attempt(() => lstatSync(path).ctimeMs, 0)
}

/** Paths with the mode of a repository in the index; none where it cannot be read. */
function gitlinksOf(root: string): Set<string> {
  const found = new Set<string>()
  for (const { mode, name } of indexEntries(indexOf(root), 'refuse'))
    if (mode === 0o160000) found.add(name.toString('utf8'))
  return found
}
