/**
 * Keeps hostile output from keeping the emulator busy: "insert ten million lines" is drawn as
 * "insert as many as there are rows".
 */

// Sequences whose first number is a count: the emulator does its work that many times. ESC [ or
// its one-character form, here in UTF-8.
const COUNTED = /(\x1b\[|\xc2\x9b)(\d+)([\d;]*[@A-GIL-MPSTXZ`abde])/g
/** A sequence that has begun and may go on in the next piece. */
const UNFINISHED = /(?:\x1b(?:\[[0-?]{0,60})?|\xc2(?:\x9b[0-?]{0,60})?)$/

export function createScreenGuard(most: () => number): (bytes: Uint8Array) => Uint8Array {
  let held = ''
  return (bytes) => {
    let text = held + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
    held = UNFINISHED.exec(text)?.[0] ?? ''
    text = held ? text.slice(0, -held.length) : text
    const limit = most()
    return Buffer.from(
      text.replace(
        COUNTED,
        (_, start: string, count: string, rest: string) => `${start}${Math.min(Number(count), limit)}${rest}`,
      ),
      'latin1',
    )
  }
}
