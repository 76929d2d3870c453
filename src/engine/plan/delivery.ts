/** Resolves a command's secret tokens at the last moment: the values go one way, the script another, and nothing of a value is parsed. */
import { randomBytes } from 'node:crypto'
import type { Refusal } from '../../contract/outcome.js'
import type { Services } from '../services/services.js'

export interface DeliveredCommand {
  readonly script: string
  /** Bash code that reads the values from a descriptor, and that forgets them; empty without secrets. */
  readonly prelude: (from: string) => string
  readonly epilogue: string
  readonly payload: Uint8Array | null
}

export async function deliverCommand(command: string, services: Services): Promise<DeliveredCommand | Refusal> {
  const plain: DeliveredCommand = { script: command, prelude: () => '', epilogue: '', payload: null }
  // Commands without a token are untouched byte for byte, and pay nothing.
  if (!command.includes('{{')) return plain
  const lookup = await services.secrets.valuesFor(command)
  if (!lookup) return plain
  const [{ planDelivery }, { bindingEpilogue, bindingPayload, bindingPrelude }] = await Promise.all([
    import('../../secrets/deliver/deliver.js'),
    import('../../secrets/deliver/binding.js'),
  ])
  const delivery = planDelivery(command, lookup, randomBytes(6).toString('hex'))
  if (delivery.kind === 'refused')
    return { rule: 'secret-context', reason: `The command was not run: ${delivery.reason}`, guidance: delivery.hint }
  if (delivery.kind === 'plain') return plain
  const { bindings } = delivery
  return {
    script: delivery.script,
    prelude: (from) => bindingPrelude(bindings, from),
    epilogue: bindingEpilogue(bindings),
    payload: bindingPayload(bindings),
  }
}

export function isRefusal(value: DeliveredCommand | Refusal): value is Refusal {
  return 'rule' in value
}
