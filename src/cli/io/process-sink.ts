/**
 * Standard output or error of this process: every byte arrives, a slow reader is waited for,
 * and one that went away is noticed.
 */
import { fstatSync, statSync, writeSync } from 'node:fs'
import type { Taken } from '../../contract/output.js'
import type { Sink } from './io.js'
import { attempt } from '../../contract/attempt.js'

export interface ProcessSink extends Sink {
  /** Why output was lost, if it was: a full disk, for example. A reader that left is no loss. */
  readonly lost: string | null
  /** Whether the reader is gone. */
  readonly closed: boolean
  /** Whether it is /dev/null. Node opens that, too, in the place of a descriptor that was closed when it started. */
  readonly discards: boolean
  onClosed(listener: () => void): () => void
}

/** `fd` is 1 or 2, `stream` Node's own view of it. */
export function processSink(stream: NodeJS.WriteStream, fd: number): ProcessSink {
  let closed = false
  let lost: string | null = null
  const listeners = new Set<() => void>()
  const fail = (error: NodeJS.ErrnoException): void => {
    if (error.code !== 'EPIPE') lost ??= error.code ?? error.message
    else if (!closed) {
      closed = true
      for (const listener of listeners) listener()
    }
  }
  // Without a listener a reader that leaves early (`| head`) would end this process with a stack trace.
  stream.on('error', fail)
  // Node lets a terminal that was stopped (C-s) stop the whole process, its timers and signals too. Its
  // handle is a description of our own, so this changes nothing for other programs on the terminal.
  if (stream.isTTY)
    (stream as unknown as { _handle?: { setBlocking?(on: boolean): void } })._handle?.setBlocking?.(false)
  const kind = attempt(() => fstatSync(fd))
  const isPipe = kind?.isFIFO() === true
  // Node makes the descriptor of a pipe one that does not wait. For a terminal it opens a descriptor of its own.
  const takesAtOnce = !stream.isTTY && (isPipe || kind?.isSocket() === true)

  /** What the kernel takes now without waiting; a stream has then nothing to copy or to queue. */
  const writeNow = (bytes: Uint8Array): number => {
    let at = 0
    try {
      while (at < bytes.length) at += writeSync(fd, bytes, at)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') {
        fail(error as NodeJS.ErrnoException)
        return bytes.length
      }
    }
    return at
  }

  return {
    write(data) {
      if (closed || data.length === 0) return
      const bytes = typeof data === 'string' ? Buffer.from(data) : data
      const at = takesAtOnce && stream.writableLength === 0 ? writeNow(bytes) : 0
      if (at < bytes.length) stream.write(Buffer.from(bytes.subarray(at)))
    },
    taken() {
      const answer = (): Taken => (closed ? 'closed' : undefined)
      if (closed || stream.writableLength === 0) return answer()
      // The callback of a write comes when everything before it is gone, or has failed.
      return new Promise<void>((resolve) => void stream.write('', () => resolve())).then(answer)
    },
    get closed() {
      return closed
    },
    get lost() {
      return lost
    },
    get discards() {
      return attempt(() => fstatSync(fd).rdev === statSync('/dev/null').rdev, false)
    },
    onClosed(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    pipePath: isPipe ? `/proc/${process.pid}/fd/${fd}` : null,
    get isTTY() {
      return stream.isTTY === true
    },
    get columns() {
      return stream.columns || 80 // A terminal that does not know its size says 0.
    },
  }
}
