/** Reads a pipe of ours as it fills, through one shared buffer, so that any amount of output costs no memory. */
import { readSync } from 'node:fs'
import { Socket } from 'node:net'

export interface PipeReader {
  /** Everything that is in the pipe now, without waiting. */
  drainNow(): void
  pause(): void
  resume(): void
  close(): void
  /** Under which another process of the same user can open this end of the pipe. */
  readonly path: string
  readonly ended: boolean
  /** Every writer has closed the pipe (or we closed our end). */
  readonly end: Promise<void>
}

/** `onChunk` gets a view of the shared buffer: copy what is to be kept. */
export function readPipe(fd: number, scratch: Uint8Array, onChunk: (chunk: Uint8Array) => void): PipeReader {
  return readInto(fd, scratch, (length) => onChunk(scratch.subarray(0, length)))
}

/** The same for who looks into the buffer: what was read are its first bytes. */
export function readInto(fd: number, scratch: Uint8Array, onRead: (length: number) => void): PipeReader {
  let ended = false
  let settle!: () => void
  const end = new Promise<void>((resolve) => (settle = resolve))
  const finish = (): void => {
    ended = true
    settle()
  }
  const socket = new Socket({
    fd,
    readable: true,
    writable: false,
    onread: {
      buffer: scratch,
      callback: (count: number) => {
        if (!ended && count > 0) onRead(count)
        return true
      },
    },
  } as ConstructorParameters<typeof Socket>[0])
  socket.on('end', finish)
  socket.on('close', finish)
  socket.on('error', finish)
  socket.resume()
  // The launcher's own connection keeps the loop alive while something runs; a holder that never closes must not.
  socket.unref()
  return {
    drainNow() {
      if (ended) return
      for (;;) {
        let count: number
        try {
          count = readSync(fd, scratch, 0, scratch.length, null)
        } catch {
          return // EAGAIN: empty now.
        }
        // 0 = every writer is gone; the socket will notice by itself.
        if (count === 0) return
        onRead(count)
        // A pipe hands over all it holds: less than asked for means that it is empty.
        if (count < scratch.length && count < 65_536) return
      }
    },
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    close() {
      if (!ended) socket.destroy()
      finish()
    },
    get ended() {
      return ended
    },
    end,
    path: `/proc/${process.pid}/fd/${fd}`,
  }
}
