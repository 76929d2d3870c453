/** Finds the lines that say what went wrong, so that a cut through the middle does not hide the failure. */
import { decodeUtf8, joinBytes } from './utf8.js'

export interface TroubleOptions {
  /** The number of the first line of the first part. */
  readonly firstLine: number
  /** True when an unknown number of lines is missing before the last part: its lines carry no number. */
  readonly hole: boolean
  readonly maxChars: number
  /** What was found between the first part and the second. */
  readonly between?: FoundBetween
}

/**
 * The error-looking lines of the parts with the two lines after each (where a stack names its file),
 * as a block of text with line numbers, or '' when there are none. Never longer than `maxChars`.
 */
export function findTroubles(parts: readonly string[], { firstLine, hole, maxChars, between }: TroubleOptions): string {
  const found: Trouble[] = []
  const counts: Counts = { 1: 0, 2: 0 }
  for (const [index, part] of parts.entries()) {
    const look = new LineLook(found, counts)
    let line: number | null = hole && index > 0 ? null : firstLine
    for (const block of blocksOf(part)) {
      const lines = linesOf(block)
      // One look at a block is cheaper than one at each of its lines, and most blocks hold nothing.
      look.at(lines, WORDS.test(block) || SHAPES.test(block), line)
      if (line !== null) line += lines.length
    }
    if (index > 0 || !between) continue
    found.push(...between.troubles)
    counts[1] += between.counts[1]
    counts[2] += between.counts[2]
  }
  return fit(found, counts[1] + counts[2], maxChars)
}

type Counts = Record<1 | 2, number>

/** What was found in bytes that are no longer kept. */
export interface FoundBetween {
  readonly troubles: readonly Trouble[]
  readonly counts: Counts
}

/** Looks at lines in their order, and remembers across blocks whose following lines may still come. */
class LineLook {
  #open: { trouble: Trouble; looked: number } | null = null

  constructor(
    readonly found: Trouble[],
    readonly counts: Counts,
  ) {}

  /** `firstLine`: its number, or null where that is not known. */
  at(lines: readonly string[], matches: boolean, firstLine: number | null): void {
    for (const [at, whole] of lines.entries()) {
      if (!matches && !this.#open) return
      const text = whole.slice(0, MAX_SCAN).trimEnd()
      const weight = matches ? weigh(text) : 0
      // Noise must not crowd out a verdict that comes after it, so each weight has its own room.
      if (weight > 0 && this.counts[weight as 1 | 2]++ < MAX_CANDIDATES) {
        const trouble = { line: firstLine === null ? null : firstLine + at, text: shorten(text), weight, after: [] }
        this.found.push(trouble)
        this.#open = { trouble, looked: 0 }
      } else this.#follow(text)
    }
  }

  #follow(text: string): void {
    const open = this.#open
    if (!open) return
    open.looked += 1
    if (text.trim() !== '') open.trouble.after.push(shorten(text))
    if (open.trouble.after.length === LINES_AFTER || open.looked === LOOKED_AFTER) this.#open = null
  }
}

/**
 * Looks at a stream while it passes, because the middle of a long one is not kept. After the first 16 MiB it takes a
 * twentieth of the time that passes and no more: of a flood only a part is looked at, so that it costs next to nothing.
 */
export class PassingTroubles {
  readonly #startedAt = performance.now()
  readonly #seen: { readonly trouble: Trouble; readonly at: number }[] = []
  readonly #found: Trouble[] = []
  readonly #look = new LineLook(this.#found, { 1: 0, 2: 0 })
  #rest = new Uint8Array(0)
  #spentMs = 0
  #passed = 0

  /** `offset`: of the first of these bytes in the stream. */
  push(chunk: Uint8Array, offset: number): void {
    const began = performance.now()
    this.#passed += chunk.length
    if (this.#passed > FREE_BYTES && this.#spentMs > (began - this.#startedAt) * SHARE) {
      this.#rest = new Uint8Array(0)
      return
    }
    const end = chunk.lastIndexOf(NEWLINE) + 1
    const start = offset - this.#rest.length
    const bytes = joinBytes(this.#rest, chunk.subarray(0, end))
    this.#rest = chunk.slice(Math.max(end, chunk.length - MAX_SCAN))
    const text = withoutColours(BYTES.decode(bytes))
    const matches = WORDS.test(text) || BYTE_SHAPES.test(text)
    const known = this.#found.length
    // Only what looks like trouble is worth a proper decoding.
    this.#look.at(matches ? shownLines(decodeUtf8(bytes)) : firstLines(text), matches, 0)
    for (const { line, ...trouble } of this.#found.splice(known))
      this.#seen.push({ trouble: { ...trouble, line: null }, at: start + lineOffset(bytes, line ?? 0) })
    this.#spentMs += performance.now() - began
  }

  /** What was found before this offset: from there on the stream is kept. */
  before(offset: number): FoundBetween {
    const troubles = this.#seen.filter(({ at }) => at < offset).map(({ trouble }) => trouble)
    const counts: Counts = { 1: 0, 2: 0 }
    for (const { weight } of troubles) if (weight > 0) counts[weight as 1 | 2] += 1
    return { troubles, counts }
  }
}

/** Colours stand right before a word and hide that it begins there. */
function withoutColours(text: string): string {
  return text.includes('\x1b') ? text.replaceAll(COLOURS, '') : text
}

/** As they stand on a terminal at the end: of a line that was drawn again the last drawing. */
function shownLines(text: string): string[] {
  const lines = linesOf(withoutColours(text))
  return text.includes('\r') ? lines.map((line) => line.slice(line.trimEnd().lastIndexOf('\r') + 1)) : lines
}

/** Where a line begins. */
function lineOffset(bytes: Uint8Array, line: number): number {
  let at = 0
  for (let left = line; left > 0; left--) at = bytes.indexOf(NEWLINE, at) + 1
  return at
}

/** Enough for what follows a trouble of the block before. */
function firstLines(text: string): string[] {
  return text.slice(0, MAX_SCAN).split('\n').slice(0, LOOKED_AFTER)
}

function linesOf(block: string): string[] {
  const lines = block.split('\n')
  if (block.endsWith('\n')) lines.pop()
  return lines
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

export interface Trouble {
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
const NEWLINE = 0x0a
/** So much is always looked at; after that a look takes this share of the time and no more. */
const FREE_BYTES = 16 * 1024 * 1024
const SHARE = 0.05
/** Every byte as a character of its own: quick, and the words to look for are ASCII. */
const BYTES = new TextDecoder('latin1')
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
/** The same in bytes that were not decoded. */
const BYTE_SHAPES = /[a-z](?:Error|Exception)\b|^E {3}|\u00E2[\u009C\u009D\u0153]|\u00C3[\u0097\u2014]|^[ \t]*not ok\b/m
// oxlint-disable-next-line no-control-regex
const COLOURS = /\x1b\[[0-9;?]*[A-Za-z]/g
const VERDICT =
  /\bFAIL(?:ED|URE)?\b|^\s*(?:error|fatal|panic)(?:\[\w+\])?:|: (?:fatal )?error:|\bpanicked at\b|^Traceback |AssertionError|^[\w.]*(?:Error|Exception)\b|^E {3}|[✗✘✖❌]|^\s*not ok\b|Segmentation fault|core dumped|\berror TS\d|\*\*\*/
/** Counts of nothing and names of files that only speak of errors. */
const HARMLESS = /\b(?:0|no) (?:errors?|failures?|failed|fail)\b|\b(?:errors?|failures?|failed|fail)[:=]\s*0\b/i
