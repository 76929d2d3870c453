/** How many columns of a terminal a text takes: wide characters take two, marks that stand on others none. */

const NONE = /^(?:\p{M}|[\u200B-\u200F\u2060-\u2064\uFEFF])$/u
const WIDE =
  /^[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{1F1E6}-\u{1F1FF}\u{1F300}-\u{1F64F}\u{1F680}-\u{1F6FF}\u{1F900}-\u{1FAFF}\u{20000}-\u{3FFFD}]$/u
// oxlint-disable-next-line no-control-regex
const ASCII = /^[\u0000-\u007F]*$/

export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length
  let width = 0
  for (const character of text) width += widthOfOne(character)
  return width
}

/** What fits into so many columns, never half a character. */
export function takeColumns(text: string, columns: number): string {
  if (ASCII.test(text)) return text.slice(0, Math.max(0, columns))
  let taken = ''
  let width = 0
  for (const character of text) {
    width += widthOfOne(character)
    if (width > columns) break
    taken += character
  }
  return taken
}

/** In lines of at most so many columns; nothing is left out. */
export function wrapColumns(text: string, columns: number): string[] {
  const lines: string[] = []
  let rest = text
  do {
    const taken = takeColumns(rest, Math.max(2, columns))
    lines.push(taken)
    rest = rest.slice(taken.length)
  } while (rest !== '')
  return lines
}

function widthOfOne(character: string): number {
  if (NONE.test(character)) return 0
  return WIDE.test(character) ? 2 : 1
}
