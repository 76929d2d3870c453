/**
 * Views of a text in which an encoded value shows itself: one kind of escape undone, terminal
 * codes left out. Each byte of a view knows where it came from.
 */
import {
  AMPERSAND,
  BACKSLASH,
  BACKSPACE,
  decodeBackslash,
  decodeEntity,
  decodeFiller,
  decodeForm,
  decodePercent,
  ESC,
  INVISIBLE,
  PERCENT,
  PLUS,
  skipAnsi,
  type Decoder,
  type Escape,
} from './escapes.js'

/** A view of raw bytes. Its buffers are reused: it is valid until the next `project`. */
export interface View {
  bytes: Uint8Array
  length: number
  /** The view is made of stretches of raw text: stretch k begins at `viewAt[k]` and at `rawAt[k]`. */
  viewAt: Int32Array
  rawAt: Int32Array
  stretches: number
  /** Where an escape begins that the end of the text cut in two, or -1. */
  cut: number
}

/** A way to look at a text. Only the surroundings of its trigger byte can look different from the text itself. */
export interface Projection {
  readonly trigger: number
  readonly decode: Decoder
  /** 1 for the bytes that the decoder wants to see. */
  readonly special: Uint8Array
}

export const PROJECTIONS: readonly Projection[] = [
  { trigger: ESC, decode: () => 0, special: tableOf(ESC) },
  { trigger: PERCENT, decode: decodePercent, special: tableOf(ESC, PERCENT) },
  { trigger: PLUS, decode: decodeForm, special: tableOf(ESC, PERCENT, PLUS) },
  { trigger: BACKSLASH, decode: decodeBackslash, special: tableOf(ESC, BACKSLASH) },
  { trigger: AMPERSAND, decode: decodeEntity, special: tableOf(ESC, AMPERSAND) },
  { trigger: BACKSPACE, decode: decodeFiller, special: tableOf(ESC, BACKSPACE, ...INVISIBLE) },
]

/** The number of the projection that a byte triggers, counted from 1. */
const TRIGGERS = new Uint8Array(256)
PROJECTIONS.forEach(({ trigger }, index) => {
  TRIGGERS[trigger] = index + 1
})
// The bytes in the middle of the invisible characters: the first ones begin all punctuation and drawing as well.
const MIDDLE = [0x80, 0x81, 0xbb]
for (const byte of MIDDLE) TRIGGERS[byte] = TRIGGERS[BACKSPACE] as number
/** The end of a line is looked at as well: lines take values apart. */
const FILLER = PROJECTIONS.length
const LINE = FILLER + 1
TRIGGERS[0x0a] = LINE
const HEX = Uint8Array.from({ length: 256 }, (_, byte) => (/[0-9A-Fa-f]/.test(String.fromCharCode(byte)) ? 1 : 0))

/** A plus sign stands for a blank only, which most values do not have. */
const TRIGGERS_WITHOUT_PLUS = TRIGGERS.with(PLUS, 0)
/** The same for two bytes at a time, as a number of 16 bits. */
const PAIRS = pairsOf(TRIGGERS)
const PAIRS_WITHOUT_PLUS = pairsOf(TRIGGERS_WITHOUT_PLUS)

function pairsOf(triggers: Uint8Array): Uint8Array {
  const pairs = new Uint8Array(65_536)
  for (let high = 0; high < 256; high++) {
    // What the neighbour rules out is passed over at once: `% `, `& `, the middle of a character that is none.
    if (triggers[high] === 0 || MIDDLE.includes(high)) {
      pairs.set(triggers, high << 8)
      for (const low of MIDDLE) if (!endsInvisible(low, high)) pairs[(high << 8) | low] = 0
    } else pairs.fill(1, high << 8, (high + 1) << 8)
    if (triggers[high] === 0 && HEX[high] === 0) pairs[(high << 8) | PERCENT] = 0
    if (triggers[high] === 0 && high !== 0x23 && ((high | 0x20) < 0x61 || (high | 0x20) > 0x7a))
      pairs[(high << 8) | AMPERSAND] = 0
  }
  for (const high of MIDDLE) for (const low of INVISIBLE) pairs[(high << 8) | low] = 1
  return pairs
}

/** Whether a character that takes no room can end with these two bytes. */
function endsInvisible(middle: number, last: number): boolean {
  const escape: Escape = { width: 0, code: 0, isByte: true }
  return INVISIBLE.some((first) => decodeFiller(Uint8Array.of(first, middle, last), 0, escape) === 1)
}

function tableOf(...bytes: readonly number[]): Uint8Array {
  const table = new Uint8Array(256)
  for (const byte of bytes) table[byte] = 1
  return table
}

/** What the values are made of, as far as it says which escapes matter. */
export interface Material {
  /** 1 for every byte that an escape could stand for; white space counts when a value has some. */
  readonly alphabet: Uint8Array
  /** 1 for every byte that can stand between the ends of a match. */
  readonly body: Uint8Array
  /** 1 for every byte of values that a line may have been broken behind. */
  readonly lineEnds: Uint8Array
  /** No match has fewer bytes. */
  readonly shortest: number
}

/**
 * Where each projection could uncover something: the escapes that stand for a byte of the alphabet, and
 * the terminal codes between two such bytes, with enough bytes of values around them. Quotes escaped in
 * JSON, blanks in URLs, colours at word boundaries and the backslashes of binary data are the mass of
 * all escapes, and they fall through here. `lineEnd` is told of every line break on the way.
 */
export function findEscapes(
  raw: Uint8Array,
  material: Material,
  lineEnd: (at: number) => void,
): readonly (readonly number[])[] {
  const places: number[][] = PROJECTIONS.map(() => [])
  const escape: Escape = { width: 0, code: 0, isByte: true }
  const { alphabet, lineEnds } = material
  const { length } = raw
  const triggers = alphabet[0x20] === 1 ? TRIGGERS : TRIGGERS_WITHOUT_PLUS
  const pairs = alphabet[0x20] === 1 ? PAIRS : PAIRS_WITHOUT_PLUS
  // Numbers of two bytes begin at even places only.
  const isEven = (raw.byteOffset & 1) === 0
  const words = isEven ? new Uint16Array(raw.buffer, raw.byteOffset, length >> 1) : new Uint16Array(0)
  const count = words.length
  let consumed = 0
  for (let at = 0; ; at++) {
    // Eight at a time: this loop sees every byte of the output.
    if (triggers[raw[at] as number] === 0) {
      let word = (at + 1) >> 1
      while (
        word + 4 <= count &&
        ((pairs[words[word] as number] as number) |
          (pairs[words[word + 1] as number] as number) |
          (pairs[words[word + 2] as number] as number) |
          (pairs[words[word + 3] as number] as number)) ===
          0
      )
        word += 4
      while (word < count && pairs[words[word] as number] === 0) word++
      if (word << 1 > at) at = word << 1
    }
    while (at < length && triggers[raw[at] as number] === 0) at++
    if (at >= length) break
    const kind = triggers[raw[at] as number] as number
    if (kind === LINE) {
      // Most lines neither end like a value that was folded nor begin like a dump: that must cost next to nothing.
      if (
        lineEnds[raw[at - 1] as number] === 1 ||
        at + 6 >= length ||
        ((HEX[raw[at + 1] as number] as number) & (HEX[raw[at + 5] as number] as number)) === 1
      )
        lineEnd(at)
      continue
    }
    if (kind === FILLER) {
      const start = raw[at] === BACKSPACE ? at : at - 1
      if (start !== at && raw[start] !== 0xe2 && raw[start] !== 0xef) continue
      if (alphabet[raw[start - 1] as number] !== 1 || decodeFiller(raw, start, escape) !== 1) continue
      const end = start + escape.width
      if (isAmongValues(raw, start, Math.min(end, length), consumed, material)) places[FILLER - 1]?.push(start)
      consumed = Math.max(consumed, Math.min(end, length))
      continue
    }
    if (kind === 1) {
      const end = skipAnsi(raw, at)
      const next = raw[end]
      const isBetween =
        at > 0 && alphabet[raw[at - 1] as number] === 1 && (next === undefined || next === ESC || alphabet[next] === 1)
      if (isBetween && isAmongValues(raw, at, end, consumed, material)) places[0]?.push(at)
      consumed = Math.max(consumed, end)
      continue
    }
    const answer = (PROJECTIONS[kind - 1] as Projection).decode(raw, at, escape)
    if (answer === 0) continue
    const end = at + escape.width
    const isWanted = escape.code < 0 || alphabet[escape.code & 0xff] === 1 || (!escape.isByte && escape.code >= 0x80)
    if (answer === -1 || (isWanted && isAmongValues(raw, at, end, consumed, material))) places[kind - 1]?.push(at)
    if (answer === 1) consumed = Math.max(consumed, end)
    if (raw[at] === BACKSLASH && raw[at + 1] === BACKSLASH) at++ // the second one escapes nothing
  }
  // An invisible character may have been cut in two by the end of the text.
  for (let at = Math.max(0, length - 2); at < length; at++)
    if (decodeFiller(raw, at, escape) === -1 && (at === 0 || alphabet[raw[at - 1] as number] === 1))
      places[FILLER - 1]?.push(at)
  return places
}

/**
 * Whether the escape from `start` to `end` could be part of a match: it and its neighbours that
 * occur in values must be as many as the shortest one has. Another escape in the neighbourhood
 * may stand for anything, and so may what follows the end of the text.
 */
function isAmongValues(
  raw: Uint8Array,
  start: number,
  end: number,
  consumed: number,
  { body, shortest }: Material,
): boolean {
  const missing = shortest - 4 // an escape is four bytes of UTF-8 at most
  let left = start
  while (left > consumed && start - left < missing && body[raw[left - 1] as number] === 1) left--
  if (left <= consumed && left > 0) return true
  let right = end
  while (right < raw.length && start - left + right - end < missing && body[raw[right] as number] === 1) right++
  return right >= raw.length || start - left + right - end >= missing || TRIGGERS[raw[right] as number] !== 0
}

export function createView(): View {
  return {
    bytes: new Uint8Array(0),
    length: 0,
    viewAt: new Int32Array(0),
    rawAt: new Int32Array(0),
    stretches: 0,
    cut: -1,
  }
}

/**
 * Fills the view with the raw bytes from `start` to `end`, decoded. Terminal codes are left out
 * as well, unless a value holds an escape character itself.
 */
export function project(
  { trigger, decode, special }: Projection,
  raw: Uint8Array,
  start: number,
  end: number,
  alphabet: Uint8Array,
  view: View,
): void {
  const keepsCodes = trigger !== ESC && alphabet[ESC] === 1
  if (view.bytes.length < end - start) {
    view.bytes = new Uint8Array(end - start)
    view.viewAt = new Int32Array(end - start + 1)
    view.rawAt = new Int32Array(end - start + 1)
  }
  const { bytes, viewAt, rawAt } = view
  const escape: Escape = { width: 0, code: 0, isByte: true }
  let size = 0
  let stretches = 0
  let at = start
  view.cut = -1
  while (at < end) {
    // A stretch begins with whatever stands here, special or not, and goes on to the next special byte.
    viewAt[stretches] = size
    rawAt[stretches++] = at
    while (at < end && special[raw[at] as number] === 0) bytes[size++] = raw[at++] as number
    if (at >= end) break
    if (raw[at] === ESC && !keepsCodes) {
      at = skipAnsi(raw, at)
      continue
    }
    const answer = decode(raw, at, escape)
    if (answer === -1) {
      view.cut = at
      break
    }
    if (answer === 0) bytes[size++] = raw[at++] as number
    else {
      if (escape.code < 0) {
        // A filler stands for nothing.
      } else if (escape.isByte || escape.code < 0x80) bytes[size++] = escape.code
      else {
        for (const part of utf8(escape.code)) {
          viewAt[stretches] = size
          rawAt[stretches++] = at
          bytes[size++] = part
        }
      }
      at += escape.width
    }
  }
  view.length = size
  view.stretches = stretches
}

/** Where byte `index` of the view begins in the raw text. */
export function startOf(view: View, index: number): number {
  let low = 0
  let high = view.stretches
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if ((view.viewAt[middle] as number) <= index) low = middle
    else high = middle
  }
  return (view.rawAt[low] as number) + index - (view.viewAt[low] as number)
}

/** Where byte `index` of the view ends in the raw text. */
export function endOf({ decode }: Projection, raw: Uint8Array, view: View, index: number): number {
  const at = startOf(view, index)
  const escape: Escape = { width: 0, code: 0, isByte: true }
  return decode(raw, at, escape) === 1 ? at + escape.width : at + 1
}

function utf8(code: number): number[] {
  if (code < 0x800) return [0xc0 | (code >> 6), 0x80 | (code & 0x3f)]
  if (code < 0x10000) return [0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)]
  return [0xf0 | (code >> 18), 0x80 | ((code >> 12) & 0x3f), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)]
}

/** The bytes without terminal codes. */
export function stripAnsi(raw: Uint8Array): Uint8Array {
  const view = createView()
  project(PROJECTIONS[0] as Projection, raw, 0, raw.length, new Uint8Array(256), view)
  return view.bytes.slice(0, view.length)
}
