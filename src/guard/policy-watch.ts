import type { GuardContext } from './inspect.js'
import type { Policy } from './policy.js'
import type { Observer } from './walk.js'

export function watchPolicy(_policy: Policy, _context: GuardContext): Observer {
  return { command: () => {}, effect: () => {}, opaque: () => {} }
}
