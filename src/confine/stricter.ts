/** Two sandboxes become one that is at least as strict as each: what a project, or a single call, may ask for. */
import {
  SANDBOX_NETWORKS,
  SANDBOX_PROFILES,
  type SandboxLimits,
  type SandboxNetwork,
  type SandboxOptions,
  type SandboxProfile,
} from '../contract/sandbox.js'

export function stricterProfile(a: SandboxProfile, b: SandboxProfile): SandboxProfile {
  // Neither of these holds the other: read-only sees more, strict writes more. Nothing is both, so the roots go.
  if ((a === 'read-only' && b === 'strict') || (a === 'strict' && b === 'read-only')) return 'strict'
  return SANDBOX_PROFILES.indexOf(a) >= SANDBOX_PROFILES.indexOf(b) ? a : b
}

export function stricterNetwork(a: SandboxNetwork, b: SandboxNetwork): SandboxNetwork {
  return SANDBOX_NETWORKS.indexOf(a) >= SANDBOX_NETWORKS.indexOf(b) ? a : b
}

/** What of `asked` would loosen `base`, by the name of the setting; empty where it only tightens. */
export function looserThan(base: SandboxOptions, asked: Partial<SandboxOptions>): string[] {
  const found: string[] = []
  if (asked.profile !== undefined && !isAsStrict(base.profile, asked.profile)) found.push('profile')
  if (asked.network !== undefined && stricterNetwork(base.network ?? 'none', asked.network) !== asked.network)
    found.push('network')
  for (const key of ['domains', 'write', 'show', 'sockets'] as const)
    if (asked[key]?.some((one) => !(base[key] ?? []).includes(one))) found.push(key)
  if (asked.ports?.some((port) => !(base.ports ?? []).includes(port))) found.push('ports')
  if (asked.nested && !base.nested) found.push('nested')
  if (asked.unavailable === 'weaker' && base.unavailable !== 'weaker') found.push('unavailable')
  if (asked.outside === 'ask' && base.outside === 'never') found.push('outside')
  if (asked.try === false && base.try) found.push('try')
  if (asked.accept !== undefined && base.try && ACCEPTS.indexOf(asked.accept) < ACCEPTS.indexOf(base.accept ?? 'ask'))
    found.push('accept')
  if (asked.tier !== undefined && asked.tier !== (base.tier ?? 'auto')) found.push('tier')
  for (const key of LIMITS)
    if (asked.limits?.[key] !== undefined && (asked.limits[key] ?? 0) > (base.limits?.[key] ?? Infinity))
      found.push(`limits.${key}`)
  return found
}

/** `base` with everything that `asked` tightens. */
export function tightened(base: SandboxOptions, asked: Partial<SandboxOptions>): SandboxOptions {
  const joined = { ...base, ...asked, profile: stricterProfile(base.profile, asked.profile ?? base.profile) }
  const limits = Object.fromEntries(
    LIMITS.flatMap((key) => {
      const values = [base.limits?.[key], asked.limits?.[key]].filter((value) => value !== undefined)
      return values.length > 0 ? [[key, Math.min(...values)]] : []
    }),
  ) as SandboxLimits
  return {
    ...joined,
    hide: [...new Set([...(base.hide ?? []), ...(asked.hide ?? [])])],
    protect: [...new Set([...(base.protect ?? []), ...(asked.protect ?? [])])],
    ...(Object.keys(limits).length > 0 ? { limits } : {}),
  }
}

/** From the loosest to the strictest. */
const ACCEPTS = ['always', 'ask', 'never'] as const
const LIMITS = ['memoryBytes', 'processes', 'cpus', 'tmpBytes'] as const

/** `read-only` and `strict` each hold what `workspace` does; neither holds the other. */
function isAsStrict(base: SandboxProfile, asked: SandboxProfile): boolean {
  if (base === asked || base === 'off') return true
  return base === 'workspace' && (asked === 'read-only' || asked === 'strict')
}
