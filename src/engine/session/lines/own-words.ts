/**
 * What bash says of the session's own when it cannot read a command: it names the file in which the mistake is, and
 * quotes the line, with what stands before the command in it. The agent knows neither. The words are taken out of what
 * the command prints, so that every reader of it gets the same.
 */
import { fileOf, type Marks } from './marks.js'

export class OwnWords {
  readonly #named: Buffer
  readonly #quoted: Buffer | null

  /** `head`: what stands before the command in the line of its file. */
  constructor(marks: Marks, head = '') {
    this.#named = Buffer.from(`: ${fileOf.command(marks)}: line `)
    this.#quoted = head === '' ? null : Buffer.from(`: \`${head}`)
  }

  takenOut(chunk: Uint8Array): Uint8Array {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    const isNamed = bytes.includes(this.#named)
    if (!isNamed && !(this.#quoted && bytes.includes(this.#quoted))) return chunk
    const plain = bytes.toString('latin1').replaceAll(this.#named.toString('latin1'), ': line ')
    return Buffer.from(this.#quoted ? plain.replaceAll(this.#quoted.toString('latin1'), ': `') : plain, 'latin1')
  }
}
