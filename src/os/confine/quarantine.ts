/**
 * Looks after each command for protected names that were not there before. They cannot be
 * covered in advance without leaving ghost files, so they are moved to the state directory when
 * they appear: by descriptor, the thing itself and never what a link leads to.
 */
import { closeSync, fstatSync, readdirSync, statSync, type Stats } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isBelow, isInside } from '../../contract/names/inside.js'
import { factsBeneath, hold, setAside } from './beneath.js'
import { disarm, markOf, repositoriesAt } from './disarm.js'
import { directoryOf, exists, NestedRepositories, TICK_MS, type NewRepository } from './repositories.js'
import { attempt } from '../../contract/attempt.js'

export interface Found {
  readonly path: string
  /** Where the file was moved to; null when it was left in place. */
  readonly movedTo: string | null
  readonly why: string
}

interface Watched {
  seen: number
  readonly names: Set<string>
  /** A root, held open: asking it costs half of asking a path, and this is asked after every command. Else -1. */
  held: number
  /** The root holds so many names that a list of it costs more than a question for each protected name. */
  isLong: boolean
}

const NOTHING: Found[] = []

/** So many are told one by one: what a command made in thousands would be all that its reader gets. */
const MOST_TOLD = 50

const LONG_LIST = 500
// oxlint-disable-next-line no-control-regex
const BEYOND_ASCII = /[^\0-\x7f]/

const BEYOND =
  'commands made more directories than are looked into for repositories, so `git` in one of the others may run ' +
  'what they put there'

/** Between commands, and during long ones, what sessions and jobs left running is looked after this often. */
const LOOK_MS = 2_000
/** The look for repositories costs a call for each directory: with every so many of these looks. */
const REPOSITORIES_EVERY = 5

export class Quarantine {
  readonly #stateDir: string
  readonly #roots: readonly string[]
  /** Paths that commands cannot write: what appears there was made by the person. */
  readonly #kept: readonly string[]
  /** Names by the directory that holds them; a directory that did not change is not looked into. */
  readonly #watched = new Map<string, Watched>()
  /** Directories that were not there, with the protected paths below them. */
  readonly #awaited = new Map<string, string[]>()
  /** Roots that were no repositories. */
  readonly #bare: Set<string>
  readonly #nested: NestedRepositories
  /** Repositories that commands made, with what they looked like when nothing in them would run. */
  readonly #made = new Map<string, string>()
  /** What the last look after a command found, told with the next one. */
  readonly #late: Found[] = []
  #busy = 0
  #busySince = Date.now()
  /** Since when repositories were not looked for. */
  #unlookedSince = this.#busySince
  #timer: NodeJS.Timeout | null = null
  #looks = 0

  constructor(
    stateDir: string,
    absent: readonly string[],
    roots: readonly string[],
    kept: readonly string[] = [],
    nested = new NestedRepositories(roots),
  ) {
    this.#stateDir = stateDir
    this.#roots = roots
    this.#kept = kept
    this.#bare = new Set(roots.filter((root) => !factsBeneath(root, join(root, '.git'))))
    this.#nested = nested
    for (const root of this.#bare) this.#watch(join(root, '.git'))
    for (const path of absent) if (![...this.#bare].some((root) => isBelow(path, join(root, '.git')))) this.#watch(path)
  }

  #rootOf(path: string): string | undefined {
    return this.#roots.filter((root) => isBelow(path, root)).sort((a, b) => b.length - a.length)[0]
  }

  #watch(path: string, seen?: number): void {
    const root = this.#rootOf(path)
    if (root === undefined) return
    const directory = dirname(path)
    const at = this.#watched.get(directory)
    if (at) at.names.add(basename(path))
    else if (directory === root || factsBeneath(root, directory)?.isDirectory()) {
      const held = directory === root ? hold(root) : -1
      const names = new Set([basename(path)])
      this.#watched.set(directory, { seen: seen ?? stamp(directory), names, held, isLong: false })
    } else {
      this.#awaited.set(directory, [...(this.#awaited.get(directory) ?? []), path])
      this.#watch(directory)
    }
  }

  /** A command enters the room: from now on what appears may be its work. */
  enter(): void {
    if (this.#busy++ > 0) return
    this.#busySince = Date.now()
    if (!this.#nested.isDue) this.#unlookedSince = this.#busySince
    this.#timer = setInterval(() => this.#lookMeanwhile(), LOOK_MS).unref()
  }

  leave(): void {
    if (--this.#busy > 0) return
    this.#stopLooking()
    this.#late.push(...this.#look())
  }

  /** What is found is told with the next outcome. */
  #lookMeanwhile(): void {
    if (this.#hasNews()) this.#late.push(...this.#newNames())
    this.#late.push(...(++this.#looks % REPOSITORIES_EVERY === 0 ? this.#newRepositories() : this.#rearmed()))
  }

  #stopLooking(): void {
    if (this.#timer) clearInterval(this.#timer)
    this.#timer = null
  }

  /**
   * Whether something protected came into being while no command was in the room: the person's,
   * and the room does not cover it. Or the person has put another directory in the place of a root.
   */
  isOutdated(): boolean {
    if (this.#isMoved()) return true
    if (this.#busy > 0) return false
    for (const [directory, at] of this.#watched)
      if (stamp(directory) !== at.seen)
        for (const name of at.names)
          if ((this.#awaited.get(join(directory, name)) ?? [join(directory, name)]).some(exists)) return true
    return false
  }

  #isMoved(): boolean {
    for (const [directory, { held }] of this.#watched) if (held >= 0 && !isSame(held, directory)) return true
    return false
  }

  look(): Found[] {
    const found = this.#look()
    if (found.length <= MOST_TOLD) return found
    const others = `${found.length - MOST_TOLD} more`
    return [...found.slice(0, MOST_TOLD), { path: others, movedTo: null, why: 'names and repositories like these' }]
  }

  #look(): Found[] {
    if (this.#late.length === 0 && this.#made.size === 0 && !this.#nested.isTime() && !this.#hasNews()) return NOTHING
    return [...this.#late.splice(0), ...this.#newNames(), ...this.#newRepositories()]
  }

  /** The room ends. What came into being since its last command is the person's. */
  lookLast(): void {
    this.#stopLooking()
    if (this.#busy > 0) this.#newNames()
    if (this.#busy > 0 || this.#nested.isDue) this.#newRepositories(Number.POSITIVE_INFINITY)
    for (const at of this.#watched.values()) {
      if (at.held >= 0) closeSync(at.held)
      at.held = -1
    }
  }

  #hasNews(): boolean {
    for (const [directory, at] of this.#watched) if (now(directory, at) !== at.seen) return true
    return false
  }

  #newNames(): Found[] {
    const found: Found[] = []
    for (const [directory, at] of this.#watched) {
      if (now(directory, at) === at.seen) continue
      for (const name of mayBeThere(directory, at)) {
        const one = this.#lookAt(directory, name)
        if (one !== null) found.push(one)
      }
      const after = now(directory, at)
      at.seen = Date.now() - after < TICK_MS ? Number.NaN : after
    }
    return found
  }

  #newRepositories(now?: number): Found[] {
    const wasBeyond = this.#nested.isBeyond
    const found = this.#nested.look(now).map((repository) => this.#newRepository(repository))
    // A command can hide a repository among directories: at least that is told.
    if (this.#nested.isBeyond && !wasBeyond) found.push({ path: this.#roots.join(', '), movedTo: null, why: BEYOND })
    return [...found, ...this.#rearmed()]
  }

  /** Repositories that commands made, and changed since. */
  #rearmed(): Found[] {
    const found: Found[] = []
    for (const [dot, seen] of this.#made) {
      if (markOf(this.#rootOf(join(dot, 'config')) ?? dot, dot) === seen) continue
      const gone = this.#disarmed(dot)
      if (gone.length > 0) found.push({ path: dot, movedTo: null, why: `set aside from it: ${gone.join(', ')}` })
      // `.git` may have become a file or a link that leads to another repository.
      const leadsTo = directoryOf(dot)
      if (!this.#made.has(leadsTo))
        found.push(this.#newRepository({ dot: leadsTo, path: dot, why: `it leads to the repository ${leadsTo} now` }))
    }
    return found
  }

  #lookAt(directory: string, name: string): Found | null {
    const path = join(directory, name)
    // Most often there is none: that costs one call, not the way down by descriptors.
    if (!exists(path)) return null
    const facts = factsBeneath(this.#rootOf(path) as string, path)
    if (!facts) return this.#linkOnTheWay(path)
    const waiting = this.#awaited.get(path)
    if (waiting) return this.#nowThere(path, facts, waiting)
    const isPersons = !this.#isNew(path)
    const isRepository = !isPersons && this.#bare.has(directory) && name === '.git' && facts.isDirectory()
    // What stays is told once. What could not be moved is tried again: a command can make it come and go.
    if (isPersons || isRepository) this.#watched.get(directory)?.names.delete(name)
    if (isPersons)
      return { path, movedTo: null, why: 'it came into being while no command ran, so it was left where it is' }
    if (isRepository) return this.#newRepository({ dot: path, path, why: 'a repository was made' })
    return this.#set(path, 'other programs of the person would run or believe it')
  }

  /** A directory on the way to protected names came into being: they are looked for in it from now on. */
  #nowThere(path: string, facts: Stats, waiting: readonly string[]): Found | null {
    if (facts.isDirectory()) {
      this.#awaited.delete(path)
      this.#watched.get(dirname(path))?.names.delete(basename(path))
      for (const one of waiting) this.#watch(one, Number.NaN)
      return null
    }
    const leads = facts.isSymbolicLink() && waiting.some((one) => statSync(one, { throwIfNoEntry: false }))
    return leads && this.#isNew(path) ? this.#set(path, 'it leads to a name that other programs would believe') : null
  }

  /** A directory that leads to the name has become a link. */
  #linkOnTheWay(path: string): Found | null {
    const root = this.#rootOf(path) as string
    for (let at = dirname(path); isBelow(at, root); at = dirname(at)) {
      const facts = factsBeneath(root, at)
      if (facts?.isSymbolicLink() && this.#isNew(at))
        return this.#set(at, 'it leads to a name that other programs would believe')
    }
    return null
  }

  /** Repositories may be made; what would run in them outside is set aside, now and after each change. */
  #newRepository({ dot, path, why }: NewRepository): Found {
    const root = this.#rootOf(join(dot, 'config'))
    const left: string[] = []
    const gone = root === undefined ? [] : repositoriesAt(root, dot).flatMap((one) => this.#disarmed(one, left))
    // A way to an older repository, which no look reached: what it starts stays, the way to it does not.
    const isWay = path !== dot && left.length > 0 && this.#isNew(path)
    const set = isWay && this.#set(path, `it leads to ${dot}, where git would start or believe ${left.join(', ')}`)
    if (set) return set
    return { path, movedTo: null, why: gone.length > 0 ? `${why}; set aside from it: ${gone.join(', ')}` : why }
  }

  /** The names that were set aside; `left` gets those of the person. */
  #disarmed(dot: string, left: string[] = []): string[] {
    const root = this.#rootOf(join(dot, 'config')) ?? dot
    const gone = disarm(root, dot, (path) => {
      const isCommands = !this.#kept.some((one) => isInside(path, one)) && this.#isNew(path, this.#unlookedSince)
      if (!isCommands) left.push(basename(path))
      return isCommands && (this.#set(path, '')?.movedTo ?? null) !== null
    })
    this.#made.set(dot, markOf(root, dot))
    return gone
  }

  /**
   * Whether a command can have made it or moved it there, alone or with a directory that holds it. A command cannot set
   * these times back.
   */
  #isNew(path: string, since = this.#busySince): boolean {
    const root = this.#rootOf(path) as string
    for (let at = path; isBelow(at, root); at = dirname(at))
      if ((factsBeneath(root, at)?.ctimeMs ?? 0) + TICK_MS >= since) return true
    return false
  }

  /** Null where it is gone by itself. */
  #set(path: string, why: string): Found | null {
    try {
      return { path, movedTo: setAside(this.#rootOf(path) as string, path, this.#stateDir), why }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
      const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message
      return { path, movedTo: null, why: `it could not be set aside (${reason})` }
    }
  }
}

/**
 * Changes with every name that is made in the directory. One cheap call: it is asked after every command of a session.
 */
function stamp(directory: string): number {
  return attempt(() => statSync(directory, { throwIfNoEntry: false })?.ctimeMs ?? 0, 0)
}

function now(directory: string, { held }: Watched): number {
  return held >= 0 ? fstatSync(held).ctimeMs : stamp(directory)
}

/**
 * The watched names without those that are surely not there. A file system may take other letters for them: capitals,
 * and with characters beyond ASCII more than is known here, so then each name is asked for.
 */
function mayBeThere(directory: string, at: Watched): readonly string[] {
  const names = [...at.names]
  const list = at.isLong ? null : attempt(() => readdirSync(directory), null)
  if (!list || (at.isLong = list.length > LONG_LIST) || list.some((name) => BEYOND_ASCII.test(name))) return names
  const there = new Set(list.map((name) => name.toLowerCase()))
  return names.filter((name) => there.has(name.toLowerCase()))
}

/** A directory that cannot be asked is taken for the same: there is none to go on in. */
function isSame(held: number, directory: string): boolean {
  const [before, after] = [attempt(() => fstatSync(held), null), attempt(() => statSync(directory), null)]
  return !before || !after || (before.ino === after.ino && before.dev === after.dev)
}
