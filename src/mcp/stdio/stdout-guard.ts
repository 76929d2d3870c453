/** Keeps stdout for the protocol: whatever else prints there, a dependency or a stray console.log, lands on stderr. */
import { Writable } from 'node:stream'

export interface GuardedStdout {
  /** The only way to the real stdout. */
  readonly wire: Writable
  restore(): void
}

export function guardStdout(): GuardedStdout {
  const { stdout, stderr } = process
  const real = { write: stdout.write, end: stdout.end }
  const wire = new Writable({
    decodeStrings: false,
    highWaterMark: 1_048_576,
    write(chunk, encoding, done) {
      real.write.call(stdout, chunk as string, encoding, (error) => done(error))
    },
  })
  stdout.on('error', (error) => wire.destroy(error))
  stdout.write = ((...args: Parameters<typeof stderr.write>) => stderr.write(...args)) as typeof stdout.write
  stdout.end = (() => stdout) as typeof stdout.end
  return {
    wire,
    restore() {
      stdout.write = real.write
      stdout.end = real.end
    },
  }
}
