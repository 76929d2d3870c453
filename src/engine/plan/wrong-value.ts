/**
 * Says that a caller passed something that cannot be: what was expected, what came, what to
 * pass instead. Never fails itself, whatever came.
 */
import { badRequest, type ShellError } from '../../contract/errors.js'
import { attempt } from '../../contract/attempt.js'

export function wrongValue(what: string, value: unknown, hint: string): ShellError {
  return badRequest(`Bad request: ${what} (got ${shown(value)})`, hint)
}

export function checkSessionName(name: unknown): string {
  if (typeof name === 'string' && /^[\w@:-][\w.@:-]{0,63}$/.test(name)) return name
  const hint = 'Use up to 64 letters, digits, dots, dashes and underscores, the first of them no dot.'
  throw wrongValue('not a session name', name, hint)
}

/** Any value in a few words. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 100))
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' || value === null) return String(value)
  return attempt(() => (JSON.stringify(value) ?? 'an object').slice(0, 160), 'an object')
}
