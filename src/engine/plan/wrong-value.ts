/** Says that a caller passed something that cannot be: what was expected, what came, what to pass instead. Never fails itself, whatever came. */
import { ShellError } from '../../contract/errors.js'

export function wrongValue(what: string, value: unknown, hint: string): ShellError {
  return new ShellError('BAD_REQUEST', `Bad request: ${what} (got ${shown(value)})`, hint)
}

/** The options of a call: an object, or nothing at all. */
export function checkOptions(call: string, options: unknown): void {
  if (options !== undefined && (typeof options !== 'object' || options === null || Array.isArray(options)))
    throw wrongValue(`the options of ${call} must be an object`, options, 'Pass { ... }, or nothing.')
}

/** Whoever stops a call: anything with the two methods of an AbortSignal will do. */
export function checkSignal(signal: unknown): void {
  if (signal === undefined) return
  const { addEventListener, removeEventListener } = (signal ?? {}) as Partial<AbortSignal>
  if (typeof addEventListener !== 'function' || typeof removeEventListener !== 'function')
    throw wrongValue('signal must be an AbortSignal', signal, 'Pass the signal of an AbortController, or leave it out.')
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 100))
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' || value === null) return String(value)
  try {
    return (JSON.stringify(value) ?? 'an object').slice(0, 160)
  } catch {
    return 'an object'
  }
}
