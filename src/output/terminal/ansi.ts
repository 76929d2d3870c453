/**
 * Removes terminal control sequences from text as it streams by; a split at any offset gives
 * the same result as the whole.
 */
import type { TextStage } from './stage.js'

/**
 * The state machine of a VT500 parser, reduced to what is printed: CSI (also private), OSC, DCS
 * with sixel, APC, PM, SOS, charset selection, shifts, single escapes, and the C1 characters
 * U+0080..U+009F. What is unfinished at the end is dropped.
 */
export function createAnsiStripper(): TextStage {
  let state: State = 'text'
  // Text of a string that may turn out not to be one; see `openDoubtful`.
  let held: string | null = null

  function push(text: string): string {
    let out = ''
    let at = 0
    while (at < text.length) {
      if (state === 'text') {
        const next = nextControl(text, at)
        if (next === -1) return out + (at === 0 ? text : text.slice(at))
        if (next > at) out += text.slice(at, next)
        at = next
        // Nearly all sequences are a complete CSI; it is taken in one go.
        COMPLETE_CSI.lastIndex = at
        if (COMPLETE_CSI.test(text)) at = COMPLETE_CSI.lastIndex
        else out += begin(text.charCodeAt(at), text[at++]!)
        continue
      }
      const unit = text.charCodeAt(at)
      const char = text[at++]!
      if (unit === CAN || unit === SUB) out += leave('')
      else if (unit === ESC) out += state === 'escape' ? release() : ((state = 'escape'), '')
      else out += step(unit, char)
    }
    return out
  }

  /** A control character outside of any sequence. */
  function begin(unit: number, char: string): string {
    if (unit === ESC) state = 'escape'
    else if (unit === 0x9b) state = 'csi'
    else if (unit === 0x9d) openDoubtful('osc')
    else if (unit === 0x90 || unit === 0x98 || unit === 0x9e || unit === 0x9f) openDoubtful('string')
    return unit === NEL ? char : ''
  }

  function step(unit: number, char: string): string {
    switch (state) {
      case 'escape':
        return char === '\\' ? close() : release() + afterEscape(unit, char)
      case 'escape-rest':
        return unit >= 0x20 && unit <= 0x2f ? '' : final(unit, char)
      case 'csi':
        return unit >= 0x20 && unit <= 0x3f ? '' : final(unit, char)
      case 'dcs':
        if (unit >= 0x30 && unit <= 0x3b) return ''
        if (char === 'q') return ((state = 'sixel'), '')
        state = 'string'
        return step(unit, char)
      case 'sixel':
        // A picture may hold line breaks, but nothing outside of its own alphabet.
        if (unit === ST) return close()
        return unit === LF || unit === CR || (unit > 0x20 && unit < 0x7f) ? '' : leave(char)
      case 'osc':
      case 'string':
        if (unit === ST || (unit === BEL && state === 'osc')) return close()
        // No title, link or clipboard holds a line break: an unfinished string costs its line,
        // never the rest of the output.
        if (unit === LF) return leave(char)
        if (held !== null) held = held.length < MAX_HELD ? held + char : null
        return ''
      default:
        return char
    }
  }

  function afterEscape(unit: number, char: string): string {
    if (unit >= 0x20 && unit <= 0x2f) state = 'escape-rest'
    else if (char === '[') state = 'csi'
    else if (char === ']') state = 'osc'
    else if (char === 'P') state = 'dcs'
    else if (char === 'X' || char === '^' || char === '_') state = 'string'
    else if (char === 'k') openDoubtful('string')
    else return final(unit, char)
    return ''
  }

  /**
   * What may end an escape or a CSI. Most controls act at once in the middle of one, as on a
   * terminal; a line break ends it.
   */
  function final(unit: number, char: string): string {
    if (unit === 0x7f) return ''
    if (unit < 0x20 && unit !== LF && unit !== CR) return unit === SO || unit === SI ? '' : char
    state = 'text'
    if (unit >= 0x20 && unit < 0x7f) return ''
    return unit >= 0x80 && unit <= 0x9f ? begin(unit, char) : char
  }

  /**
   * C1 characters also appear in text that was decoded wrongly (a typographic quote becomes
   * U+0080 U+0098), and `ESC k` is a title only for screen and tmux. Such a string counts only
   * when it is closed on its line; otherwise only its opener goes.
   */
  function openDoubtful(kind: 'osc' | 'string'): void {
    held = ''
    state = kind
  }

  function release(): string {
    const released = held ?? ''
    held = null
    return released
  }

  function leave(char: string): string {
    state = 'text'
    return release() + char
  }

  function close(): string {
    state = 'text'
    held = null
    return ''
  }

  return { push, flush: () => leave('') }
}

/** Strips a whole text. */
export function stripAnsi(text: string): string {
  const stripper = createAnsiStripper()
  return stripper.push(text) + stripper.flush()
}

type State = 'text' | 'escape' | 'escape-rest' | 'csi' | 'osc' | 'dcs' | 'sixel' | 'string'

const ESC = 0x1b
const CAN = 0x18
const SUB = 0x1a
const BEL = 0x07
const LF = 0x0a
const CR = 0x0d
const SO = 0x0e
const SI = 0x0f
const NEL = 0x85
const ST = 0x9c
/** A doubtful string longer than this is one: clipboards and pictures are long, misread quotes are not. */
const MAX_HELD = 4096

// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const COMPLETE_CSI = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]/y
/** Also the shifts between character sets (SO, SI), which print nothing. */
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const CONTROL = /[\x0e\x0f\x1b\x80-\x9f]/g

function nextControl(text: string, from: number): number {
  CONTROL.lastIndex = from
  return CONTROL.test(text) ? CONTROL.lastIndex - 1 : -1
}
