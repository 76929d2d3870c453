/**
 * What bash says of the session's own when it cannot read a command: it names the file in which the mistake is, and
 * quotes the line, with what stands before the command in it. The agent knows neither. The words are taken out of what
 * the command prints, so that every reader of it gets the same.
 */
import { fileOf, type Marks } from './marks.js'

const COLON = 58
/** Bash's words begin with these bytes, and so does what the agent is shown instead: they are never held back. */
const SHARED = ': '
const NOTHING = Buffer.alloc(0)

interface Word {
  readonly said: Buffer
  readonly shown: string
}

export class OwnWords {
  readonly #words: readonly Word[]

  /** `head`: what stands before the command in the line of its file. */
  constructor(marks: Marks, head = '') {
    // Up to the number of the line, which every language has another word for.
    const named = { said: Buffer.from(`${SHARED}${fileOf.command(marks)}${SHARED}`), shown: SHARED }
    const quoted = { said: Buffer.from(`${SHARED}\`${head}`), shown: `${SHARED}\`` }
    this.#words = head === '' ? [named] : [named, quoted]
  }

  inStream(): OwnWordsInStream {
    return new OwnWordsInStream(this.#words)
  }
}

/** A read may end within the words: what could be their beginning waits for the next one. */
export class OwnWordsInStream {
  readonly #words: readonly Word[]
  /** The beginning of words at the end of the last read; the first bytes of it were shown. */
  #begun: Buffer = NOTHING
  #shown = 0

  constructor(words: readonly Word[]) {
    this.#words = words
  }

  takenOut(chunk: Uint8Array): Uint8Array {
    const read = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    const bytes = this.#plain(this.#begun.length > 0 ? Buffer.concat([this.#begun, read]) : read)
    const from = this.#shown
    const at = this.#beginning(bytes)
    // Copied: the bytes of a read are gone with the next one.
    this.#begun = at < bytes.length ? Buffer.from(bytes.subarray(at)) : NOTHING
    this.#shown = Math.min(SHARED.length, this.#begun.length)
    return bytes.subarray(from, at + this.#shown)
  }

  /** Nothing more will come. */
  rest(): Uint8Array {
    const held = this.#begun.subarray(this.#shown)
    this.#begun = NOTHING
    this.#shown = 0
    return held
  }

  #plain(bytes: Buffer): Buffer {
    let plain = bytes
    for (const { said, shown } of this.#words)
      if (plain.includes(said))
        plain = Buffer.from(plain.toString('latin1').replaceAll(said.toString('latin1'), shown), 'latin1')
    return plain
  }

  /** Where words begin that go on behind the last byte; the end where there are none. */
  #beginning(bytes: Buffer): number {
    let found = bytes.length
    for (const { said } of this.#words)
      for (
        let at = bytes.indexOf(COLON, Math.max(0, bytes.length - said.length + 1));
        at >= 0 && at < found;
        at = bytes.indexOf(COLON, at + 1)
      )
        if (said.subarray(0, bytes.length - at).equals(bytes.subarray(at))) found = at
    return found
  }
}
