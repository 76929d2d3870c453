/** Paths that no command may change: the guard's own configuration, the engine's state, the vault. */
import type { Effect } from '../rules/findings.js'
import type { GuardContext } from './context.js'
import { isWithin } from '../words/paths.js'
import { plain, TREE } from '../words/text.js'
import type { Observer } from '../walk/walk.js'

export function watchProtected(context: Pick<GuardContext, 'protectedPaths'>): Observer {
  const paths = (context.protectedPaths ?? []).map((path) => path.replace(/(.)\/+$/, '$1'))
  return {
    command: () => {},
    opaque: () => {},
    effect: (effect, walker, argv) => {
      const hit = paths.find((path) => touches(effect, path))
      if (hit === undefined) return
      walker.add({
        decision: 'deny',
        rule: 'protected-path',
        reason: `\`${argv[0] ?? ''} ${effect.word}\` would change ${hit}, which belongs to cerith itself`,
        guidance: 'A person can change this file; a command cannot. Do without the change, or ask.',
        words: [argv[0] ?? '', effect.word],
        dangerous: false,
      })
    },
  }
}

/** Writing in or at the path, or taking away a directory that holds it. */
function touches(effect: Effect, path: string): boolean {
  const target = plain(effect.path).replaceAll(TREE, '')
  if (isWithin(target, path)) return true
  const takesTree =
    effect.kind === 'delete-tree' ||
    effect.kind === 'move' ||
    effect.kind === 'mode-tree' ||
    effect.kind === 'owner-tree'
  if (takesTree && isWithin(path, target)) return true
  // `rm -rf ~/.local/state/*`: a wildcard names the children of its directory.
  const parent = target.replace(/\/[^/]*[*?[][^/]*$/, '')
  return parent !== target && takesTree && isWithin(path, parent === '' ? '/' : parent) && parent !== ''
}
