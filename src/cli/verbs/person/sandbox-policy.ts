/** What a sandbox comes to, as a person reads it: a line per question, long lists shortened. */
import type { SandboxSummary } from '../../../contract/sandbox.js'
import type { Paint } from '../../io/paint.js'
import { visible } from '../../../output/terminal/visible.js'

const SHOWN = 6

export function policyLines(sandbox: SandboxSummary, paint: Paint): string {
  const { profile, network, domains, writable, hidden, protected: kept, ports, warnings } = sandbox
  const rows: readonly (readonly [string, string])[] = [
    ['network', network === 'allow-list' ? `allow-list: ${listed(domains)}` : network],
    ['writes', listed([...writable, '/tmp (its own)'])],
    ['hidden', listed(hidden)],
    ['protected', listed(kept)],
    ...(ports.length > 0 ? [['ports', ports.join(', ')] as const] : []),
  ]
  return [
    '',
    `${paint('bold', 'sandbox')}      ${profile}`,
    ...rows.map(([name, text]) => `  ${name.padEnd(11)}${text}`),
    ...warnings.map((text) => `  ${paint('yellow', 'beware'.padEnd(11))}${visible(text)}`),
    '',
  ].join('\n')
}

function listed(items: readonly string[]): string {
  if (items.length === 0) return 'nothing'
  const more = items.length > SHOWN ? ` and ${items.length - SHOWN} more` : ''
  return `${items.slice(0, SHOWN).map(visible).join(', ')}${more}`
}
