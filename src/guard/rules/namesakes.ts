/** Paths that mean other paths: copies of programs, links, bind mounts, directories of the host inside a container. */
import { resolvePath } from '../words/paths.js'
import { TREE } from '../words/text.js'

interface Namesake {
  readonly target: string
  readonly as: 'copy' | 'link' | 'mount'
}

export class Namesakes {
  private readonly names = new Map<string, Namesake>()
  private containers = 0
  private mounts: ReadonlyMap<string, string> | undefined

  /** No path means another one. */
  get isEmpty(): boolean {
    return this.names.size === 0 && !this.mounts
  }

  /** Two names for one file: copies of programs, links, bind mounts. */
  stands(path: string, target: string, as: Namesake['as']): void {
    if (path !== '' && path !== target && this.names.size < 1_000) this.names.set(path, { target, as })
  }

  /** The program that a copy or a link to it starts. */
  meaning(path: string): string | undefined {
    return this.names.get(path)?.target ?? this.behind(path)
  }

  /** Where a path below a link or a mount leads. The link itself can go without harm, what is mounted cannot. */
  behind(path: string, follows = false): string | undefined {
    for (const [name, { target, as }] of this.names) {
      if (as === 'copy') continue
      if ((as === 'mount' || follows) && path === name) return target
      if (follows && path === name + TREE) return target + TREE
      if (path.startsWith(`${name}/`)) return resolvePath(`${target}/${path.slice(name.length)}`, '/')
    }
    return undefined
  }

  /** Runs work whose paths are those of a container with the given mounts; undefined means paths mean what they say. */
  inside<T>(mounts: ReadonlyMap<string, string> | undefined, work: () => T): T {
    const before = this.mounts
    this.mounts = mounts
    try {
      return work()
    } finally {
      this.mounts = before
    }
  }

  /** Work inside a container: its processes are not the machine's. */
  within<T>(work: () => T): T {
    this.containers++
    try {
      return work()
    } finally {
      this.containers--
    }
  }

  get isContained(): boolean {
    return this.containers > 0
  }

  /** A container that was there before, or a far one: what of this machine is mounted in it is not known. */
  get isElsewhere(): boolean {
    return this.isContained && this.mounts === undefined
  }

  /** The host path of a path inside the current container, if it is mounted. */
  onHost(path: string): string | undefined {
    if (!this.mounts) return path
    let best: string | undefined
    let length = -1
    const bare = path.replace(/[\uFDD1-\uFDD5]+$/, '').replace(/(.)\/$/, '$1')
    for (const [inside, host] of this.mounts) {
      if (inside.length > length && (bare === inside || path.startsWith(inside === '/' ? '/' : `${inside}/`))) {
        best = resolvePath(`${host}/${path.slice(inside.length)}`, '/')
        length = inside.length
      }
      // Wiping the container's root takes the mounts with it.
      if (best === undefined && (bare === '/' || bare === '') && inside !== '/')
        best = path.length > 1 ? `${host}/${path.slice(1)}` : host
    }
    return best
  }
}
