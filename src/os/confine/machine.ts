/** The real machine, as the policy of a room asks about it. */
import { lstatSync, readdirSync, readlinkSync, realpathSync, type Stats } from 'node:fs'
import { exposures } from '../../confine/exposure.js'
import type { FileKind, Machine } from '../../confine/machine.js'
import type { SandboxOptions } from '../../contract/sandbox.js'
import { readSmall } from './beneath.js'
import { otherPlacesOf } from './mounts.js'
import { attempt } from '../../contract/attempt.js'

export const thisMachine: Machine = {
  kind(path): FileKind | null {
    const facts = factsOf(path)
    if (!facts) return null
    if (facts.isSymbolicLink()) return 'link'
    if (facts.isDirectory()) return 'directory'
    if (facts.isFile()) return 'file'
    return facts.isSocket() ? 'socket' : 'other'
  },
  target(path) {
    return factsOf(path)?.isSymbolicLink() ? attempt(() => readlinkSync(path), null) : null
  },
  real(path) {
    return attempt(() => realpathSync.native(path), null)
  },
  names(directory) {
    return attempt(() => readdirSync(directory), [])
  },
  directories(directory) {
    const all = attempt(() => readdirSync(directory, { withFileTypes: true }), [])
    return all.flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
  },
  text: readSmall,
  elsewhere: otherPlacesOf,
}

/** Most names that a policy asks about are not there: an exception for each would be most of the look. */
function factsOf(path: string): Stats | null {
  return attempt(() => lstatSync(path, { throwIfNoEntry: false }) ?? null, null)
}

/** What a sandbox gives away on this machine. */
export function exposedHere(options: SandboxOptions, roots: readonly string[]): string[] {
  return exposures(options, roots, thisMachine)
}
