/** What printf makes of its format and arguments. */
import { unescape } from '../../words/escapes.js'
import { type Alternatives, hasUnknown, NOTHING, UNKNOWN } from '../../words/text.js'

/** printf: the format is used again until the arguments are gone. */
export function formatted(args: readonly string[]): Alternatives {
  const [format, ...values] = args
  if (format === undefined) return NOTHING
  let out = ''
  let next = 0
  for (let round = 0; round < 1_000; round++) {
    const start = next
    out += unescape(format).replace(
      /%(?:%|\(([^)]*)\)T|[-+ #0]*(\*|\d+)?(?:\.(\*|\d+))?([a-zA-Z]))/g,
      (whole, time?: string, width?: string, precision?: string, letter?: string) => {
        if (whole === '%%') return '%'
        if (time !== undefined) return UNKNOWN
        if (width === '*') next++
        const limit =
          precision === '*' ? Number(values[next++]) : precision === undefined ? undefined : Number(precision)
        const value = values[next++] ?? ''
        return converted(letter ?? 's', value, limit).padStart(Math.min(Number(width) || 0, 1_000))
      },
    )
    if (next >= values.length || next === start || out.length > 1_000_000) break
  }
  return [out]
}

function converted(letter: string, value: string, precision: number | undefined): string {
  if (letter === 's' || letter === 'b' || letter === 'q') {
    const text = letter === 'b' ? unescape(value) : value
    return precision === undefined ? text : text.slice(0, precision)
  }
  if (letter === 'c') return value.slice(0, 1)
  if (hasUnknown(value)) return UNKNOWN
  const number = /^['"]./.test(value) ? value.charCodeAt(1) : Number(value || 0)
  if (Number.isNaN(number)) return '0'
  if (letter === 'x') return Math.trunc(number).toString(16)
  if (letter === 'X') return Math.trunc(number).toString(16).toUpperCase()
  if (letter === 'o') return Math.trunc(number).toString(8)
  return 'diu'.includes(letter) ? String(Math.trunc(number)) : String(number)
}
