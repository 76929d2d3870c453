/**
 * For what may be gone, closed or another user's by the time it is asked for: what `act` gives, or
 * `instead` where it throws.
 */
export function attempt<T, U = undefined>(act: () => T, instead?: U): T | U {
  try {
    return act()
  } catch {
    return instead as U
  }
}

/** A value of JSON that is an object, as messages and records are. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Null for half a line, and for what is no object. */
export function parseRecord(text: string): Record<string, unknown> | null {
  const value: unknown = attempt(() => JSON.parse(text))
  return isRecord(value) ? value : null
}
