/**
 * The SDK asks four times per message what kind it is, each time with a full schema. What is
 * plain to see is answered at sight; every doubt still goes to the schema.
 */
import { RELATED_TASK_META_KEY, specTypeSchemas } from '@modelcontextprotocol/server'
import { isId } from './line-transport.js'
import { isRecord } from '../../contract/attempt.js'

type Sight = (value: Record<string, unknown>) => boolean | null

/** True or false where the schema would surely say the same; null: ask the schema. */
export const SIGHTS: Readonly<
  Record<'JSONRPCRequest' | 'JSONRPCNotification' | 'JSONRPCResultResponse' | 'JSONRPCErrorResponse', Sight>
> = {
  JSONRPCRequest: (value) => {
    if (typeof value['method'] !== 'string' || !('id' in value)) return false
    return hasOnly(value, REQUEST) && isHeaded(value) && isPlain(value['params']) ? true : null
  },
  JSONRPCNotification: (value) => {
    if (typeof value['method'] !== 'string' || 'id' in value) return false
    return hasOnly(value, REQUEST) && value['jsonrpc'] === '2.0' && isPlain(value['params']) ? true : null
  },
  JSONRPCResultResponse: (value) => {
    if (!('result' in value)) return false
    const { result } = value
    return hasOnly(value, RESULT) && isHeaded(value) && isRecord(result) && result['_meta'] === undefined ? true : null
  },
  JSONRPCErrorResponse: (value) => ('error' in value ? null : false),
}

const REQUEST: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params'])
const RESULT: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'result'])

interface Guard {
  safeParse(value: unknown, ...rest: unknown[]): { readonly success: boolean }
}

const quick = new WeakSet<Guard['safeParse']>()

/** Done once per copy of the SDK, however many servers there are. Its guards look at nothing but `success`. */
export function quickenGuards(): void {
  for (const [name, sight] of Object.entries(SIGHTS)) {
    const guard = specTypeSchemas[name as keyof typeof SIGHTS] as unknown as Guard
    const { safeParse } = guard
    if (quick.has(safeParse)) continue
    guard.safeParse = (value, ...rest) => {
      const success = isRecord(value) ? sight(value) : null
      return success === null ? safeParse(value, ...rest) : { success, data: value }
    }
    quick.add(guard.safeParse)
  }
}

function isHeaded(value: Record<string, unknown>): boolean {
  return value['jsonrpc'] === '2.0' && isId(value['id'])
}

/** Absent, or an object whose `_meta` holds nothing that has a shape of its own except a good progress token. */
function isPlain(params: unknown): boolean {
  if (params === undefined) return true
  if (!isRecord(params)) return false
  const { _meta: meta } = params
  if (meta === undefined) return true
  return (
    isRecord(meta) &&
    (meta['progressToken'] === undefined || isId(meta['progressToken'])) &&
    meta[RELATED_TASK_META_KEY] === undefined
  )
}

function hasOnly(value: Record<string, unknown>, names: ReadonlySet<string>): boolean {
  for (const name in value) if (!names.has(name)) return false
  return true
}
