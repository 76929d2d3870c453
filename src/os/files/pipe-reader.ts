/** Reads a pipe as it fills, through one shared buffer, so that any amount of output costs no memory. */
import { linkSync, readSync } from 'node:fs'
import { Socket } from 'node:net'
import { hasProc } from '../process/proc.js'
import { removeQuietly } from './quietly.js'

/**
 * What takes the bytes may answer with a promise: nothing more is read, and the writer is held back, until it settles.
 */
export type Held = Promise<unknown> | void

export interface PipeReader {
  /** Everything that is in the pipe now, without waiting. */
  drainNow(): void
  pause(): void
  resume(): void
  /** Whether the taker of the bytes holds the writer back now. */
  readonly held: boolean
  close(): void
  /** Under which another process of the same user can open this end of the pipe. */
  readonly path: string
  readonly ended: boolean
  /** Every writer has closed the pipe (or we closed our end). */
  readonly end: Promise<void>
}

/** `onChunk` gets a view of the shared buffer: copy what is to be kept. */
export function readPipe(
  fd: number,
  scratch: Uint8Array,
  onChunk: (chunk: Uint8Array) => Held,
  name: string | null = null,
): PipeReader {
  return readInto(fd, scratch, (length) => onChunk(scratch.subarray(0, length)), name)
}

/**
 * A second name for a FIFO whose first one goes with its launcher's slot. Only where there is no /proc: it names every
 * open end of a pipe.
 */
export function lastingName(path: string): string | null {
  if (hasProc) return null
  const name = `${path}.read`
  linkSync(path, name)
  return name
}

/** No pipe holds more than this, unless the machine's administrator allows it. */
const LARGEST_PIPE = 1024 * 1024

/** The same for a reader of the buffer itself: what was read are its first bytes. A `name` goes with the reader. */
export function readInto(
  fd: number,
  scratch: Uint8Array,
  onRead: (length: number) => Held,
  name: string | null = null,
): PipeReader {
  let ended = false
  let paused = false
  let holders = 0
  let settle!: () => void
  const end = new Promise<void>((resolve) => (settle = resolve))
  const finish = (): void => {
    ended = true
    if (name !== null) removeQuietly(name)
    settle()
  }
  const leave = (): void => {
    if (!ended) socket.destroy()
    finish()
  }
  const letGo = (): void => {
    holders -= 1
    if (holders === 0 && !paused && !ended) socket.resume()
  }
  const hand = (count: number): void => {
    const held = onRead(count)
    if (!held) return
    holders += 1
    socket.pause()
    held.then(letGo, letGo)
  }
  const socket = new Socket({
    fd,
    readable: true,
    writable: false,
    onread: {
      buffer: scratch,
      callback: (count: number) => {
        if (!ended && count > 0) hand(count)
        return holders === 0
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
      // A writer that goes on writing must not keep this loop going: what comes after the call is read in its turn.
      for (let read = 0; read < LARGEST_PIPE;) {
        let count: number
        try {
          count = readSync(fd, scratch, 0, scratch.length, null)
        } catch {
          return // EAGAIN: empty now.
        }
        // 0 = every writer is gone. The socket notices that by itself, unless it does not read.
        if (count === 0) return holders > 0 ? leave() : undefined
        hand(count)
        read += count
        // A pipe hands over all it holds: less than asked for means that it is empty.
        if (holders === 0 && count < scratch.length && count < 65_536) return
      }
    },
    pause() {
      paused = true
      socket.pause()
    },
    resume() {
      paused = false
      if (holders === 0) socket.resume()
    },
    get held() {
      return holders > 0
    },
    close: leave,
    get ended() {
      return ended
    },
    end,
    path: name ?? `/proc/${process.pid}/fd/${fd}`,
  }
}
