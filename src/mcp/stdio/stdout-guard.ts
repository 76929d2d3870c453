/** Keeps stdout for the protocol: whatever else prints there, a dependency or a stray console.log, lands on stderr. */
import { Writable } from 'node:stream'

/** Gives the only way to the real stdout. */
export function guardStdout(): Writable {
  const { stdout, stderr } = process
  const real = stdout.write
  const wire = new Writable({
    decodeStrings: false,
    highWaterMark: 1_048_576,
    write(chunk, encoding, done) {
      real.call(stdout, chunk as string, encoding, (error) => done(error))
    },
  })
  stdout.on('error', (error) => wire.destroy(error))
  stdout.write = ((...args: Parameters<typeof stderr.write>) => stderr.write(...args)) as typeof stdout.write
  stdout.end = (() => stdout) as typeof stdout.end
  return wire
}
