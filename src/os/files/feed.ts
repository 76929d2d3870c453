/** Writes bytes into a pipe without ever blocking the event loop, and closes it. */
import { closeSync, writeSync } from 'node:fs'
import { Socket } from 'node:net'

/** Null when all of it is in the pipe already; otherwise settled when it is, or when the reader has closed its end. */
export function feedPipe(fd: number, bytes: Uint8Array): Promise<void> | null {
  let at = 0
  try {
    // A pipe takes 64 KB at once: nearly always all of it.
    while (at < bytes.length) at += writeSync(fd, bytes, at, bytes.length - at)
    closeSync(fd)
    return null
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') {
      closeSync(fd)
      return null
    }
  }
  const socket = new Socket({ fd, readable: false, writable: true })
  // EPIPE: the command closed its input before it had read everything.
  socket.on('error', () => socket.destroy())
  socket.end(bytes.subarray(at))
  return new Promise((resolve) => socket.once('close', () => resolve()))
}
