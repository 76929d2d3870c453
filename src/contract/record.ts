/** Values of JSON that are objects, which is what messages and records are. */
import { attempt } from './attempt.js'

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Null for half a line, and for what is no object. */
export function parseRecord(text: string): Record<string, unknown> | null {
  const value: unknown = attempt(() => JSON.parse(text))
  return isRecord(value) ? value : null
}
