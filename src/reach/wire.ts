/** One end of a link: messages out with as few writes as possible, messages in whole and of known kinds only. */
import type { Duplex, Readable, Writable } from 'node:stream'
import { BadFrame, createReader, frame, framesOf } from './frames.js'

/** What can wait rides on the next message, or leaves after this long: a second small write would wait for Nagle. */
const RIDE_MS = 100

export interface WireEnds {
  readonly input: Readable
  readonly output: Writable
}

export class Wire {
  readonly #output: Writable
  #riding: Buffer[] = []
  #timer: NodeJS.Timeout | null = null
  /** Until the last piece of what was sent has left. */
  leaving: Promise<void> | null = null
  #written = 0
  /** What was written before each beat that has no answer yet, and before the last one that has. */
  readonly #beats: number[] = []
  #arrived = 0
  heardAt = performance.now()
  closed = false

  /** `onBad` is told why when something came that no engine sends; nothing is read after that. */
  constructor(
    ends: WireEnds | Duplex,
    onMessage: (kind: string, payload: Buffer) => void,
    onBad: (why: string) => void,
  ) {
    const { input, output } = 'input' in ends ? ends : { input: ends, output: ends }
    this.#output = output
    output.on('error', () => {})
    input.on('error', () => {})
    const read = createReader(onMessage)
    input.on('data', (chunk: Buffer) => {
      if (this.closed) return
      this.heardAt = performance.now()
      try {
        read(chunk)
      } catch (error) {
        // Not only where it was looked for: what fits nothing costs this link, and not those of other clients.
        this.closed = true
        onBad(error instanceof BadFrame ? error.message : String(error))
      }
    })
  }

  /**
   * Leaves at once, with everything that waited for company. A long one leaves in pieces, between which others go: what
   * must come behind it waits for `leaving`.
   */
  send(kind: string, message: object): void {
    const frames = framesOf(kind, JSON.stringify(message))
    if (frames.length > 1) return this.#sendInTurns(frames)
    this.sendFrame(frames[0] as Buffer)
  }

  /** Leaves at once, and before all that is sent later, however long it is. */
  sendWhole(kind: string, message: object): void {
    this.#riding.push(...framesOf(kind, JSON.stringify(message)))
    this.#flush()
  }

  /** Leaves at once, behind what waited for company. */
  sendFrame(bytes: Buffer): void {
    if (this.#riding.length === 0) return this.#put(bytes)
    this.#riding.push(bytes)
    this.#flush()
  }

  /** Leaves with the next message. */
  sendLater(kind: string, message: object): void {
    this.#riding.push(...framesOf(kind, JSON.stringify(message)))
    // Not ended when the next message takes them along: each call would make and end one.
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      if (this.#riding.length > 0) this.#flush()
    }, RIDE_MS).unref()
  }

  beat(): void {
    this.#beats.push(this.#written)
    this.sendFrame(frame('P', ''))
  }

  /** Beats are answered in their order. */
  beatAnswered(): void {
    this.#arrived = this.#beats.shift() ?? this.#arrived
  }

  /** What may still be on its way. */
  get underwayBytes(): number {
    return this.#written - this.#arrived
  }

  /** Resolves when everything that was sent has left this process, or never will. */
  get sent(): Promise<void> {
    return (this.leaving ?? Promise.resolve()).then(
      () => new Promise((resolve) => (this.closed ? resolve() : this.#output.write('', () => resolve()))),
    )
  }

  close(): void {
    if (this.#riding.length > 0) this.#flush()
    this.closed = true
    if (this.#timer) clearTimeout(this.#timer)
  }

  #flush(): void {
    const bytes = Buffer.concat(this.#riding)
    this.#riding = []
    this.#put(bytes)
  }

  #put(bytes: Buffer): void {
    if (this.closed) return
    this.#written += bytes.length
    this.#output.write(bytes)
  }

  /** The pieces of a long message, one after the other; what is short goes in between. */
  #sendInTurns(frames: readonly Buffer[]): void {
    const leaving = (this.leaving ?? Promise.resolve()).then(async () => {
      for (const each of frames) {
        if (this.closed) return
        this.sendFrame(each)
        await new Promise<void>((resolve) => {
          // True when the other side takes bytes more slowly than they come.
          if (!this.#output.writableNeedDrain) return void setImmediate(resolve)
          const goOn = (): void => {
            for (const event of ['drain', 'close']) this.#output.off(event, goOn)
            resolve()
          }
          for (const event of ['drain', 'close']) this.#output.on(event, goOn)
        })
      }
      if (this.leaving === leaving) this.leaving = null
    })
    this.leaving = leaving
  }
}
