/**
 * Resolves a command's secret tokens at the last moment: the values go one way, the script
 * another, and nothing of a value is parsed.
 */
import type { Note } from '../../contract/note.js'
import type { Refusal } from '../../contract/outcome.js'
import { nearest } from '../../contract/names/nearest.js'
import type { Services } from '../services/services.js'
import type { Plan } from './plan.js'

export interface DeliveredCommand {
  readonly script: string
  /** Bash code that reads the values from a descriptor, and that forgets them; empty without secrets. */
  readonly prelude: (from: string) => string
  readonly epilogue: string
  readonly payload: Uint8Array | null
  /** Tokens that name no secret stay as they are, and the outcome says so. */
  readonly notes: readonly Note[]
}

export async function deliverCommand(
  { command, verdict }: Pick<Plan, 'command' | 'verdict'>,
  services: Services,
): Promise<DeliveredCommand | Refusal> {
  const plain: DeliveredCommand = { script: command, prelude: () => '', epilogue: '', payload: null, notes: [] }
  const earlier = verdict.secretsAsCode.find(
    (token) => !command.includes(token) && services.secrets.delivered.has(token),
  )
  if (earlier !== undefined)
    return {
      rule: 'secret-context',
      reason:
        `The command was not run: the value of ${earlier}, which an earlier call left in this session, would be ` +
        'run as code',
      guidance: 'Use the value as data: as an argument, in an environment variable, or on the stdin of a program.',
    }
  // Commands without a token are untouched byte for byte, and pay nothing.
  if (!command.includes('{{')) return plain
  const lookup = await services.secrets.valuesFor(command)
  if (!lookup) return plain
  const [{ planDelivery }, { bindingEpilogue, bindingPayload, bindingPrelude }, { findTokens }] = await Promise.all([
    import('../../secrets/deliver/deliver.js'),
    import('../../secrets/deliver/binding.js'),
    import('../../secrets/deliver/tokens.js'),
  ])
  const unknown = new Set(
    findTokens(command)
      .filter((token) => lookup(token) === undefined)
      .map(({ name }) => name),
  )
  const notes = unknown.size === 0 ? [] : unknownNotes([...unknown], await services.secrets.names())
  const delivery = planDelivery(command, lookup, verdict.secretsAsCode)
  if (delivery.kind === 'refused')
    return { rule: 'secret-context', reason: `The command was not run: ${delivery.reason}`, guidance: delivery.hint }
  if (delivery.kind === 'plain') return { ...plain, notes }
  const { bindings } = delivery
  return {
    script: delivery.script,
    prelude: (from) => bindingPrelude(bindings, from),
    epilogue: bindingEpilogue(bindings),
    payload: bindingPayload(bindings),
    notes,
  }
}

/** A misspelt name would otherwise go out as text, with exit code 0 and without a word. */
export function unknownNotes(unknown: readonly string[], known: readonly string[]): Note[] {
  return unknown.map((name) => {
    const close = nearest(name, known)
    const meant = close
      ? `; did you mean ${close}?`
      : known.length > 0
        ? `; there are ${known.slice(0, 8).join(', ')}`
        : ''
    const text = `There is no secret ${name}, so its token stayed in the command as text${meant}`
    return { code: 'unknown-secret', text }
  })
}

export function isRefusal(value: DeliveredCommand | Refusal): value is Refusal {
  return 'rule' in value
}
