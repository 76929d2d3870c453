/** Turns bytes into text across chunk borders, and cuts both without splitting a character. */

/** One decoder per stream. Invalid bytes become U+FFFD as in the web's decoder; NUL and a byte order mark stay. */
export function createUtf8Decoder(): { push(bytes: Uint8Array): string; flush(): string } {
  // Not TextDecoder's own stream mode: it makes two-byte strings and is 5 to 8 times slower on ASCII.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let held: number[] = []
  return {
    push(bytes) {
      let text = ''
      let from = 0
      while (held.length > 0 && from < bytes.length) {
        held.push(bytes[from]!)
        if (isPrefix(held)) from++
        else {
          const complete = held.length === sequenceLength(held[0]!) && isContinuation(bytes[from]!)
          if (complete) from++
          text += complete ? decoder.decode(Uint8Array.from(held)) : '\uFFFD'
          held = []
        }
      }
      const end = characterEnd(bytes)
      if (end > from) text += decoder.decode(from === 0 && end === bytes.length ? bytes : bytes.subarray(from, end))
      // With everything consumed above, the end of the chunk is already in `held`.
      if (held.length === 0) held = [...bytes.subarray(Math.max(from, end))]
      return text
    },
    flush() {
      const text = held.length > 0 ? '\uFFFD' : ''
      held = []
      return text
    },
  }
}

/** Decodes a whole buffer, as the streaming decoder would. */
export function decodeUtf8(bytes: Uint8Array): string {
  return DECODER.decode(bytes)
}

// Making one costs more than decoding a short text; without `stream` it keeps nothing between two of them.
const DECODER = new TextDecoder('utf-8', { ignoreBOM: true })

/** The length of `bytes` without an unfinished character at its end. */
export function characterEnd(bytes: Uint8Array): number {
  const length = bytes.length
  for (let back = 1; back <= Math.min(3, length); back++) {
    const byte = bytes[length - back]!
    if (isContinuation(byte)) continue
    return isPrefix(bytes.subarray(length - back)) ? length - back : length
  }
  return length
}

/** The first index at which a character may begin: skips what is left of one that was cut. */
export function characterStart(bytes: Uint8Array): number {
  let start = 0
  while (start < 3 && start < bytes.length && isContinuation(bytes[start]!)) start++
  return start
}

/** The first `maxUnits` UTF-16 units of `text`, one less where that would split a surrogate pair. */
export function takeFirst(text: string, maxUnits: number): string {
  if (text.length <= maxUnits) return text
  const splits = maxUnits > 0 && isHigh(text.charCodeAt(maxUnits - 1)) && isLow(text.charCodeAt(maxUnits))
  return text.slice(0, splits ? maxUnits - 1 : Math.max(0, maxUnits))
}

/** The last `maxUnits` UTF-16 units of `text`, one less where that would split a surrogate pair. */
export function takeLast(text: string, maxUnits: number): string {
  if (text.length <= maxUnits) return text
  const start = text.length - Math.max(0, maxUnits)
  const splits = start < text.length && isLow(text.charCodeAt(start)) && isHigh(text.charCodeAt(start - 1))
  return text.slice(splits ? start + 1 : start)
}

/** How many bytes `text` takes in UTF-8; a lone surrogate counts as the three bytes of U+FFFD. */
export function utf8Length(text: string): number {
  let length = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) continue
    if (unit < 0x800) length += 1
    else if (isHigh(unit) && isLow(text.charCodeAt(i + 1))) {
      length += 2
      i++
    } else length += 2
  }
  return length
}

/** How many of the bytes at the beginning of `bytes` make its first `units` UTF-16 units, invalid bytes included. */
export function bytesOfUnits(bytes: Uint8Array, units: number): number {
  let at = 0
  for (let seen = 0; seen < units && at < bytes.length; seen++) {
    const need = sequenceLength(bytes[at]!)
    let end = at + 1
    while (
      end < at + need &&
      end < bytes.length &&
      (end > at + 1 ? isContinuation(bytes[end]!) : isSecond(bytes[at]!, bytes[end]!))
    )
      end++
    if (end - at === 4) seen++
    at = end
  }
  return at
}

export function joinBytes(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second
  if (second.length === 0) return first
  const both = new Uint8Array(first.length + second.length)
  both.set(first)
  both.set(second, first.length)
  return both
}

/** True when `bytes` is the beginning of a valid character, and not all of it. */
function isPrefix(bytes: ArrayLike<number>): boolean {
  if (bytes.length >= sequenceLength(bytes[0]!)) return false
  if (bytes.length > 1 && !isSecond(bytes[0]!, bytes[1]!)) return false
  return bytes.length < 3 || isContinuation(bytes[2]!)
}

/** 1 also for bytes that begin nothing: they stand for themselves, as one replacement character. */
function sequenceLength(lead: number): number {
  if (lead < 0xc2 || lead > 0xf4) return 1
  return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
}

/** The second byte rules out overlong forms, surrogates and code points beyond U+10FFFF. */
function isSecond(lead: number, byte: number): boolean {
  if (lead === 0xe0) return byte >= 0xa0 && byte <= 0xbf
  if (lead === 0xed) return byte >= 0x80 && byte <= 0x9f
  if (lead === 0xf0) return byte >= 0x90 && byte <= 0xbf
  if (lead === 0xf4) return byte >= 0x80 && byte <= 0x8f
  return isContinuation(byte)
}

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80
const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff
