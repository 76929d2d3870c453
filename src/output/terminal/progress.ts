/**
 * Collapses lines that were rewritten in place (progress bars, spinners, overstrikes) to what a
 * terminal would show at the end.
 */
import type { TextStage } from './stage.js'

/**
 * Goes before the ANSI stripper: `ESC[K` says what of the old line is gone. Lines that were not
 * rewritten pass unchanged, and at once up to their last line break. Movement to other lines
 * (`ESC[A`) is a screen, not a line, and is left to a terminal.
 */
export function createProgressCollapser(): TextStage {
  let line = ''
  // A line too long to be a progress bar was already given away; its rest passes as it is.
  let tooLong = false

  function push(text: string): string {
    const last = text.lastIndexOf('\n') + 1
    let out = ''
    if (last > 0) {
      const whole = line + text.slice(0, last)
      const from = tooLong ? whole.indexOf('\n') + 1 : 0
      out = whole.slice(0, from) + collapseLines(whole.slice(from))
      line = ''
      tooLong = false
    }
    line += text.slice(last)
    if (!tooLong && line.length > MAX_LINE) compact()
    if (!tooLong) return out
    out += line
    line = ''
    return out
  }

  /**
   * A bar that runs for hours without a line break: the row it left and the place of its cursor
   * are enough to go on from.
   */
  function compact(): void {
    tooLong = !REWRITES.test(line)
    if (tooLong) return
    const unfinished = unfinishedAt(line)
    const { row, cursor } = play(line.slice(0, unfinished))
    line = `${row}\x1b[${cursor + 1}G${line.slice(unfinished)}`
    tooLong = line.length > MAX_LINE / 2
  }

  function flush(): string {
    const rest = tooLong ? line : collapseLine(withoutEnd(line, '\r'))
    line = ''
    tooLong = false
    return rest
  }

  return { push, flush }
}

/** Collapses a whole text. */
export function collapseProgress(text: string): string {
  const collapser = createProgressCollapser()
  return collapser.push(text) + collapser.flush()
}

const MAX_LINE = 65_536
const MAX_SEQUENCE = 64
/** Back to the beginning, elsewhere on the line, or what was written erased: the line is not what was printed. */
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const REWRITES = /[\b\r]|\x1b\[\d*[CDG]|\x1b\[[12]K/

function collapseLines(text: string): string {
  if (!REWRITES.test(text)) return text
  return text
    .split('\n')
    .map((line) => {
      // Carriage returns right before the line break rewrite nothing; after a rewritten line they are left of its bar.
      const content = withoutEnd(line, '\r')
      return REWRITES.test(content) ? play(content).row : line
    })
    .join('\n')
}

function collapseLine(line: string): string {
  return REWRITES.test(line) ? play(line).row : line
}

interface Played {
  readonly row: string
  readonly cursor: number
}

/** Plays one line on a row of cells. A sequence that only colours belongs to the cell behind it and goes with it. */
function play(line: string): Played {
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  if (!/[\x1b\ud800-\udfff]/.test(line)) return playPlain(line)
  let cells: string[] = []
  let cursor = 0
  let pending = ''
  for (const [whole, parameter, command] of line.matchAll(PIECES)) {
    if (whole === '\r') cursor = 0
    else if (whole === '\b') cursor = Math.max(0, cursor - 1)
    else if (command !== undefined && MOVES.has(command) && !(command === 'J' && Number(parameter) > 0)) {
      const count = Math.min(Number(parameter) || 0, MAX_LINE)
      if (command === 'K' || command === 'J') cells = erase(cells, cursor, count)
      else if (command === 'G') cursor = Math.max(0, count - 1)
      else cursor = Math.max(0, cursor + (command === 'C' ? 1 : -1) * Math.max(1, count))
    } else if (whole.startsWith('\x1b')) pending += whole
    else {
      while (cells.length < cursor) cells.push(' ')
      cells[cursor++] = pending + whole
      pending = ''
    }
  }
  return { row: shown(cells.join('')) + pending, cursor }
}

/** The same without sequences and pairs, where a cell is a character and whole runs can be laid over the row. */
function playPlain(line: string): Played {
  let row = ''
  let cursor = 0
  for (const [run] of line.matchAll(/[\r\b]|[^\r\b]+/g)) {
    if (run === '\r') cursor = 0
    else if (run === '\b') cursor = Math.max(0, cursor - 1)
    else {
      row = row.slice(0, cursor) + run + row.slice(cursor + run.length)
      cursor += run.length
    }
  }
  return { row: shown(row), cursor }
}

/** Bars are padded with blanks to cover what was there before. */
function shown(row: string): string {
  return withoutEnd(row, ' ')
}

/** Not a regular expression: `/ +$/` takes quadratic time on blanks in the middle. */
function withoutEnd(text: string, char: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === char) end--
  return text.slice(0, end)
}

/** Where a sequence or a pair begins that may not be all there yet. */
function unfinishedAt(line: string): number {
  const escape = line.indexOf('\x1b', line.length - MAX_SEQUENCE)
  if (escape !== -1) return escape
  const last = line.charCodeAt(line.length - 1)
  return last >= 0xd800 && last <= 0xdbff ? line.length - 1 : line.length
}

function erase(cells: string[], cursor: number, mode: number): string[] {
  if (mode === 2) return []
  if (mode === 1) return cells.map((cell, at) => (at <= cursor ? ' ' : cell))
  return cells.slice(0, cursor)
}

const MOVES = new Set(['K', 'J', 'G', 'C', 'D'])
/** A CSI (its parameter and command), an OSC, another escape, or one character. */
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const PIECES = /\x1b\[([0-?]*)[ -/]*([@-~])|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]|[^]/gu
