/** Options that several verbs share, and how their texts are read. */
import { UsageError } from '../io/io.js'
import type { OptionRow } from './verb.js'

export const JSON_OPTION = { flags: '--json', about: 'answer with JSON' } as const satisfies OptionRow
export const CWD_OPTION = {
  flags: '--cwd <DIR>',
  about: 'run there (default: here)',
  read: readDirectory,
} as const satisfies OptionRow
export const SET_OPTION = {
  flags: '--set <KEY=VALUE>',
  about: 'a setting for this call (see `cerith config`)',
  many: true,
} as const satisfies OptionRow

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds: `1500`, `30s`, `5m`, `1h`, `7d`. */
export function readDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text.trim())
  if (!match)
    throw new UsageError(
      `${JSON.stringify(text)} is not a time`,
      'Write milliseconds (1500) or a unit: 30s, 5m, 1h, 7d.',
    )
  return Math.round(Number(match[1]) * (UNITS[match[2] ?? 'ms'] as number))
}

/** Bytes: `1000000`, `500M`, `2G`, in steps of 1024. */
export function readSize(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?$/i.exec(text.trim())
  const bytes = match ? Math.round(Number(match[1]) * 1_024 ** ' KMGT'.indexOf((match[2] || ' ').toUpperCase())) : 0
  if (!(bytes > 0)) throw new UsageError(`${JSON.stringify(text)} is not a size`, 'Write bytes, or a unit: 500M, 2G.')
  return bytes
}

/** As a duration; `none` is no limit. */
export function readTimeout(text: string): number | null {
  if (text === 'none') return null
  const ms = readDuration(text)
  if (ms === 0) throw new UsageError('no command can end within no time', 'Write `none` for no limit.')
  return ms
}

/** An empty text is a variable that was not set, not a wish for this directory. */
function readDirectory(text: string): string {
  if (text === '') throw new UsageError('the name of a directory is empty', 'Leave the option out to run here.')
  return text
}

export function readWhole(text: string): number {
  if (!/^\d+$/.test(text))
    throw new UsageError(`${JSON.stringify(text)} is not a whole number`, 'Write digits only, 0 or more.')
  return Number(text)
}

/** At least one. */
export function readCount(text: string): number {
  const count = readWhole(text)
  if (count === 0) throw new UsageError('0 is too few', 'Write a whole number above 0.')
  return count
}

/** A TCP port; what 0 means is the verb's to say. */
export function readPort(text: string): number {
  const port = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535))
    throw new UsageError(`${JSON.stringify(text)} is not a port`, 'Write a whole number up to 65535.')
  return port
}

/** `NAME=VALUE` as a pair. */
export function readAssignment(text: string): readonly [string, string] {
  const at = text.indexOf('=')
  if (at < 1) throw new UsageError(`${JSON.stringify(text)} is not NAME=VALUE`, 'For example: --env MODE=test')
  return [text.slice(0, at), text.slice(at + 1)]
}
