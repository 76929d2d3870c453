/** Aligned columns that fit the terminal, and sizes and times as people say them. */
import { visible } from '../output/visible.js'

/** The last column gets what is left of the width; everything longer is cut with an ellipsis. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], width: number): string[] {
  const all = [head, ...rows].map((row) => row.map(oneLine))
  const widths = head.map((_, i) => Math.max(...all.map((row) => (row[i] ?? '').length)))
  const spread = fit(widths, width)
  return all.map((row) =>
    row
      .map((cell, i) =>
        i === row.length - 1
          ? cut(cell, spread[i] as number)
          : cut(cell, spread[i] as number).padEnd(spread[i] as number),
      )
      .join('  ')
      .trimEnd(),
  )
}

/** Takes from the widest column until everything fits. */
function fit(widths: readonly number[], width: number): number[] {
  const fitted = [...widths]
  const total = (): number => fitted.reduce((sum, each) => sum + each + 2, -2)
  while (total() > width) {
    const widest = fitted.indexOf(Math.max(...fitted))
    if ((fitted[widest] as number) <= 6) break
    fitted[widest] = (fitted[widest] as number) - 1
  }
  return fitted
}

export function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`
}

/** Control, direction and zero-width characters of others must not reach the terminal through a table. */
export function oneLine(text: string): string {
  return visible(text.replace(/\s+/g, ' ').trim())
}

/** `950ms`, `12s`, `5m`, `3h`, `2d`. */
export function age(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))}ms`
  for (const [unit, size, next] of [
    ['s', 1_000, 60],
    ['m', 60_000, 60],
    ['h', 3_600_000, 48],
  ] as const)
    if (ms / size < next) return `${Math.floor(ms / size)}${unit}`
  return `${Math.floor(ms / 86_400_000)}d`
}

/** `812 B`, `4.1 KB`, `12 MB`. */
export function size(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`
  for (const [unit, one] of [
    ['KB', 1_024],
    ['MB', 1_024 ** 2],
    ['GB', 1_024 ** 3],
  ] as const) {
    const value = bytes / one
    if (value < 1_024 || unit === 'GB') return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`
  }
  return `${bytes} B`
}
