/** The `cerith` program: one verb per call. */
import { runCli } from './program.js'
import { EXIT } from './io/io.js'
import { processIo } from './io/process.js'

/** After a signal to end, the reader of the output is waited for so long. */
const PATIENCE_MS = 1_000
const SIGPIPE = 13

const argv = process.argv.slice(2)
// Nothing of the command stays in the list of processes: `pkill -f word` in it means the
// agent's processes, not this one.
process.title = 'cerith'
// An engine lets its host go when nothing runs; this program stays until its verb is done.
setInterval(() => {}, 2 ** 30)
const io = processIo()
void runCli(argv, io).then(leave)

async function leave(code: number): Promise<void> {
  // The reader may be slow: everything that was written reaches it, however long it takes, unless we were told to end.
  const taken = Promise.all([io.out.taken(), io.err.taken()])
  await (io.signalled ? Promise.race([taken, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]) : taken)
  // A failed write is told a moment after it; output that could not be written is not a success.
  await new Promise((resolve) => setImmediate(resolve))
  // The reader of stdout has left before the end. A command that had written its last word by then got no SIGPIPE, and
  // its 0 would hide that the output was lost.
  const unread = io.out.closed && code === 0
  const lost = io.out.lost ?? io.err.lost
  if (lost) io.err.write(`cerith: the output could not be written (${lost})\n`)
  const { text, exitCode } = io.otherwise
  const decides = exitCode !== null
  const missed = io.out.lost !== null || io.out.closed || (decides && io.out.discards)
  if (missed) io.err.write(text)
  await io.err.taken()
  // Not by running out of things to do: Node would take its heap to pieces first, and a handle that was forgotten
  // would keep a finished program waiting.
  if (missed && decides) process.exit(exitCode)
  process.exit(unread ? EXIT.signal + SIGPIPE : code === 0 && lost ? EXIT.error : code)
}
