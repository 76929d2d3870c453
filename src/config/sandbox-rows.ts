/** The settings `sandbox.*`, one row each, and what they mean together. */
import { SANDBOX_NETWORKS, SANDBOX_PROFILES, type SandboxLimits, type SandboxOptions } from '../contract/sandbox.js'
import { badConfig } from '../contract/errors.js'
import type { Setting } from './schema.js'

export const SANDBOX_ROWS: readonly Setting[] = [
  {
    key: 'sandbox.profile',
    type: 'string',
    default: 'off',
    about:
      'What commands may see and write: `off` everything, `workspace` writes in the roots only, `read-only` writes nowhere, `strict` sees nothing but the system and the roots. See docs/sandbox.md.',
    project: 'tightens',
    variable: 'CERITH_SANDBOX',
    choices: SANDBOX_PROFILES,
  },
  {
    key: 'sandbox.network',
    type: 'string',
    default: 'none',
    about: 'What a sandboxed command may reach: `none`, `allow-list` (the hosts in sandbox.domains), `all`.',
    project: 'tightens',
    variable: 'CERITH_SANDBOX_NETWORK',
    choices: SANDBOX_NETWORKS,
  },
  {
    key: 'sandbox.domains',
    type: 'names',
    default: [],
    about: 'Hosts that `allow-list` lets through; `.example.com` means everything below it. Empty: none.',
    project: 'tightens',
    variable: 'CERITH_SANDBOX_DOMAINS',
  },
  {
    key: 'sandbox.write',
    type: 'paths',
    default: [],
    about: 'Writable directories of a sandbox besides the roots (or the working directory where there are none).',
    project: 'tightens',
  },
  {
    key: 'sandbox.hide',
    type: 'paths',
    default: [],
    about: 'Further paths that a sandboxed command cannot see.',
    project: 'add',
  },
  {
    key: 'sandbox.protect',
    type: 'names',
    default: [],
    about: 'Further names inside writable directories that stay read-only, relative to each root.',
    project: 'add',
  },
  {
    key: 'sandbox.show',
    type: 'paths',
    default: [],
    about: 'Paths that a sandbox shows, read-only and live, although its profile would not.',
    project: 'never',
  },
  {
    key: 'sandbox.sockets',
    type: 'paths',
    default: [],
    about:
      'Unix sockets that sandboxed commands may connect to. The socket of a container engine gives the machine away.',
    project: 'never',
  },
  {
    key: 'sandbox.ports',
    type: 'numbers',
    default: [],
    about: 'Ports inside the sandbox that are reached on the loopback of the machine under the same number.',
    project: 'never',
    min: 1,
    max: 65_535,
  },
  {
    key: 'sandbox.nested',
    type: 'boolean',
    default: false,
    about: 'Let sandboxed commands make user namespaces of their own (browsers); leaves the second wall out.',
    project: 'never',
  },
  {
    key: 'sandbox.limits',
    type: 'object',
    default: {},
    about: 'Limits of all commands of a sandbox together: {memoryBytes, processes, cpus, tmpBytes}.',
    project: 'tightens',
  },
  {
    key: 'sandbox.unavailable',
    type: 'string',
    default: 'fail',
    about: 'Where no sandbox can be built: `fail` runs nothing, `weaker` uses Landlock and seccomp alone.',
    project: 'never',
    choices: ['fail', 'weaker'],
  },
  {
    key: 'sandbox.outside',
    type: 'string',
    default: 'ask',
    about: 'Whether a person may be asked to let one command run outside the sandbox.',
    project: 'tightens',
    choices: ['ask', 'never'],
  },
  {
    key: 'sandbox.try',
    type: 'string',
    default: 'off',
    about:
      'What commands write in the roots counts when it is accepted: `on` goes on with the try of the same roots, `new` begins one, an id goes on with that one. Without a profile it means `workspace`.',
    project: 'tightens',
    variable: 'CERITH_SANDBOX_TRY',
  },
  {
    key: 'sandbox.accept',
    type: 'string',
    default: 'ask',
    about:
      'Who accepts what an agent tried: `ask` a person each time, `always` (protected names and conflicts are still asked about), `never` (only `cerith accept`).',
    project: 'tightens',
    choices: ['ask', 'always', 'never'],
  },
  {
    key: 'sandbox.tryKeepDays',
    type: 'number',
    default: 30,
    about: 'A try that was not used for this many days is removed, with what was not accepted.',
    project: 'never',
    min: 1,
  },
  {
    key: 'sandbox.tier',
    type: 'string',
    default: 'auto',
    about: 'Which walls to use: `auto`, `rooms` only, or `landlock` only (the weaker ones).',
    project: 'never',
    choices: ['auto', 'rooms', 'landlock'],
  },
]

const LIMIT_NAMES = ['memoryBytes', 'processes', 'cpus', 'tmpBytes'] as const

/** The sandbox that the settings describe; null where there is none. */
export function sandboxOf(values: Readonly<Record<string, unknown>>): SandboxOptions | null {
  const tried = values['sandbox.try'] as string
  if (values['sandbox.profile'] === 'off' && tried === 'off') return null
  const of = <T>(key: string): T => values[`sandbox.${key}`] as T
  const limits = limitsOf(of<Record<string, unknown>>('limits'))
  return {
    profile: values['sandbox.profile'] === 'off' ? 'workspace' : of('profile'),
    network: of('network'),
    domains: of('domains'),
    write: of('write'),
    hide: of('hide'),
    protect: of('protect'),
    show: of('show'),
    sockets: of('sockets'),
    ports: of('ports'),
    nested: of('nested'),
    ...(Object.keys(limits).length > 0 ? { limits } : {}),
    unavailable: of('unavailable'),
    outside: of('outside'),
    tier: of('tier'),
    ...(tried === 'off' ? {} : { try: tried === 'on' ? true : tried }),
    accept: of('accept'),
    tryKeepDays: of('tryKeepDays'),
  }
}

function limitsOf(given: Readonly<Record<string, unknown>>): SandboxLimits {
  for (const [name, value] of Object.entries(given)) {
    if (!(LIMIT_NAMES as readonly string[]).includes(name) || typeof value !== 'number' || !(value > 0))
      throw badConfig(
        `sandbox.limits: ${JSON.stringify(name)}: ${JSON.stringify(value)} is no limit`,
        `A positive number for each of: ${LIMIT_NAMES.join(', ')}.`,
      )
  }
  return given as SandboxLimits
}

/** What of a project's value counts: never more than the user's own. */
export function tightenedSetting(key: string, current: unknown, given: unknown): unknown {
  switch (key) {
    case 'sandbox.profile':
      return strictness(current as string, given as string) ? given : current
    case 'sandbox.network':
      return indexOf(SANDBOX_NETWORKS, given) > indexOf(SANDBOX_NETWORKS, current) ? given : current
    case 'sandbox.outside':
      return given === 'never' ? given : current
    case 'sandbox.try':
      return current === 'off' && given !== 'off' ? 'on' : current
    case 'sandbox.accept':
      return indexOf(['always', 'ask', 'never'], given) > indexOf(['always', 'ask', 'never'], current) ? given : current
    case 'sandbox.limits': {
      const merged: Record<string, number> = { ...(current as Record<string, number>) }
      for (const [name, value] of Object.entries(given as Record<string, number>))
        merged[name] = Math.min(value, merged[name] ?? Infinity)
      return merged
    }
    default:
      if (typeof given === 'number') return Math.min(given, (current as number | null) ?? Infinity)
      // Lists of what is allowed: only what the user allows too.
      return (given as readonly string[]).filter((one) => (current as readonly string[]).includes(one))
  }
}

/** `read-only` and `strict` each tighten `workspace`; neither tightens the other. */
function strictness(current: string, given: string): boolean {
  return current === 'off' || (current === 'workspace' && (given === 'read-only' || given === 'strict'))
}

function indexOf(list: readonly string[], value: unknown): number {
  return list.indexOf(value as string)
}
