/** The `cerith` program: one verb per call. */
import { runCli } from './program.js'
import { processIo } from './process-io.js'

process.exitCode = await runCli(process.argv.slice(2), processIo())
