/** Modes that a program switched on in its terminal, found in what it printed. */
import { readStored, storedSize } from '../../os/job/output.js'

const BLOCK = 65_536
const FARTHEST = 4 * 1024 * 1024

/** Whether the program asked for the other codes of the cursor keys (DECCKM), as editors and pagers do. */
export function applicationCursorAsked(dir: string): boolean {
  return lastSwitch(dir, '\x1b[?1h', '\x1b[?1l')
}

/** Whether a full-screen program has the alternate screen. */
export function alternateScreenAsked(dir: string): boolean {
  return lastSwitch(dir, '\x1b[?1049h', '\x1b[?1049l')
}

/**
 * Whether a program draws the whole screen: the alternate one, or, as `top`, with its own cursor keys and no cursor.
 */
export function wholeScreenAsked(dir: string): boolean {
  return alternateScreenAsked(dir) || (applicationCursorAsked(dir) && lastSwitch(dir, '\x1b[?25l', '\x1b[?25h'))
}

/** Whether a line editor is at work: it switches pasting on while it reads a line, and off when it has one. */
export function lineEditorAsked(dir: string): boolean {
  return lastSwitch(dir, '\x1b[?2004h', '\x1b[?2004l')
}

function lastSwitch(dir: string, on: string, off: string): boolean {
  const { total } = storedSize(dir, 'output.log')
  // Backwards in blocks that overlap by a sequence: programs switch at their start, but the last word counts.
  for (let end = total; end > 0 && total - end < FARTHEST; end -= BLOCK) {
    const from = Math.max(0, end - BLOCK)
    const text = Buffer.from(readStored(dir, 'output.log', from, end - from + on.length).bytes).toString('latin1')
    const [asked, ended] = [text.lastIndexOf(on), text.lastIndexOf(off)]
    if (asked >= 0 || ended >= 0) return asked > ended
  }
  return false
}
