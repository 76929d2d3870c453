/**
 * Live output of one call on its way to near: at most a window is on the wire, and a cut loses none of it. A reader
 * of text that is too slow loses the middle, which is counted; a reader of bytes holds the command back instead.
 */
import type { ByteChunk, OutputChunk, Taken } from '../../contract/output.js'
import { outputFrame } from '../frames.js'
import type { Gap } from '../messages.js'
import type { Wire } from '../wire.js'

/** Bytes that near has not confirmed. */
const WINDOW_BYTES = 256 * 1024
/** Text that waits for room in the window; beyond this the oldest is dropped. */
const WAITING_BYTES = 1024 * 1024

interface Piece {
  readonly stream: OutputChunk['stream']
  readonly offset: number
  readonly frame: Buffer
  readonly bytes: number
  /** Where it ends in all that was ever sent for this call. */
  end: number
}

export class LiveOutput {
  readonly #call: number
  #wire: Wire | null = null
  #waiting: Piece[] = []
  #waitingBytes = 0
  /** Sent, and not confirmed: sent again after a cut. */
  #flying: Piece[] = []
  #sent = 0
  #confirmed = 0
  /** What was dropped in all, and where the last of it ended, by stream; said again with each link. */
  readonly #lost = new Map<OutputChunk['stream'], { bytes: number; end: number; isTold: boolean }>()
  #isOver = false
  /** Each stream waits on its own. */
  #room: (() => void)[] = []
  readonly #closed = new Set<string>()

  constructor(call: number) {
    this.#call = call
  }

  add({ stream, offset, text }: OutputChunk): void {
    this.#queue(stream, offset, Buffer.from(text))
    while (this.#waitingBytes > WAITING_BYTES && this.#waiting.length > 1) this.#drop()
    this.#pump()
  }

  /** The promise is the slowness of the reader; `closed` what it said about the stream. */
  take({ stream, offset, bytes }: ByteChunk): Taken | Promise<Taken> {
    if (this.#closed.has(stream)) return 'closed'
    // The engine uses the memory of the chunk again.
    this.#queue(stream, offset, Buffer.from(bytes))
    this.#pump()
    if (this.#waiting.length === 0) return
    return new Promise<Taken>((resolve) => {
      this.#room.push(() => resolve(this.#closed.has(stream) ? 'closed' : undefined))
    })
  }

  close(stream: string): void {
    this.#closed.add(stream)
    this.#makeRoom()
  }

  grant(bytes: number): void {
    if (Number.isSafeInteger(bytes) && bytes > 0) this.#confirmed = Math.min(this.#sent, this.#confirmed + bytes)
    while (this.#flying[0] && this.#flying[0].end <= this.#confirmed) this.#flying.shift()
    this.#pump()
  }

  /** A link is up: what near has not seen is sent again, and what it took while the link was down is confirmed. */
  resume(wire: Wire, seen: number, taken: number): void {
    this.#wire = wire
    this.#confirmed = Math.min(this.#sent, Math.max(this.#confirmed, taken))
    for (const lost of this.#lost.values()) lost.isTold = false
    this.#tellLost(wire)
    this.#flying = this.#flying.filter(({ end }) => end > seen)
    for (const { frame } of this.#flying) wire.sendFrame(frame)
    this.#pump()
  }

  pause(): void {
    this.#wire = null
  }

  /** The call has ended: the rest goes out before its result, window or not; without a link, with the next one. */
  flush(): void {
    this.#isOver = true
    this.#pump()
    this.#makeRoom()
  }

  #queue(stream: OutputChunk['stream'], offset: number, bytes: Buffer): void {
    const frame = outputFrame(this.#call, stream, offset, bytes)
    this.#waiting.push({ stream, offset, frame, bytes: bytes.length, end: 0 })
    this.#waitingBytes += bytes.length
  }

  #drop(): void {
    const { stream, offset, bytes } = this.#waiting.shift() as Piece
    this.#waitingBytes -= bytes
    const before = this.#lost.get(stream)?.bytes ?? 0
    this.#lost.set(stream, { bytes: before + bytes, end: offset + bytes, isTold: false })
  }

  #makeRoom(): void {
    for (const resume of this.#room.splice(0)) resume()
  }

  #pump(): void {
    const wire = this.#wire
    if (!wire) return
    while (this.#waiting.length > 0 && (this.#isOver || this.#sent - this.#confirmed < WINDOW_BYTES)) {
      this.#tellLost(wire)
      const next = this.#waiting.shift() as Piece
      this.#waitingBytes -= next.bytes
      this.#sent += next.bytes
      next.end = this.#sent
      this.#flying.push(next)
      wire.sendFrame(next.frame)
    }
    if (this.#isOver) this.#tellLost(wire)
    if (this.#waiting.length === 0) this.#makeRoom()
  }

  #tellLost(wire: Wire): void {
    for (const [stream, lost] of this.#lost) {
      if (!lost.isTold) wire.send('G', { id: this.#call, stream, bytes: lost.bytes, end: lost.end } satisfies Gap)
      lost.isTold = true
    }
  }
}
