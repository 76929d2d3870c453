/** Finds the lines that say what went wrong, so that a cut through the middle does not hide the failure. */

export interface TroubleOptions {
  /** The number of the first line of the first part. */
  readonly firstLine: number
  /** True when an unknown number of lines is missing before the last part: its lines carry no number. */
  readonly hole: boolean
  readonly maxChars: number
}

/**
 * The error-looking lines of the parts with the two lines after each (where a stack names its file), as a block of text with
 * line numbers, or '' when there are none. Never longer than `maxChars`.
 */
export function findTroubles(parts: readonly string[], { firstLine, hole, maxChars }: TroubleOptions): string {
  const found: Trouble[] = []
  const counts = { 1: 0, 2: 0 }
  for (const [index, part] of parts.entries()) {
    let line = firstLine
    // The trouble whose following lines may still come, perhaps in the next block.
    let open: { trouble: Trouble; looked: number } | null = null
    const follow = (text: string): void => {
      if (!open) return
      open.looked += 1
      if (text.trim() !== '') open.trouble.after.push(shorten(text))
      if (open.trouble.after.length === LINES_AFTER || open.looked === LOOKED_AFTER) open = null
    }
    for (const block of blocksOf(part)) {
      const lines = block.split('\n')
      if (block.endsWith('\n')) lines.pop()
      // One look at a block is cheaper than one at each of its lines, and most blocks hold nothing.
      const matches = WORDS.test(block) || SHAPES.test(block)
      for (const [at, whole] of lines.entries()) {
        if (!matches && !open) break
        const text = whole.slice(0, MAX_SCAN).trimEnd()
        const weight = matches ? weigh(text) : 0
        // Noise must not crowd out a verdict that comes after it, so each weight has its own room.
        if (weight > 0 && counts[weight as 1 | 2]++ < MAX_CANDIDATES) {
          const trouble = { line: hole && index > 0 ? null : line + at, text: shorten(text), weight, after: [] }
          found.push(trouble)
          open = { trouble, looked: 0 }
        } else follow(text)
      }
      line += lines.length
    }
  }
  return fit(found, counts[1] + counts[2], maxChars)
}

/** Pieces of whole lines. */
function* blocksOf(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf('\n', start + BLOCK_CHARS)
    const end = newline === -1 ? text.length : newline + 1
    yield text.slice(start, end)
    start = end
  }
}

interface Trouble {
  readonly line: number | null
  readonly text: string
  readonly weight: 0 | 1 | 2
  /** The lines that follow it, as far as they are no troubles themselves. */
  readonly after: string[]
}

/** 2 for a verdict (a failed test, a panic, a fatal error), 1 for a line that only speaks of errors, 0 for the rest. */
export function weigh(line: string): 0 | 1 | 2 {
  if (!(WORDS.test(line) || SHAPES.test(line)) || HARMLESS.test(line)) return 0
  return VERDICT.test(line) ? 2 : 1
}

function fit(found: readonly Trouble[], total: number, maxChars: number): string {
  const title = (shown: number): string =>
    `[error-looking lines of the omitted part${shown < total ? `, ${shown} of ${total}` : ''}:]\n`
  const end = '[...]\n'
  let room = maxChars - title(0).length - String(total).length - end.length
  const shown = new Map<Trouble, number>()
  for (const weight of [2, 1]) {
    const ofWeight = found.filter((trouble) => trouble.weight === weight)
    // Some room is left for what follows the verdicts; as many as fit are worth more than the context of a few.
    const reserve = weight === 2 ? Math.floor(room / 3) : 0
    const add = (trouble: Trouble, keep: number): void => {
      const cost = render(trouble, 0).length
      if (shown.has(trouble) || cost > room - keep) return
      room -= cost
      shown.set(trouble, 0)
    }
    for (const trouble of ofWeight) add(trouble, reserve)
    for (const trouble of ofWeight) {
      const cost = render(trouble, trouble.after.length).length - render(trouble, 0).length
      if (!shown.has(trouble) || cost > room) continue
      room -= cost
      shown.set(trouble, trouble.after.length)
    }
    for (const trouble of ofWeight) add(trouble, 0)
  }
  if (shown.size === 0) return ''
  return `${title(shown.size)}${found
    .filter((trouble) => shown.has(trouble))
    .map((trouble) => render(trouble, shown.get(trouble)!))
    .join('')}${end}`
}

function render({ line, text, after }: Trouble, lines: number): string {
  const follow = after.slice(0, lines).map((next) => `   ${next.trimStart()}\n`)
  return `${line === null ? '' : `${line}: `}${text}\n${follow.join('')}`
}

function shorten(text: string): string {
  return text.length <= MAX_LINE ? text : `${text.slice(0, MAX_LINE)}...`
}

const BLOCK_CHARS = 4_096
const MAX_CANDIDATES = 500
/** So many lines after a trouble are shown with it, looked for in so many. */
const LINES_AFTER = 2
const LOOKED_AFTER = 4
const MAX_LINE = 300
/** Minified files and binary have lines of megabytes: only their beginning is looked at. */
const MAX_SCAN = 2_000

const WORDS =
  /\b(?:errors?|failed|failures?|fail|fatal|panic|panicked|traceback|exception|assert|assertion|segfault|segmentation fault|abort|aborted|undefined reference|cannot find|not found|no such file|permission denied|unhandled|uncaught|core dumped|killed|out of memory|timed out)\b/i
const SHAPES = /[a-z](?:Error|Exception)\b|^E {3}|[✗✘✖×❌]|^[ \t]*not ok\b/m
const VERDICT =
  /\bFAIL(?:ED|URE)?\b|^\s*(?:error|fatal|panic)(?:\[\w+\])?:|: (?:fatal )?error:|\bpanicked at\b|^Traceback |AssertionError|^[\w.]*(?:Error|Exception)\b|^E {3}|[✗✘✖❌]|^\s*not ok\b|Segmentation fault|core dumped|\berror TS\d|\*\*\*/
/** Counts of nothing and names of files that only speak of errors. */
const HARMLESS = /\b(?:0|no) (?:errors?|failures?|failed|fail)\b|\b(?:errors?|failures?|failed|fail)[:=]\s*0\b/i
