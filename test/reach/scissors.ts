/** Cuts a link at a chosen message, in either direction: before it, or in its middle. */
import { PassThrough, type Readable, type Writable } from 'node:stream'
import type { OpenLink } from '../../src/reach/near/link.js'

export type Way = 'to far' | 'to near'

export class Scissors {
  /** Messages that passed since the last look, beats aside. */
  readonly passed: Record<Way, number> = { 'to far': 0, 'to near': 0 }
  #armed: { way: Way; left: number; isHalf: boolean } | null = null
  cuts = 0

  /** The message number `n` from now on is the one that does not get through. */
  arm(way: Way, n: number, isHalf: boolean): void {
    this.#armed = { way, left: n, isHalf }
  }

  disarm(): void {
    this.#armed = null
  }

  readonly through = (link: OpenLink): OpenLink => {
    const [input, output] = [new PassThrough(), new PassThrough()]
    this.#pump('to near', link.input, input, link)
    this.#pump('to far', output, link.output, link)
    return { ...link, input, output, closed: link.closed, destroy: () => link.destroy(), hold: (is) => link.hold(is) }
  }

  #pump(way: Way, from: Readable, to: Writable, link: OpenLink): void {
    let held = Buffer.alloc(0)
    let isCut = false
    from.on('data', (chunk: Buffer) => {
      held = Buffer.concat([held, chunk])
      while (!isCut && held.length >= 5 && held.length >= 4 + held.readUInt32LE(0)) {
        const message = held.subarray(0, 4 + held.readUInt32LE(0))
        held = held.subarray(message.length)
        const isBeat = 'Pp'.includes(String.fromCharCode(message[4] as number))
        if (!isBeat) this.passed[way] += 1
        if (isBeat || this.#armed?.way !== way || --this.#armed.left > 0) {
          to.write(message)
          continue
        }
        isCut = true
        this.cuts += 1
        if (this.#armed.isHalf) to.write(message.subarray(0, message.length >> 1))
        this.#armed = null
        // What was written before must arrive: a cut network loses the end of a stream, not its middle.
        setTimeout(() => link.destroy(), 5)
      }
    })
    from.on('error', () => {})
    to.on('error', () => {})
  }
}
