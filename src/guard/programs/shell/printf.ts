/** What printf makes of its format and arguments. */
import { beforeEnd, unescape } from '../../words/escapes.js'
import { type Alternatives, hasUnknown, NOTHING, UNKNOWN } from '../../words/text.js'

/** Behind it nothing is printed. */
const END = '\uFDDF'

/** printf: the format is used again until the arguments are gone. */
export function formatted(args: readonly string[]): Alternatives {
  const [format, ...values] = args
  if (format === undefined) return NOTHING
  let out = ''
  let next = 0
  for (let round = 0; round < 1_000; round++) {
    const start = next
    out += unescape(format).replace(
      /%(?:%|\(([^)]*)\)T|([-+ #0']*)(\*|-?\d+)?(?:\.(\*|\d*))?(?:hh?|ll?|[Ljtz])?([a-zA-Z]))/g,
      (whole, time?: string, flags = '', width?: string, precision?: string, letter?: string) => {
        if (whole === '%%') return '%'
        if (time !== undefined) return UNKNOWN
        const room = Number(width === '*' ? values[next++] : width) || 0
        const limit =
          precision === '*' ? Number(values[next++]) : precision === undefined ? undefined : Number(precision)
        const value = values[next++] ?? ''
        const cut = letter === 'b' ? beforeEnd(value) : undefined
        const text = converted(letter ?? 's', cut ?? value, limit)
        const wide = Math.min(Math.abs(room), 1_000)
        const filler = flags.includes('0') && /[diouxX]/.test(letter ?? '') ? '0' : ' '
        const padded = room < 0 || flags.includes('-') ? text.padEnd(wide) : text.padStart(wide, filler)
        return cut === undefined ? padded : padded + END
      },
    )
    const end = out.indexOf(END)
    if (end >= 0) return [out.slice(0, end)]
    if (next >= values.length || next === start || out.length > 1_000_000) break
  }
  return [out]
}

function converted(letter: string, value: string, precision: number | undefined): string {
  // How many characters there are so far, kept in a variable.
  if (letter === 'n') return ''
  if (/^[sbqQ]$/.test(letter)) {
    const text = letter === 'b' ? unescape(value, 'either') : value
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
