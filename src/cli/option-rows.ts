/** Options that several verbs share, and how their texts are read. */
import { UsageError } from './io.js'
import type { OptionRow } from './verb.js'

export const JSON_OPTION: OptionRow = { flags: '--json', about: 'answer with JSON' }
export const CWD_OPTION: OptionRow = { flags: '--cwd <DIR>', about: 'run there (default: here)' }
export const SET_OPTION: OptionRow = { flags: '--set <KEY=VALUE>', about: 'a setting for this call (see `cerith config`)', many: true }

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds: `1500`, `30s`, `5m`, `1h`, `7d`. */
export function readDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text.trim())
  if (!match) throw new UsageError(`${JSON.stringify(text)} is not a time`, 'Write milliseconds (1500) or a unit: 30s, 5m, 1h, 7d.')
  return Math.round(Number(match[1]) * (UNITS[match[2] ?? 'ms'] as number))
}

/** As a duration; `none` is no limit. */
export function readTimeout(text: string): number | null {
  return text === 'none' ? null : readDuration(text)
}

export function readWhole(text: string): number {
  if (!/^\d+$/.test(text)) throw new UsageError(`${JSON.stringify(text)} is not a whole number`)
  return Number(text)
}

/** `NAME=VALUE` as a pair. */
export function readAssignment(text: string): readonly [string, string] {
  const at = text.indexOf('=')
  if (at < 1) throw new UsageError(`${JSON.stringify(text)} is not NAME=VALUE`, 'For example: --env MODE=test')
  return [text.slice(0, at), text.slice(at + 1)]
}
