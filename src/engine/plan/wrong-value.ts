/**
 * Says that a caller passed something that cannot be: what was expected, what came, what to
 * pass instead. Never fails itself, whatever came.
 */
import { ShellError } from '../../contract/errors.js'
import { attempt } from '../../contract/attempt.js'

export function wrongValue(what: string, value: unknown, hint: string): ShellError {
  return new ShellError('BAD_REQUEST', `Bad request: ${what} (got ${shown(value)})`, hint)
}

/** Any value in a few words. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 100))
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' || value === null) return String(value)
  return attempt(() => (JSON.stringify(value) ?? 'an object').slice(0, 160), 'an object')
}
