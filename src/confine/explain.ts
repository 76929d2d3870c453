/**
 * What the sandbox kept a command from, told from facts: a path in an error message is looked
 * up in the policy, and only then told.
 */
import type { Machine } from './machine.js'
import type { RoomPolicy } from './policy.js'
import { isBelow, isInside } from '../contract/names/inside.js'
import { join } from './paths.js'

export interface Blocked {
  /** The same cause is told once per session. */
  readonly cause: string
  readonly what: string
  readonly text: string
}

const REFUSED = /read-only file system|permission denied|operation not permitted|\bEROFS\b|\bEACCES\b|\bEPERM\b/i
/** A protected name can neither be replaced nor moved, and neither can a directory on the way to it. */
const BUSY = /device or resource busy|\bEBUSY\b/i
const MISSING = /no such file or directory|\bENOENT\b|cannot connect to|failed to connect to/i
const NO_NETWORK =
  /could not resolve host|temporary failure in name resolution|network is unreachable|\bEAI_AGAIN\b|\bENETUNREACH\b|name or service not known|failed to resolve/i
/** What an overlay says about a file whose owner or group does not exist in the room. */
const FOREIGN = /value too large for (?:defined|its) data type|\bEOVERFLOW\b/i
const MAX_LINES = 200
const MAX_PATH = 512

/** `stderr` of a command that did not end with 0. */
export function explain(stderr: string, policy: RoomPolicy, cwd: string, machine: Pick<Machine, 'kind'>): Blocked[] {
  const found = new Map<string, Blocked>()
  const add = (blocked: Blocked): void => void (found.has(blocked.cause) || found.set(blocked.cause, blocked))
  for (const line of stderr.split('\n').slice(-MAX_LINES)) {
    const how = REFUSED.test(line) ? 'refused' : BUSY.test(line) ? 'busy' : MISSING.test(line) ? 'missing' : null
    if (how)
      for (const path of pathsIn(line, cwd)) {
        // A sentence that begins like a path would be said again in the engine's own words.
        const blocked = /\s/.test(path) && machine.kind(path) === null ? null : lookUp(path, policy, how)
        if (blocked) add(blocked)
      }
    // Any word can be a bare name (`mv node_modules x`): one counts when it leads to something that is protected.
    if (how === 'refused' || how === 'busy')
      for (const name of wordsIn(line).filter((word) => /^\w[\w.@-]*$/.test(word))) {
        const kept = protects(join(cwd, name), policy, how)
        if (kept) add(kept)
      }
    if (policy.tried && FOREIGN.test(line))
      add({
        cause: 'foreign group',
        what: 'a file of another group',
        text:
          'A try cannot change a file or directory whose owner or group is another than your own main one (id ' +
          '-u, id -g). Ask the person to change its group, or to run this without a try.',
      })
    if (policy.network === 'none' && NO_NETWORK.test(line))
      add({
        cause: 'network',
        what: 'network',
        text:
          'The sandbox has no network (sandbox.network is none): only servers of its own on 127.0.0.1 can be ' +
          'reached.',
      })
  }
  return [...found.values()]
}

function lookUp(path: string, policy: RoomPolicy, how: 'refused' | 'busy' | 'missing'): Blocked | null {
  const hidden = policy.hidden.find((one) => isInside(path, one))
  if (hidden)
    return {
      cause: `hidden ${hidden}`,
      what: hidden,
      text: `The sandbox hides ${hidden} (profile ${policy.profile}); what is there outside cannot be read here.`,
    }
  if (how === 'missing') return null
  const kept = protects(path, policy, how)
  if (kept || how === 'busy') return kept
  // The sandbox allows writing here: file permissions or the disk refused it.
  if (policy.writable.some((one) => isInside(path, one)) || isInside(path, '/tmp') || isInside(path, '/dev'))
    return null
  if (isBelow(path, '/proc') || isBelow(path, '/sys'))
    return { cause: 'kernel', what: path, text: 'The sandbox keeps /proc and /sys read-only.' }
  const writable = [...policy.writable, '/tmp'].join(', ')
  return {
    cause: `write ${path}`,
    what: path,
    text:
      `The sandbox forbids writing ${path} (profile ${policy.profile}; writable: ${writable}). Write there, or ` +
      'ask the person to let this one command run outside.',
  }
}

function protects(path: string, { protection }: RoomPolicy, how: 'refused' | 'busy'): Blocked | null {
  const kept = protection.present.find((one) => isInside(path, one) || (how === 'busy' && isBelow(one, path)))
  if (!kept) return null
  return {
    cause: `protected ${kept}`,
    what: kept,
    text:
      `The sandbox protects ${kept}: other programs of the person would run or believe it. Leave it as it is, or ` +
      'ask the person to change it.',
  }
}

/** Words of a message that can be names: in quotes, between colons, or the last one before a colon. */
function wordsIn(line: string): string[] {
  const words = [...line.matchAll(/['"`‘“]([^'"`’”]+)['"`’”]/g)].map(([, word]) => word as string)
  // The address of a socket, as clients of container engines tell it.
  words.push(...[...line.matchAll(/unix:\/\/(\/[^\s'",]+?)\.?(?=[\s'",]|$)/g)].map(([, path]) => path as string))
  for (const part of line.split(/:\s|:$/)) words.push(part.trim(), part.trim().replace(/^.*\s/, ''))
  return words.filter(
    (word) => word.length > 1 && word.length < MAX_PATH && (word.startsWith('/') || /^[\w.@-][\w.@/-]*$/.test(word)),
  )
}

/** The words of a line that look like paths. Relative ones count from the working directory. */
function pathsIn(line: string, cwd: string): string[] {
  return wordsIn(line)
    .filter((word) => word.startsWith('/') || word.includes('/') || word.startsWith('.'))
    .map((word) => (word.startsWith('/') ? join('/', word) : join(cwd, word)))
}
