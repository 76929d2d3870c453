/** Lines of a stream, one at a time, until the stream is handed on. */
import type { Readable } from 'node:stream'

/** Of a line without an end: the expected words stand at its end, and what was long before them is not kept. */
const MAX_NOISE = 1024 * 1024

export interface Lines {
  next(): Promise<string>
  /** What came of a line whose end has not come. */
  readonly unfinished: string
  /** From here on the bytes belong to another reader. Nothing may have come behind the last line. */
  stop(): void
}

export function createLines(stream: Readable): Lines {
  let text = ''
  let waiting: ((line: string) => void) | null = null
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
    text = (text + chunk.toString('latin1')).slice(-MAX_NOISE)
    give()
  }
  stream.on('data', onData)
  return {
    next: () =>
      new Promise((resolve) => {
        waiting = resolve
        give()
      }),
    get unfinished() {
      return text
    },
    stop: () => void stream.off('data', onData),
  }
}
