/** Limits of one command: which of the engine's and the call's count, and the note about one that was exceeded. */
import type { Note } from '../../contract/note.js'
import type { OverLimit } from '../../contract/outcome.js'
import type { ResourceLimits } from '../../contract/request.js'
import { sizeWords } from '../../output/binary.js'

const NAMES = ['cpuSeconds', 'memoryBytes', 'processes', 'fileBytes'] as const

/** A call may ask for less than the engine allows, never for more. Null: there is no limit. */
export function tightest(engine: ResourceLimits | undefined, call: ResourceLimits | undefined): ResourceLimits | null {
  if (!engine && !call) return null
  const limits = NAMES.flatMap((name) => {
    const value = Math.min(engine?.[name] ?? Infinity, call?.[name] ?? Infinity)
    return value === Infinity ? [] : [[name, value] as const]
  })
  return limits.length === 0 ? null : Object.fromEntries(limits)
}

export function overNote(over: OverLimit, limits: ResourceLimits | null): Note {
  return { code: 'over-limit', text: overText(over, limits) }
}

function overText({ limit, used }: OverLimit, limits: ResourceLimits | null): string {
  const allowed = limits?.[limit]
  const of = (text: (value: number) => string, value: number | undefined): string =>
    value === undefined ? '' : `, ${text(value)} allowed`
  switch (limit) {
    case 'memoryBytes':
      return `Over its memory limit: ${sizeWords(used)} used${of(sizeWords, allowed)} (memoryBytes).`
    case 'processes':
      return `Over its process limit: ${used} at once${of(String, allowed)} (processes).`
    case 'cpuSeconds':
      return (
        `Over its CPU limit: ${(used / 1_000).toFixed(1)} s used${of((value) => `${value} s`, allowed)} ` +
        '(cpuSeconds).'
      )
    default:
      return limit satisfies never
  }
}
