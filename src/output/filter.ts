/**
 * Keeps the lines that match a pattern, with lines around them, while text streams by. Whole
 * lines, linear time, bounded memory.
 */
import { compilePattern } from './pattern.js'
import { takeFirst } from './utf8.js'
import type { TextStage } from './terminal/stage.js'

/** Lines to show before and after each match; groups that do not touch are parted by `--`, as grep does. */
export interface LineFilterOptions {
  readonly before?: number
  readonly after?: number
}

export interface LineFilter extends TextStage {
  /** Lines that matched so far. */
  readonly matches: number
}

/**
 * Throws a ShellError whose message has "Invalid filter regex" before anything is read, so a
 * bad filter consumes nothing.
 */
export async function createLineFilter(
  pattern: string,
  { before = 0, after = 0 }: LineFilterOptions = {},
): Promise<LineFilter> {
  const matcher = await compilePattern(pattern)
  const context = before > 0 || after > 0
  let unfinished = ''
  let cut = false
  let matches = 0
  let lines = 0
  let earlier: string[] = []
  let toShowAfter = 0
  let lastShown = 0

  /** `ended` are lines with their line breaks; the last one of a stream may have none. */
  function judge(ended: readonly string[]): string {
    const verdicts = matcher(ended.map(withoutLineEnd))
    let out = ''
    for (const [index, line] of ended.entries()) {
      lines++
      if (verdicts[index]) {
        matches++
        if (context && lastShown > 0 && lines - earlier.length > lastShown + 1) out += '--\n'
        out += earlier.join('') + line
        earlier = []
        lastShown = lines
        toShowAfter = after
      } else if (toShowAfter > 0) {
        out += line
        lastShown = lines
        toShowAfter--
      } else if (before > 0) {
        earlier.push(line)
        if (earlier.length > before) earlier.shift()
      }
    }
    return out
  }

  /** A line without end must not fill the memory: its beginning is judged and shown for it. */
  function hold(text: string): void {
    if (cut) return
    unfinished += text
    if (unfinished.length <= MAX_LINE) return
    unfinished = `${takeFirst(unfinished, MAX_LINE)}${CUT_NOTE}`
    cut = true
  }

  return {
    push(text) {
      const ended: string[] = []
      let start = 0
      for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
        if (unfinished === '' && end - start <= MAX_LINE) ended.push(text.slice(start, end + 1))
        else {
          hold(text.slice(start, end))
          ended.push(`${unfinished}\n`)
          unfinished = ''
          cut = false
        }
        start = end + 1
      }
      if (start < text.length) hold(start === 0 ? text : text.slice(start))
      return ended.length > 0 ? judge(ended) : ''
    },
    flush() {
      const last = unfinished
      unfinished = ''
      cut = false
      return last === '' ? '' : judge([last])
    },
    get matches() {
      return matches
    },
  }
}

/**
 * Patterns see the line without its end, also without the carriage return of a DOS file, so
 * that `$` means what it says.
 */
function withoutLineEnd(line: string): string {
  if (!line.endsWith('\n')) return line
  return line.slice(0, line.endsWith('\r\n') ? -2 : -1)
}

const MAX_LINE = 1_048_576
const CUT_NOTE = ' [... line cut here]'
