/**
 * What a profile means for this machine: one list of paths and what becomes of each, shallow
 * first, so that the deeper rule wins.
 */
import type { SandboxNetwork, SandboxOptions } from '../contract/sandbox.js'
import {
  HOME_CREDENTIAL_PATTERN,
  HOME_CREDENTIALS,
  HOME_SELDOM,
  namedByVariables,
  PROJECT_SECRETS,
  ROOT_HIDDEN,
  SYSTEM_HIDDEN,
  SYSTEM_SHOWN,
} from './credentials.js'
import type { Machine } from './machine.js'
import { isBelow, isInside } from '../contract/names/inside.js'
import { depthOf, join, nameOf, parentOf } from './paths.js'
import { protectionOf, type Protection } from './protected.js'

export type ItemKind = 'view' | 'blank' | 'show' | 'hide' | 'write' | 'try' | 'between' | 'protect'

export interface Item {
  readonly kind: ItemKind
  /** Absolute and canonical; for `blank` relative to the view before it. */
  readonly path: string
  /** Of a `try`: the directory that holds what is written. */
  readonly layer?: string
}

/** The places that a policy is about. All of them canonical. */
export interface Places {
  readonly home: string
  /** The person's, by the password file, where HOME is another one. */
  readonly accountHome: string | null
  /** Variables that may name credentials. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stateDir: string
  /** Directories in which commands may write, unless the profile forbids it. */
  readonly roots: readonly string[]
  /** Private, kept between runs. */
  readonly cacheDir: string
  /** What the engine itself needs to be seen: its bash and the builtin of its sessions. */
  readonly needed: readonly string[]
  /**
   * What the engine gives its commands wherever it lies: the programs that answer password prompts, and their socket.
   */
  readonly given: readonly string[]
  /** Programs and code that the engine itself starts or loads, outside every room. */
  readonly own: readonly string[]
  readonly isRoot: boolean
}

export interface RoomPolicy {
  readonly profile: Exclude<SandboxOptions['profile'], 'off'>
  readonly network: SandboxNetwork
  readonly items: readonly Item[]
  readonly writable: readonly string[]
  readonly hidden: readonly string[]
  /** Shown because it was asked for, although the profile would not. */
  readonly shown: readonly string[]
  readonly protection: Protection
  /**
   * In a try: directories whose changes land in a layer, and the names in them that are not
   * accepted without a word about it.
   */
  readonly tried: { readonly roots: readonly string[]; readonly protect: readonly string[] } | null
}

/** A setting that cannot be meant: said before anything is built. */
export class PolicyMistake extends Error {}

/** Private in every room. */
const TEMPORARY = ['/tmp', '/var/tmp']
const NEVER_WRITABLE = ['/', '/proc', '/sys', '/dev', '/run']
const SAME_DEPTH: readonly ItemKind[] = ['view', 'blank', 'show', 'hide', 'write', 'try', 'between', 'protect']

export function roomPolicy(options: SandboxOptions, places: Places, machine: Machine): RoomPolicy {
  const { profile } = options
  if (profile === 'off') throw new PolicyMistake('the profile off needs no room')
  if (options.try && profile === 'read-only')
    throw new PolicyMistake('the profile read-only writes nothing that could be tried; use workspace or strict')
  const real = (path: string): string => machine.real(path) ?? path
  const roots = profile === 'read-only' ? [] : unique([...places.roots, ...(options.write ?? [])].map(real))
  const shown = unique([...(options.show ?? []), ...(options.sockets ?? []), ...places.given].map(real))
  const hidden = hiddenPaths(options, places, machine).filter((path) => !shown.includes(path))
  checkRoots(roots, hidden, places)
  const holder = options.try ? roots.find((root) => isInside(places.stateDir, root)) : undefined
  if (holder !== undefined)
    throw new PolicyMistake(
      `${holder} cannot be tried: it holds the state directory ${places.stateDir}, in which the try would be ` +
        'kept; choose another with CERITH_HOME',
    )
  const own = places.own.filter((path) => roots.some((root) => isBelow(path, root)))
  const protection = protectionOf(roots, [...(options.protect ?? []), ...own], places.home, machine)
  const writable = unique([...roots, ...protection.worktrees])
  const caches = profile === 'read-only' ? [] : [places.cacheDir]

  const items: Item[] = []
  // HOME may name a directory that does not exist, as in many containers: then nothing in it has to be hidden.
  const hasHome = places.home !== '/' && machine.kind(places.home) === 'directory'
  const isHidden = hidden.some((path) => isInside(places.home, path))
  // Shown or writable as a whole it is live, and so is everything around it.
  const isLive = [...writable, ...shown].some((one) => isInside(places.home, one))
  const isView = profile !== 'strict' && hasHome && !isHidden && !isLive
  // In a view a name is blank for good. A directory that something else is mounted in must stay a directory.
  const needed = neededPaths(profile, places, [...TEMPORARY, ...hidden], roots)
  const mounted = [...writable, ...caches, ...shown, ...needed, places.stateDir]
  const blank = hidden.filter(
    (path) => isView && isBelow(path, places.home) && !mounted.some((one) => isInside(one, path)),
  )
  if (isView) {
    items.push({ kind: 'view', path: places.home })
    for (const path of outermost(blank).sort()) items.push({ kind: 'blank', path: path.slice(places.home.length + 1) })
    // Directories of projects are shown live: in a view a file that is replaced outside would be seen as it was.
    for (const name of machine.names(places.home)) {
      const path = join(places.home, name)
      const isProject = !name.startsWith('.') && machine.kind(path) === 'directory'
      if (isProject && !hidden.includes(path)) items.push({ kind: 'show', path })
    }
  }
  const system = profile === 'strict' ? SYSTEM_SHOWN.filter((path) => machine.kind(path) === 'directory') : []
  for (const path of unique([...system, ...needed]))
    if (machine.kind(path) !== null) items.push({ kind: 'show', path: real(path) })
  for (const path of shown) if (machine.kind(path) !== null) items.push({ kind: 'show', path })
  // Below a directory that is live a name cannot be blank: it is covered where it stands.
  const live = [...items.filter(({ kind }) => kind === 'show').map(({ path }) => path), ...writable, ...caches]
  for (const path of hidden)
    if (!blank.includes(path) || live.some((one) => isBelow(path, one))) items.push({ kind: 'hide', path })
  // One layer over another would hide what the outer one holds.
  const tried = options.try ? outermost(writable) : []
  for (const path of tried) items.push({ kind: 'try', path })
  for (const path of options.try ? caches : [...writable, ...caches]) items.push({ kind: 'write', path })
  // What is only tried needs no cover: it is looked at before it counts.
  const kept = options.try ? [] : protection.present.filter((path) => isThere(path, writable, hidden))
  for (const path of kept) {
    items.push({ kind: 'protect', path })
    for (const between of directoriesBetween(path, writable)) items.push({ kind: 'between', path: between })
  }
  return {
    profile,
    network: options.network ?? 'none',
    items: inOrder(items),
    writable,
    hidden,
    shown,
    protection: options.try ? { ...protection, present: [], absent: [] } : protection,
    tried: options.try ? { roots: tried, protect: [...protection.present, ...protection.absent] } : null,
  }
}

/**
 * Directories that the engine needs and that would not be seen: in a strict room all of them, in others those below
 * something hidden.
 */
function neededPaths(
  profile: SandboxOptions['profile'],
  { needed }: Places,
  hidden: readonly string[],
  roots: readonly string[],
): readonly string[] {
  if (profile === 'strict') return needed
  const isLost = (path: string): boolean => hidden.some((one) => isBelow(path, one))
  return needed.filter((path) => isLost(path) && !roots.some((root) => isInside(path, root)))
}

/** Every hidden path, with the targets of those that are links. */
function hiddenPaths(options: SandboxOptions, places: Places, machine: Machine): string[] {
  const wanted: string[] = [...SYSTEM_HIDDEN, places.stateDir, ...(options.hide ?? [])]
  wanted.push(...secretsOf(places.home, machine))
  // Only what is there: these are seldom, and each name that is waited for costs every command a look.
  const elsewhere = [
    ...namedByVariables(places.env).filter((path) => {
      const place = machine.real(path) ?? path
      return ![places.home, ...places.roots].some((one) => isInside(one, place))
    }),
    ...(places.accountHome === null ? [] : secretsOf(places.accountHome, machine)),
  ]
  wanted.push(...elsewhere.filter((path) => !isDevice(path, machine) && machine.kind(path) !== null))
  if (places.isRoot) {
    for (const pattern of ROOT_HIDDEN) wanted.push(...matching(pattern, machine))
    for (const home of ['/root', ...machine.names('/home').map((name) => `/home/${name}`)])
      if (home !== places.home && machine.kind(home) === 'directory')
        wanted.push(
          ...([places.home, ...places.roots].some((one) => isInside(one, home)) ? secretsOf(home, machine) : [home]),
        )
  }
  const hidden = unique(
    wanted.flatMap((path) => {
      // Its directory may be reached through links; the name itself is hidden as it stands
      // there, and so is what it leads to.
      const directory = machine.real(parentOf(path))
      const place = directory === null ? path : join(directory, nameOf(path))
      const target = machine.kind(place) === 'link' ? machine.real(place) : null
      return target === null || target === '/' || isDevice(target, machine) ? [place] : [place, target]
    }),
  )
  // Of the home all of it: what is dead in its view, as sockets are, would be alive there.
  const homes = machine.elsewhere([places.home]).filter((one) => !places.roots.some((root) => isInside(one, root)))
  return unique([...hidden, ...machine.elsewhere(hidden), ...homes])
}

/** A history that is kept nowhere is a link to /dev/null, which every command needs. */
function isDevice(path: string, machine: Machine): boolean {
  return machine.kind(path) === 'other'
}

function secretsOf(home: string, machine: Machine): string[] {
  const seldom = HOME_SELDOM.map((name) => join(home, name))
  const found = [
    ...HOME_CREDENTIALS.map((name) => join(home, name)),
    ...seldom.filter((path) => machine.kind(path) !== null),
  ]
  for (const name of machine.names(home)) {
    const path = join(home, name)
    if (HOME_CREDENTIAL_PATTERN.test(name)) found.push(path)
    if (!name.startsWith('.') && machine.kind(path) === 'directory')
      for (const secret of PROJECT_SECRETS)
        if (machine.kind(join(path, secret)) !== null) found.push(join(path, secret))
  }
  return found
}

function matching(pattern: string, machine: Machine): string[] {
  if (!pattern.includes('*')) return [pattern]
  const [start = '', end = ''] = nameOf(pattern).split('*')
  const directory = parentOf(pattern)
  return machine
    .names(directory)
    .filter((name) => name.startsWith(start) && name.endsWith(end))
    .map((name) => join(directory, name))
}

function checkRoots(roots: readonly string[], hidden: readonly string[], { stateDir }: Places): void {
  for (const root of roots) {
    if (NEVER_WRITABLE.some((path) => root === path || (path !== '/' && isBelow(root, path))))
      throw new PolicyMistake(`${root} cannot be made writable in a sandbox`)
    if (isInside(root, stateDir)) throw new PolicyMistake(`${root} holds the state of cerith`)
    const holder = hidden.find((path) => path !== '/run' && path !== '/var/run' && root === path)
    if (holder) throw new PolicyMistake(`${root} holds credentials`)
  }
}

/**
 * What lies between a root and a protected path: bound onto itself, or moving it away would go around the protection.
 */
function directoriesBetween(path: string, roots: readonly string[]): string[] {
  const found: string[] = []
  for (let at = parentOf(path); roots.some((root) => isBelow(at, root)) && !roots.includes(at); at = parentOf(at))
    found.push(at)
  return found
}

/**
 * What is hidden deeper than its root is not there: there is nothing to protect, and nothing
 * may be mounted over the cover.
 */
function isThere(path: string, writable: readonly string[], hidden: readonly string[]): boolean {
  const root = writable.filter((one) => isBelow(path, one)).sort((a, b) => b.length - a.length)[0]
  if (root === undefined) return false
  return writable.includes(path) || !hidden.some((one) => isBelow(one, root) && isInside(path, one))
}

/** Shallow first; a view is followed by its blanks; the same thing is done once. */
function inOrder(items: readonly Item[]): Item[] {
  const views = items.filter(({ kind }) => kind === 'view' || kind === 'blank')
  const rest = items.filter(({ kind }) => kind !== 'view' && kind !== 'blank')
  const once = [...new Map(rest.map((item) => [`${item.kind} ${item.path}`, item])).values()]
  const order = (a: Item, b: Item): number =>
    depthOf(a.path) - depthOf(b.path) ||
    SAME_DEPTH.indexOf(a.kind) - SAME_DEPTH.indexOf(b.kind) ||
    (a.path < b.path ? -1 : 1)
  const view = views[0]
  const sorted = once.sort(order)
  if (!view) return sorted
  const at = sorted.findIndex((item) => depthOf(item.path) >= depthOf(view.path))
  return at < 0 ? [...sorted, ...views] : [...sorted.slice(0, at), ...views, ...sorted.slice(at)]
}

function outermost(paths: readonly string[]): string[] {
  return paths.filter((path) => !paths.some((other) => isBelow(path, other)))
}

function unique(paths: readonly string[]): string[] {
  return [...new Set(paths)]
}
