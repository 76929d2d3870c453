/**
 * What a sandbox makes harmless, so that no question is needed. What is denied stays denied: a
 * clear refusal beats a read-only file system.
 */
import { nameSet } from '../../contract/quote.js'
import type { Finding } from '../rules/findings.js'

/** Questions of the preset `careful`; rules of a person's own policy begin with `policy:` and are always asked. */
const HARMLESS = nameSet('write-outside unknown-program unknown-code package-install network data-loss')
/** With the machine's network, code that the guard has not read can still send away what it reads. */
const HARMLESS_WITH_NETWORK = new Set(['write-outside'])

export function isHeld({ decision, rule }: Finding, sandbox: { readonly network: string }): boolean {
  return decision === 'ask' && (sandbox.network === 'all' ? HARMLESS_WITH_NETWORK : HARMLESS).has(rule)
}

/** Other rights cannot be had in a sandbox: worth knowing before a person is asked. */
export function inSandbox(finding: Finding): Finding {
  if (finding.rule !== 'privilege') return finding
  return {
    ...finding,
    reason: `${finding.reason}, which cannot work in the sandbox`,
    guidance: 'Do it without other rights, inside the project.',
  }
}
