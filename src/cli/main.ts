/** The `cerith` program: one verb per call. */
import { runCli } from './program.js'
import { EXIT } from './io.js'
import { lostOutput, processIo } from './process-io.js'

// An engine lets its host go when nothing runs; this program stays until its verb is done.
const stay = setInterval(() => {}, 2 ** 30)
void runCli(process.argv.slice(2), processIo()).then(leave)

async function leave(code: number): Promise<void> {
  // A failed write is told a moment after it; output that could not be written is not a success.
  await new Promise((resolve) => setImmediate(resolve))
  if (lostOutput.why) process.stderr.write(`cerith: the output could not be written (${lostOutput.why})\n`)
  process.exitCode = code === 0 && lostOutput.why ? EXIT.error : code
  clearInterval(stay)
  // A handle that somebody forgot must not keep a finished program waiting.
  setTimeout(() => process.exit(), 1_000).unref()
}
