/** What the guard noticed: effects of commands on paths, and findings that argue for a decision. */
import type { Decision } from '../../contract/verdict.js'

/** One reason for a decision; the strictest of all wins. */
export interface Finding {
  readonly decision: Decision
  readonly rule: string
  readonly reason: string
  readonly guidance: string
  readonly words: readonly string[]
  readonly dangerous: boolean
}

/** What a command does to a path. `tree` means the path and everything below it. */
export type EffectKind =
  | 'delete'
  | 'delete-tree'
  | 'move'
  | 'overwrite'
  | 'replace'
  | 'append'
  | 'edit'
  | 'create'
  | 'mode'
  | 'mode-tree'
  | 'owner'
  | 'owner-tree'

export interface Effect {
  readonly kind: EffectKind
  /** Absolute folded path. */
  readonly path: string
  /** The argument as written, for people. */
  readonly word: string
  /** The mode of a chmod, when known; what a write leaves of a file, where that is nothing. */
  readonly mode?: string | undefined
}

/** A finding against a command: `words` as people read them, `why` what they would do. */
export function objection(
  decision: Decision,
  rule: string,
  words: readonly string[],
  about: { readonly why: string; readonly guidance: string },
): Finding {
  const { why, guidance } = about
  return { decision, rule, reason: `\`${words.join(' ')}\`${why}`, guidance, words, dangerous: false }
}

const STRICTNESS: Readonly<Record<Decision, number>> = { allow: 0, ask: 1, deny: 2 }

/** The finding that decides: the strictest, a catastrophic one before a policy one, the first of equals. */
export function strictest(findings: readonly Finding[]): Finding | undefined {
  return findings.reduce<Finding | undefined>((best, one) => (!best || rank(one) > rank(best) ? one : best), undefined)
}

function rank(finding: Finding): number {
  return STRICTNESS[finding.decision] * 2 + (finding.dangerous ? 1 : 0)
}
