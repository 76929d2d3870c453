/** Lines of a stream, one at a time, until the stream is handed on. */
import type { Readable } from 'node:stream'

/** More text than this before the expected words: it is not the arrival script that answers. */
const MAX_NOISE = 1024 * 1024

export interface Lines {
  next(): Promise<string | null>
  /** From here on the bytes belong to another reader. Nothing may have come behind the last line. */
  stop(): void
}

export function createLines(stream: Readable): Lines {
  let text = ''
  let waiting: ((line: string | null) => void) | null = null
  const give = (): void => {
    const at = text.indexOf('\n')
    if (at < 0 || !waiting) return
    const line = text.slice(0, at)
    text = text.slice(at + 1)
    const tell = waiting
    waiting = null
    tell(line)
  }
  const onData = (chunk: Buffer): void => {
    text += chunk.toString('latin1')
    if (text.length > MAX_NOISE) stream.destroy()
    give()
  }
  stream.on('data', onData)
  return {
    next: () =>
      new Promise((resolve) => {
        waiting = resolve
        give()
      }),
    stop: () => void stream.off('data', onData),
  }
}
