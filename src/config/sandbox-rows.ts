/** The settings `sandbox.*`, one row each, and what they mean together. */
import { SANDBOX_NETWORKS, SANDBOX_PROFILES, type SandboxLimits, type SandboxOptions } from '../contract/sandbox.js'
import { badConfig } from '../contract/errors.js'
import { groupOf, setting, type Setting } from './setting.js'

export const SANDBOX_ROWS: readonly Setting[] = [
  setting(
    {
      key: 'sandbox.profile',
      type: 'string',
      default: 'off',
      project: 'tightens',
      variable: 'CERITH_SANDBOX',
      choices: SANDBOX_PROFILES,
    },
    'What commands may see and write: `off` everything, `workspace` writes in the roots only, `read-only` ' +
      'writes nowhere, `strict` sees nothing but the system and the roots. See docs/sandbox.md.',
  ),
  setting(
    {
      key: 'sandbox.network',
      type: 'string',
      default: 'none',
      project: 'tightens',
      variable: 'CERITH_SANDBOX_NETWORK',
      choices: SANDBOX_NETWORKS,
    },
    'What a sandboxed command may reach: `none`, `allow-list` (the hosts in sandbox.domains), `all`.',
  ),
  setting(
    { key: 'sandbox.domains', type: 'names', project: 'tightens', variable: 'CERITH_SANDBOX_DOMAINS' },
    'Hosts that `allow-list` lets through; `.example.com` means everything below it. Empty: none.',
  ),
  setting(
    { key: 'sandbox.write', type: 'paths', project: 'tightens' },
    'Writable directories of a sandbox besides the roots (or the working directory where there are none).',
  ),
  setting({ key: 'sandbox.hide', type: 'paths', project: 'add' }, 'Further paths that a sandboxed command cannot see.'),
  setting(
    { key: 'sandbox.protect', type: 'names', project: 'add' },
    'Further names inside writable directories that stay read-only, relative to each root.',
  ),
  setting(
    { key: 'sandbox.show', type: 'paths' },
    'Paths that a sandbox shows, read-only and live, although its profile would not.',
  ),
  setting(
    { key: 'sandbox.sockets', type: 'paths' },
    'Unix sockets that sandboxed commands may connect to. The socket of a container engine gives the machine away.',
  ),
  setting(
    { key: 'sandbox.ports', type: 'numbers', min: 1, max: 65_535 },
    'Ports inside the sandbox that are reached on the loopback of the machine under the same number.',
  ),
  setting(
    { key: 'sandbox.nested', type: 'boolean' },
    'Let sandboxed commands make user namespaces of their own (browsers); leaves the second wall out.',
  ),
  setting(
    { key: 'sandbox.limits', type: 'object', project: 'tightens' },
    'Limits of all commands of a sandbox together: {memoryBytes, processes, cpus, tmpBytes}.',
  ),
  setting(
    { key: 'sandbox.unavailable', type: 'string', default: 'fail', choices: ['fail', 'weaker'] },
    'Where no sandbox can be built: `fail` runs nothing, `weaker` uses Landlock and seccomp alone.',
  ),
  setting(
    { key: 'sandbox.outside', type: 'string', default: 'ask', project: 'tightens', choices: ['ask', 'never'] },
    'Whether a person may be asked to let one command run outside the sandbox.',
  ),
  setting(
    { key: 'sandbox.try', type: 'string', default: 'off', project: 'tightens', variable: 'CERITH_SANDBOX_TRY' },
    'What commands write in the roots counts when it is accepted: `on` goes on with the try of the same roots, ' +
      '`new` begins one, an id goes on with that one. Without a profile it means `workspace`.',
  ),
  setting(
    { key: 'sandbox.accept', type: 'string', default: 'ask', project: 'tightens', choices: ['ask', 'always', 'never'] },
    'Who accepts what an agent tried: `ask` a person each time, `always` (protected names and conflicts are ' +
      'still asked about), `never` (only `cerith accept`).',
  ),
  setting(
    { key: 'sandbox.tryKeepDays', type: 'number', default: 30, min: 1 },
    'A try that was not used for this many days is removed, with what was not accepted.',
  ),
  setting(
    { key: 'sandbox.tier', type: 'string', default: 'auto', choices: ['auto', 'rooms', 'landlock'] },
    'Which walls to use: `auto`, `rooms` only, or `landlock` only (the weaker ones).',
  ),
]

const LIMIT_NAMES = ['memoryBytes', 'processes', 'cpus', 'tmpBytes'] as const

/** The sandbox that the settings describe; null where there is none. */
export function sandboxOf(values: Readonly<Record<string, unknown>>): SandboxOptions | null {
  const { profile, try: tried, limits, ...rest } = groupOf(values, 'sandbox')
  if (profile === 'off' && tried === 'off') return null
  const kept = limitsOf(limits as Record<string, unknown>)
  return {
    ...rest,
    profile: profile === 'off' ? 'workspace' : profile,
    ...(Object.keys(kept).length > 0 ? { limits: kept } : {}),
    ...(tried === 'off' ? {} : { try: tried === 'on' ? true : tried }),
  } as SandboxOptions
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
      return laterOf(SANDBOX_NETWORKS, current, given)
    case 'sandbox.outside':
      return given === 'never' ? given : current
    case 'sandbox.try':
      return current === 'off' && given !== 'off' ? 'on' : current
    case 'sandbox.accept':
      return laterOf(['always', 'ask', 'never'], current, given)
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

function laterOf(list: readonly unknown[], current: unknown, given: unknown): unknown {
  return list.indexOf(given) > list.indexOf(current) ? given : current
}
