/**
 * Where the saved state of a session was made. Its functions, traps and variables are code of the commands there: what
 * they could not do must not be done by a later shell that begins with them.
 */
import { attempt } from '../contract/attempt.js'
import type { SandboxOptions } from '../contract/sandbox.js'
import { isInside } from '../contract/names/inside.js'
import { looserThan } from './stricter.js'

export interface MadeIn {
  readonly options: SandboxOptions
  /** Canonical. */
  readonly writable: readonly string[]
}

export function madeInText(place: MadeIn | null): string {
  return place === null ? '' : JSON.stringify({ options: place.options, writable: place.writable } satisfies MadeIn)
}

/** What a shell could do here that commands there could not, by the name of the setting; empty where nothing. */
export function widerThan(text: string, here: MadeIn | null): readonly string[] {
  if (text === '') return []
  const made = attempt(() => JSON.parse(text) as MadeIn, null)
  if (made === null || here === null) return ['profile']
  const isWritable = (path: string): boolean => made.writable.some((one) => isInside(path, one))
  const looser = looserThan(made.options, { ...here.options, try: here.options.try ?? false })
  return here.writable.every(isWritable) ? looser : [...looser.filter((name) => name !== 'write'), 'write']
}
