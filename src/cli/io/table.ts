/** Aligned columns that fit the terminal, and sizes and times as people say them. */
import { knownHome } from '../../os/files/home.js'
import { visible } from '../../output/terminal/visible.js'
import { takeColumns, widthOf } from '../../output/terminal/width.js'

export interface TableOptions {
  /** Columns that are never cut: what is typed again, such as an id. */
  readonly whole?: readonly string[]
  /** Columns that are left out where there is no room, first ones first. */
  readonly spare?: readonly string[]
}

const NARROW = 12
const NARROWEST = 6

/** Everything that is too long is cut with an ellipsis, after the columns that can be spared have been left out. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
  { whole = [], spare = [] }: TableOptions = {},
): string[] {
  const all = [head, ...rows].map((row) => row.map(oneLine))
  const natural = head.map((_, i) => all.reduce((widest, row) => Math.max(widest, widthOf(row[i] ?? '')), 0))
  const least = natural.map((each, i) => (whole.includes(head[i] as string) ? each : Math.min(each, NARROW)))
  const shown = head.map((_, i) => i)
  const needed = (): number => shown.reduce((sum, i) => sum + (least[i] as number) + 2, -2)
  const isEmpty = (name: string): boolean => rows.every((row) => (row[head.indexOf(name)] ?? '') === '')
  for (const name of [...spare.filter(isEmpty), ...spare.filter((each) => !isEmpty(each))])
    if (needed() > width && shown.includes(head.indexOf(name))) shown.splice(shown.indexOf(head.indexOf(name)), 1)
  const spread = fit(
    shown.map((i) => natural[i] as number),
    shown.map((i) => whole.includes(head[i] as string)),
    width,
  )
  return all.map((row) =>
    shown
      .map((i, at) => pad(cut(row[i] ?? '', spread[at] as number), spread[at] as number))
      .join('  ')
      .trimEnd(),
  )
}

/** Takes from the widest column until everything fits. */
function fit(widths: readonly number[], isWhole: readonly boolean[], width: number): number[] {
  const fitted = [...widths]
  const total = (): number => fitted.reduce((sum, each) => sum + each + 2, -2)
  while (total() > width) {
    const widest = Math.max(...fitted.filter((_, i) => !isWhole[i]))
    if (!(widest > NARROWEST)) break
    const at = fitted.findIndex((each, i) => each === widest && !isWhole[i])
    fitted[at] = widest - 1
  }
  return fitted
}

export function cut(text: string, width: number): string {
  return widthOf(text) <= width ? text : `${takeColumns(text, Math.max(0, width - 1))}…`
}

export function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}

/** `2026-03-09 14:05:02`, by the clock of the person. */
export function localTime(at: number): string {
  const date = new Date(at)
  const two = (number: number): string => String(number).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${date.toTimeString().slice(0, 8)}`
}

/** Control, direction and zero-width characters of others must not reach the terminal through a table. */
export function oneLine(text: string): string {
  return visible(
    text
      .replace(/\s+/g, ' ')
      .replace(/[\u0000-\u001F\u007F-\u009F]/g, '�')
      .trim(),
  )
}

/** `950ms`, `12s`, `5m`, `3h`, `2d`. */
export function age(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))}ms`
  if (ms < 60_000) return `${Math.floor(ms / 1_000)}s`
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)}m`
  return ms < 48 * 3_600_000 ? `${Math.floor(ms / 3_600_000)}h` : `${Math.floor(ms / 86_400_000)}d`
}

/** `812 B`, `4.1 KB`, `12 MB`. */
export function size(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`
  const steps = bytes < 1_024 ** 2 ? 1 : bytes < 1_024 ** 3 ? 2 : 3
  const value = bytes / 1_024 ** steps
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${' KMG'[steps]}B`
}

/** `~/src` for what lies in the home directory. */
export function shortPath(path: string): string {
  const home = knownHome()
  return home !== null && (path === home || path.startsWith(`${home}/`)) ? `~${path.slice(home.length)}` : path
}
