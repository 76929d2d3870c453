/**
 * Looks after each command for protected names that were not there before. They cannot be covered in advance without leaving ghost files,
 * so they are moved to the state directory when they appear: by descriptor, the thing itself and never what a link leads to.
 */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ensurePrivateDirectory } from '../state-dir.js'
import { NestedRepositories } from './repositories.js'

export interface Found {
  readonly path: string
  /** Where it is now; null when it was left in place. */
  readonly movedTo: string | null
  readonly why: string
}

/** Keys of a git configuration that make git run something. */
const RUNS =
  /^\s*(?:hookspath|fsmonitor|sshcommand|editor|pager|askpass|helper|program|textconv|command|clean|smudge|process|path)\s*=/im

export class Quarantine {
  readonly #stateDir: string
  /** Names by the directory that holds them; a directory that did not change is not looked into. */
  readonly #watched = new Map<string, { seen: number; readonly names: Set<string> }>()
  /** Roots that were no repositories. */
  readonly #bare: Set<string>
  readonly #nested: NestedRepositories
  #busy = 0
  #busySince = Date.now()

  constructor(stateDir: string, absent: readonly string[], roots: readonly string[]) {
    this.#stateDir = stateDir
    this.#bare = new Set(roots.filter((root) => !exists(join(root, '.git'))))
    this.#nested = new NestedRepositories(roots)
    for (const path of absent) this.#watch(path)
    for (const root of this.#bare)
      for (const name of ['.git', 'HEAD']) if (!exists(join(root, name))) this.#watch(join(root, name))
  }

  #watch(path: string): void {
    const directory = dirname(path)
    const at = this.#watched.get(directory)
    if (at) at.names.add(basename(path))
    else if (exists(directory))
      this.#watched.set(directory, { seen: stamp(directory), names: new Set([basename(path)]) })
  }

  /** A command enters the room: from now on what appears may be its work. */
  enter(): void {
    if (this.#busy++ === 0) this.#busySince = Date.now()
  }

  leave(): void {
    this.#busy -= 1
  }

  look(): Found[] {
    const found: Found[] = []
    for (const [directory, at] of this.#watched) {
      const now = stamp(directory)
      if (now === at.seen) continue
      for (const name of at.names) {
        const one = this.#lookAt(directory, name)
        if (one === null) continue
        found.push(one)
        if (one.movedTo === null) at.names.delete(name)
      }
      at.seen = stamp(directory)
    }
    return [...found, ...this.#nested.look()]
  }

  #lookAt(directory: string, name: string): Found | null {
    const path = join(directory, name)
    let facts
    try {
      facts = lstatSync(path)
    } catch {
      return null
    }
    // A clock of the file system ticks coarser than ours.
    if (facts.birthtimeMs + 50 < this.#busySince)
      return { path, movedTo: null, why: 'it came into being while no command ran, so it was left where it is' }
    if (this.#bare.has(directory)) {
      if (name === '.git' && facts.isDirectory()) return this.#newRepository(path)
      if (name === 'HEAD')
        return exists(join(directory, 'objects')) && exists(join(directory, 'refs'))
          ? {
              path: directory,
              movedTo: null,
              why: 'the directory itself has become a repository: `git` outside believes its config',
            }
          : null
    }
    return this.#set(directory, name, 'other programs of the person would run or believe it')
  }

  /** Repositories may be made; what would run in them outside is set aside. */
  #newRepository(dot: string): Found {
    const moved: string[] = []
    const hooks = join(dot, 'hooks')
    for (const name of names(hooks))
      if (!name.endsWith('.sample') && this.#set(hooks, name, '').movedTo !== null) moved.push(`hooks/${name}`)
    if (RUNS.test(textOf(join(dot, 'config'))) && this.#set(dot, 'config', '').movedTo !== null) moved.push('config')
    for (const name of ['commondir', 'config.worktree'])
      if (exists(join(dot, name)) && this.#set(dot, name, '').movedTo !== null) moved.push(name)
    for (const name of ['hooks', 'config', 'commondir', 'config.worktree'])
      if (!exists(join(dot, name))) this.#watch(join(dot, name))
    const why =
      moved.length > 0 ? `a repository was made; set aside from it: ${moved.join(', ')}` : 'a repository was made'
    return { path: dot, movedTo: null, why }
  }

  /** Moves one name. Its directory is opened without following a link, and the name is moved from there. */
  #set(directory: string, name: string, why: string): Found {
    const path = join(directory, name)
    let fd = -1
    try {
      fd = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
      const held = fstatSync(fd)
      const named = lstatSync(directory)
      if (held.ino !== named.ino || held.dev !== named.dev) throw new Error('its directory was exchanged')
      const to = join(
        ensurePrivateDirectory(join(this.#stateDir, 'quarantine')),
        `${Date.now().toString(36)}-${randomBytes(3).toString('hex')}-${name}`,
      )
      const from = `/proc/self/fd/${fd}/${name}`
      try {
        renameSync(from, to)
        return { path, movedTo: to, why }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
        // Another file system: a new name beside it, which no program looks for.
        const beside = `${name}.quarantined-${randomBytes(3).toString('hex')}`
        renameSync(from, `/proc/self/fd/${fd}/${beside}`)
        return { path, movedTo: join(directory, beside), why }
      }
    } catch (error) {
      return {
        path,
        movedTo: null,
        why: `it could not be set aside (${(error as NodeJS.ErrnoException).code ?? (error as Error).message})`,
      }
    } finally {
      if (fd >= 0) closeSync(fd)
    }
  }
}

/** Changes with every name that is made in the directory. One cheap call: it is asked after every command of a session. */
function stamp(directory: string): number {
  try {
    return statSync(directory, { throwIfNoEntry: false })?.ctimeMs ?? 0
  } catch {
    return 0
  }
}

/** A name below something that is no directory is not there. */
function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}

function names(directory: string): string[] {
  try {
    return lstatSync(directory).isDirectory() ? readdirSync(directory) : []
  } catch {
    return []
  }
}

function textOf(path: string): string {
  try {
    return lstatSync(path).isFile() ? readFileSync(path, 'utf8') : ''
  } catch {
    return ''
  }
}
