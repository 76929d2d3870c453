/**
 * The first file of the `cerith` program. It loads the rest as one script, together with the code that V8 compiled for
 * the same verb last time: compiling was most of a short call. A cache that is missing, damaged or of another Node
 * costs the compilation, nothing else.
 */
import { closeSync, fstatSync, lstatSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { constants, Script } from 'node:vm'
import { stateDirectory } from '../os/state-dir.js'

/** Put in by the build: the file beside this one whose name holds its digest. */
declare const __CERITH_PROGRAM__: string

/** Verbs that hosts and scripts call often; each has a cache of its own, the others share one. */
const OWN_CACHE = ['check', 'hook', 'mcp', 'ps', 'read', 'run', 'wait']
const file = join(__dirname, __CERITH_PROGRAM__)
const cacheFile = nameOfCache()
const cachedData = cacheFile === null ? undefined : readOwn(cacheFile)
const script = new Script(
  `(function (exports, require, module, __filename, __dirname) {${readFileSync(file, 'utf8')}\n})`,
  {
    filename: file,
    ...(cachedData ? { cachedData } : {}),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  },
)
const program = { exports: {} }
script.runInThisContext()(program.exports, createRequire(file), program, file, dirname(file))
if (cacheFile !== null && (!cachedData || script.cachedDataRejected)) process.once('exit', () => keep(cacheFile))

/** Null where there is no state directory, or where `CERITH_CODE_CACHE=0` says so. */
function nameOfCache(): string | null {
  if (process.env['CERITH_CODE_CACHE'] === '0') return null
  const verb = OWN_CACHE.find((name) => name === process.argv[2]) ?? 'other'
  const digest = /-([^-]+)\.cjs$/.exec(__CERITH_PROGRAM__)?.[1]
  try {
    return join(stateDirectory(), 'code', `${verb}-${digest}-${process.version}-${process.arch}`)
  } catch {
    return null
  }
}

/** Code is only taken from a file that this user alone can write. */
function readOwn(path: string): Buffer | undefined {
  let fd: number | null = null
  try {
    fd = openSync(path, 'r')
    const { uid, mode } = fstatSync(fd)
    return uid === process.getuid?.() && (mode & 0o022) === 0 ? readFileSync(fd) : undefined
  } catch {
    return undefined
  } finally {
    if (fd !== null) closeSync(fd)
  }
}

/** Written beside and renamed, so that a reader sees a whole file; only into a state directory that exists already. */
function keep(path: string): void {
  try {
    const folder = dirname(path)
    const { uid, mode } = lstatSync(dirname(folder))
    if (uid !== process.getuid?.() || (mode & 0o022) !== 0) return
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const draft = `${path}.${process.pid}`
    writeFileSync(draft, script.createCachedData(), { mode: 0o600, flag: 'wx' })
    renameSync(draft, path)
  } catch {
    // A full or read-only disk: the next call compiles again.
  }
}
