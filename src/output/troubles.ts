/** Finds the lines that say what went wrong, so that a cut through the middle does not hide the failure. */

export interface TroubleOptions {
  /** The number of the first line of the first part. */
  readonly firstLine: number
  /** True when an unknown number of lines is missing before the last part: its lines carry no number. */
  readonly hole: boolean
  readonly maxChars: number
}

/** The error-looking lines of the parts as a block of text with line numbers, or '' when there are none. Never longer than `maxChars`. */
export function findTroubles(parts: readonly string[], { firstLine, hole, maxChars }: TroubleOptions): string {
  const found: { line: number | null; text: string; weight: number }[] = []
  for (const [index, part] of parts.entries()) {
    let line = firstLine
    let start = 0
    while (start < part.length && found.length < MAX_CANDIDATES) {
      const newline = part.indexOf('\n', start)
      const end = newline === -1 ? part.length : newline
      const text = part.slice(start, Math.min(end, start + MAX_SCAN)).trimEnd()
      const weight = weigh(text)
      if (weight > 0) found.push({ line: hole && index > 0 ? null : line, text: shorten(text), weight })
      start = end + 1
      line++
    }
  }
  if (found.length === 0) return ''
  return fit(found, maxChars)
}

/** 2 for a verdict (a failed test, a panic, a fatal error), 1 for a line that only speaks of errors, 0 for the rest. */
export function weigh(line: string): 0 | 1 | 2 {
  if (!ANY.test(line) || HARMLESS.test(line)) return 0
  return VERDICT.test(line) ? 2 : 1
}

function fit(found: readonly { line: number | null; text: string; weight: number }[], maxChars: number): string {
  const title = (shown: number): string => `[error-looking lines of the omitted part${shown < found.length ? `, ${shown} of ${found.length}` : ''}:]\n`
  let room = maxChars - title(0).length - found.length.toString().length - 24
  const chosen = new Set<number>()
  for (const weight of [2, 1])
    for (const [index, entry] of found.entries()) {
      if (entry.weight !== weight) continue
      const cost = render(entry).length
      if (cost > room) continue
      room -= cost
      chosen.add(index)
    }
  if (chosen.size === 0) return ''
  const shown = found.filter((_, index) => chosen.has(index)).map(render)
  return `${title(chosen.size)}${shown.join('')}[...]\n`
}

function render({ line, text }: { line: number | null; text: string }): string {
  return `${line === null ? '' : `${line}: `}${text}\n`
}

function shorten(text: string): string {
  return text.length <= MAX_LINE ? text : `${text.slice(0, MAX_LINE)}...`
}

const MAX_CANDIDATES = 2_000
const MAX_LINE = 300
/** Minified files and binary have lines of megabytes: only their beginning is looked at. */
const MAX_SCAN = 2_000

const ANY =
  /\b(?:error|errors|failed|failure|failures|fail|fatal|panic|panicked|traceback|exception|assert|assertion|assertionerror|segfault|segmentation fault|abort|aborted|undefined reference|cannot find|not found|no such file|permission denied|unhandled|uncaught|core dumped|killed|oom|timed out|warning: unused)\b|[a-z]error\b|Error:|Exception:|\bE {3}|[✗✘✖×❌]|^not ok\b/i
const VERDICT =
  /\bFAIL(?:ED|URE)?\b|^\s*(?:error|fatal|panic)(?:\[\w+\])?:|: (?:fatal )?error:|\bpanicked at\b|^Traceback |AssertionError|^\w*(?:Error|Exception)\b|^E {3}|[✗✘✖❌]|^not ok\b|Segmentation fault|core dumped|\berror TS\d|\*\*\*/
/** Counts of nothing and names of files that only speak of errors. */
const HARMLESS = /\b(?:0|no) (?:errors?|failures?|failed|fail)\b|\b(?:errors?|failures?|failed|fail)[:=]\s*0\b/i
