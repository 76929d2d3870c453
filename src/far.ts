/**
 * The program that arrives at another place and is the engine there:
 * `far.js RUN_DIR BASE_DIR LEASE_MS`, the key on stdin.
 */
import { basename, dirname } from 'node:path'
import { createEngine, leaveTry } from './engine/engine.js'
import { readKey, serveFar } from './reach/far/serve.js'

/** The name of the directory that it was unpacked into is the digest of the code. */
const build = basename(dirname(dirname(process.argv[1] ?? '')))
const [runDir = '', baseDir = '', leaseMs = ''] = process.argv.slice(2)
// Of the script that started this process; commands there are not to inherit it.
if (process.env['MALLOC_MMAP_THRESHOLD_'] === '32768') delete process.env['MALLOC_MMAP_THRESHOLD_']
// The channel that started this process may hang up; the lease decides when it ends.
process.on('SIGHUP', () => {})
const key = readKey(runDir)
/** An error that nothing expected: what the engine knows may be wrong from here on, so it does not go on. */
const failed = new Promise<unknown>((resolve) => process.on('uncaughtException', resolve))
const settings = { runDir, baseDir, build, leaseMs: Number(leaseMs), key, createEngine, leaveTry, failed }
void serveFar(settings).then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error)
    process.exit(1)
  },
)
