/** Writes bytes into a pipe of ours without ever blocking the event loop, and closes it. */
import { closeSync, writeSync } from 'node:fs'
import { Socket } from 'node:net'

export function feedPipe(fd: number, bytes: Uint8Array): void {
  let at = 0
  try {
    // A pipe takes 64 KB at once: nearly always all of it.
    while (at < bytes.length) at += writeSync(fd, bytes, at, bytes.length - at)
    closeSync(fd)
    return
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') {
      closeSync(fd)
      return
    }
  }
  const socket = new Socket({ fd, readable: false, writable: true })
  // EPIPE: the command did not want to read it all. That is its business.
  socket.on('error', () => socket.destroy())
  socket.end(bytes.subarray(at))
}
