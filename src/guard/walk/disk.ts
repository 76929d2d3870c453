/**
 * What one verdict asked the disk: where links lead, what exists. Remembered, so that the verdict can be checked again.
 */
import type { DiskLook } from '../../contract/verdict.js'
import { resolvePath } from '../words/paths.js'
import { hasUnknown, hasWildcard, TREE } from '../words/text.js'

export class Disk {
  private readonly seen = new Map<string, string | null>()

  /** `realPath` gives the real path behind links, undefined where nothing is; without it nothing is asked. */
  constructor(private readonly realPath: ((path: string) => string | undefined) | undefined) {}

  /** All that was asked, and the answers. */
  get looks(): readonly DiskLook[] {
    return [...this.seen].map(([path, real]) => ({ path, real }))
  }

  real(path: string): string | undefined {
    if (!this.realPath || this.seen.size > 2_000) return undefined
    let found = this.seen.get(path)
    if (found === undefined) {
      found = this.realPath(path) ?? null
      this.seen.set(path, found)
    }
    return found ?? undefined
  }

  /** False only when the disk says that there is no such thing. */
  mayExist(path: string): boolean {
    return !this.realPath || this.real(path) !== undefined
  }

  /** True where the repository around a directory lists the file in its index. */
  isTracked(path: string, from: string): boolean {
    const root = this.repository(path)
    if (root === undefined || root !== this.repository(`${from}/.`)) return false
    return this.real(`${root}/.git/index/${path.slice(root.length + 1)}`) !== undefined
  }

  /** The nearest directory above that has an index of git. */
  private repository(path: string): string | undefined {
    const parts = path.split('/')
    for (let at = parts.length - 1; at > 0; at--) {
      const root = parts.slice(0, at).join('/')
      if (this.real(`${root}/.git/index`) !== undefined) return root
    }
    return undefined
  }

  /**
   * Where an absolute path really leads: the longest part of it that exists is resolved, the rest stays as it is.
   * `followsLast` is false for what is done to a link itself, such as removing it.
   */
  behind(path: string, followsLast: boolean): string | undefined {
    if (!this.realPath || !path.startsWith('/')) return undefined
    const parts = path.split('/').slice(1)
    const marked = parts.findIndex((part) => hasUnknown(part) || hasWildcard(part))
    const tree = parts.length > 0 && parts[parts.length - 1]?.endsWith(TREE)
    if (tree) parts[parts.length - 1] = (parts[parts.length - 1] ?? '').slice(0, -1)
    let known = marked >= 0 ? marked : followsLast ? parts.length : parts.length - 1
    for (; known > 0; known--) {
      const head = `/${parts.slice(0, known).join('/')}`
      const real = this.real(head)
      if (real === undefined) continue
      if (real === head) return undefined
      return resolvePath([real, ...parts.slice(known)].join('/'), '/') + (tree ? TREE : '')
    }
    return undefined
  }

  /** `link/..` is the parent of what the link leads to, not of the link. */
  withoutDots(word: string, cwd: string): string | undefined {
    if (!this.realPath || !/[^/.][^/]*\/+\.\.(?:\/|$)/.test(word)) return undefined
    let path = word.startsWith('/') ? word : `${cwd}/${word}`
    for (let hops = 0; hops < 8; hops++) {
      const at = /^(.*?\/(?!\.{1,2}(?:\/|$))[^/]+)\/+\.\.(\/.*)?$/s.exec(path)
      if (!at) return resolvePath(path, '/')
      const real = hasUnknown(at[1] ?? '') || hasWildcard(at[1] ?? '') ? undefined : this.real(at[1] ?? '')
      if (real === undefined) return undefined
      path = `${real.replace(/\/[^/]*$/, '')}${at[2] ?? '/'}`
    }
    return undefined
  }
}
