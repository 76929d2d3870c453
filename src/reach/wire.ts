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
  #sending: Promise<void> = Promise.resolve()
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
        this.closed = true
        if (!(error instanceof BadFrame)) throw error
        onBad(error.message)
      }
    })
  }

  /** Leaves at once, with everything that waited for company. */
  send(kind: string, message: object): void {
    const frames = framesOf(kind, JSON.stringify(message))
    if (frames.length > 1) return this.#sendInTurns(frames)
    this.#write(frames[0] as Buffer)
  }

  sendFrame(bytes: Buffer): void {
    this.#write(bytes)
  }

  /** Leaves with the next message. */
  sendLater(kind: string, message: object): void {
    for (const each of framesOf(kind, JSON.stringify(message))) this.#riding.push(each)
    // Not ended when the next message takes them along: each call would make and end one.
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      if (this.#riding.length > 0) this.#flush()
    }, RIDE_MS).unref()
  }

  beat(): void {
    this.#write(frame('P', ''))
  }

  /** True when the other side takes bytes more slowly than they come. */
  get crowded(): boolean {
    return this.#output.writableNeedDrain
  }

  close(): void {
    if (this.#riding.length > 0) this.#flush()
    this.closed = true
    if (this.#timer) clearTimeout(this.#timer)
  }

  #flush(): void {
    if (!this.closed) this.#output.write(Buffer.concat(this.#riding))
    this.#riding = []
  }

  #write(bytes: Buffer): void {
    if (this.closed) return
    if (this.#riding.length === 0) return void this.#output.write(bytes)
    this.#riding.push(bytes)
    this.#flush()
  }

  /** The pieces of a long message, one after the other; what is short goes in between. */
  #sendInTurns(frames: readonly Buffer[]): void {
    this.#sending = this.#sending.then(async () => {
      for (const each of frames) {
        if (this.closed) return
        this.#write(each)
        await new Promise<void>((resolve) => {
          if (!this.crowded) return void setImmediate(resolve)
          const goOn = (): void => {
            for (const event of ['drain', 'close']) this.#output.off(event, goOn)
            resolve()
          }
          for (const event of ['drain', 'close']) this.#output.on(event, goOn)
        })
      }
    })
  }
}
