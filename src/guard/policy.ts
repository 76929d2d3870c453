/** The policy a person writes: allow, ask and deny rules on argv, presets, protected paths. Compiled once, checked at load. */
import type { Decision } from '../contract/verdict.js'

export type Preset = 'open' | 'careful' | 'readonly'

/** One rule of the `policy` key of cerith.config.json. */
export interface PolicyRule {
  readonly decision: Decision
  /** Argv prefixes or patterns: `git push`, `npm run *`, `curl *`. */
  readonly commands: readonly string[]
  /** Only in these directories and below them. */
  readonly directories?: readonly string[]
  readonly reason?: string
  readonly guidance?: string
  /** Commands this rule must decide, checked when the policy is loaded. */
  readonly match?: readonly string[]
  /** Commands this rule must leave alone, checked when the policy is loaded. */
  readonly notMatch?: readonly string[]
}

/** The `policy` key of cerith.config.json: plain JSON. */
export interface PolicyConfig {
  readonly preset?: Preset
  readonly rules?: readonly PolicyRule[]
  /** Paths whose change is asked about (or denied): `~/.ssh`, `.git/hooks`. */
  readonly protected?: { readonly paths: readonly string[]; readonly decision?: 'ask' | 'deny' }
  /** Directories in which `careful` lets commands write; the working directory when absent. */
  readonly roots?: readonly string[]
}

export interface Policy {
  readonly preset: Preset
  readonly rules: readonly PolicyRule[]
  readonly protectedPaths: readonly string[]
  readonly protectedDecision: 'ask' | 'deny'
  readonly roots: readonly string[] | null
}

/** Names the key or rule that is wrong, and why. */
export class PolicyError extends Error {
  constructor(
    readonly key: string,
    message: string,
  ) {
    super(`policy.${key}: ${message}`)
    this.name = 'PolicyError'
  }
}

export const OPEN_POLICY: Policy = { preset: 'open', rules: [], protectedPaths: [], protectedDecision: 'ask', roots: null }

export function compilePolicy(config: PolicyConfig): Policy {
  return { ...OPEN_POLICY, preset: config.preset ?? 'open', rules: config.rules ?? [] }
}
