/**
 * Repositories that commands made: what git would start or believe because of them is set
 * aside, the rest stays and works.
 */
import { dirname, join, resolve } from 'node:path'
import { harmlessPart } from '../../confine/git-config.js'
import { isInside } from '../../contract/names/inside.js'
import { factsBeneath, namesBeneath, textBeneath, writeBeneath } from './beneath.js'

const MAX_LEVELS = 5
const MAX_MODULES = 50
/** Submodules in further directories are found one by one, as far as repositories are looked for at all. */
const MAX_DIRECTORIES = 1_000

/** The directory of a repository, and those of its submodules in it. */
export function repositoriesAt(root: string, dot: string): string[] {
  const found = [dot]
  let left = MAX_DIRECTORIES
  const look = (directory: string, levels: number): void => {
    for (const name of namesBeneath(root, directory)) {
      if (levels === 0 || found.length > MAX_MODULES || left-- <= 0) return
      const path = join(directory, name)
      if (factsBeneath(root, join(path, 'HEAD'))) {
        found.push(path)
        look(join(path, 'modules'), levels - 1)
      } else look(path, levels - 1)
    }
  }
  look(join(dot, 'modules'), MAX_LEVELS)
  return found
}

/** Changes with everything that `disarm` looks at. */
export function markOf(root: string, dot: string): string {
  return ['', 'hooks', 'config', 'config.worktree', 'commondir', 'modules', 'branches', 'remotes']
    .map((name) => factsBeneath(root, join(dot, name))?.ctimeMs ?? 0)
    .join(' ')
}

/** `set` sets a path aside if a command made it, and says whether it did. Returns the names that are gone. */
export function disarm(root: string, dot: string, set: (path: string) => boolean): string[] {
  const gone: string[] = []
  const away = (name: string): boolean => {
    const isGone = set(join(dot, name))
    if (isGone) gone.push(name)
    return isGone
  }
  if (factsBeneath(root, join(dot, 'hooks'))?.isDirectory() === false) away('hooks')
  for (const name of namesBeneath(root, join(dot, 'hooks'))) if (!name.endsWith('.sample')) away(`hooks/${name}`)
  // Old ways to name a remote: a push would run the hooks of the repository that they lead to.
  if (factsBeneath(root, join(dot, 'remotes'))) away('remotes')
  for (const name of namesBeneath(root, join(dot, 'branches'))) away(`branches/${name}`)
  // Elsewhere a checkout by the person would write the command's files there.
  const isWorkspace = (path: string): boolean => {
    const tree = resolve(dot, path)
    return isInside(tree, root) && factsBeneath(root, join(tree, '.git')) !== null
  }
  for (const name of ['config', 'config.worktree']) {
    const facts = factsBeneath(root, join(dot, name))
    if (!facts) continue
    const text = textBeneath(root, join(dot, name))
    // A second name of the file would change it when it is protected: the repository gets a copy.
    const rest = text === null ? '' : (harmlessPart(text, isWorkspace) ?? (facts.nlink > 1 ? text : null))
    if (rest === null || !away(name) || rest === '') continue
    writeBeneath(root, join(dot, name), rest)
  }
  // A worktree leads to the repository that it lies in, and to no other.
  const common = textBeneath(root, join(dot, 'commondir'))?.trim()
  const isWorktree = common !== undefined && join(dot, common) === dirname(dirname(dot))
  if (factsBeneath(root, join(dot, 'commondir')) && !isWorktree) away('commondir')
  return gone
}
