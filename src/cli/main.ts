/** The `cerith` program: one verb per call. */
import { runCli } from './program.js'
import { processIo } from './process-io.js'

// An engine lets its host go when nothing runs; this program stays until its verb is done.
const stay = setInterval(() => {}, 2 ** 30)
process.exitCode = await runCli(process.argv.slice(2), processIo())
clearInterval(stay)
// A handle that somebody forgot must not keep a finished program waiting.
setTimeout(() => process.exit(), 1_000).unref()
