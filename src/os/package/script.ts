/**
 * The code of the package is a few big scripts. This loads one, together with what V8 compiled of it last time for the
 * same purpose: compiling was most of a short call, and of a library's first command. A cache that is missing, damaged
 * or of another Node costs the compilation, nothing else.
 */
import {
  closeSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statfsSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { constants, Script } from 'node:vm'
import { attempt } from '../../contract/attempt.js'
import { stateDirectory } from '../files/state-dir.js'

type Exports = Record<string, () => unknown>
type Body = (
  exports: object,
  require: (id: string) => unknown,
  module: { exports: object },
  file: string,
  folder: string,
) => void

/** A shorter script is compiled sooner than its cache is read. */
const WORTH_KEEPING = 50_000
/** Stands behind the code in its file. V8 believes what it is given, and a flipped bit there ends the process. */
const sumOf = (code: Buffer): Buffer => createHash('sha1').update(code).digest()
const SUM_BYTES = 20
/** A cache is kept where so many of its size would have room. */
const MOST_OF_A_DISK = 16
const FORGET_AFTER_MS = 30 * 24 * 60 * 60_000
/** A process that lived so long may have compiled much that the cache lacks; finding out takes ten milliseconds. */
const LONG_LIVED_S = 5
/** How much more is worth a new cache. */
const GROWN = 1.1
const here = dirname(fileURLToPath(import.meta.url))
const loaded = new Map<string, { exports: object }>()

/** What an entry of the package gives; `path` is relative to the file that this code became part of. */
export function load(path: string, entry: string, purpose: string | null = entry): unknown {
  return (run(join(here, path), purpose) as Exports)[entry]?.()
}

/** `purpose` null: nothing is taken from a cache, nor kept in one. */
function run(file: string, purpose: string | null): object {
  const before = loaded.get(file)
  if (before) return before.exports
  // The build writes ASCII, and each script as one function.
  const source = readFileSync(file, 'latin1')
  const cacheFile = purpose === null || source.length < WORTH_KEEPING ? null : nameOfCache(file, purpose)
  const cachedData = cacheFile === null ? undefined : readOwn(cacheFile)
  const script = new Script(source, {
    filename: file,
    ...(cachedData ? { cachedData } : {}),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
  const compiled = script.runInThisContext() as Body
  // A test runner may give each file globals of its own: the code must have the same ones as its caller.
  // oxlint-disable-next-line no-eval -- the same text, by the caller's own globals
  const body = compiled instanceof Function ? compiled : ((0, eval)(source) as Body)
  const module = { exports: {} }
  loaded.set(file, module)
  const outer = createRequire(file)
  const require = (id: string): unknown => {
    if (id.startsWith('./')) return run(join(dirname(file), id), purpose)
    return LATER.has(id) ? later(() => outer(id) as object) : outer(id)
  }
  body(module.exports, require, module, file, dirname(file))
  if (cacheFile !== null) {
    const before = script.cachedDataRejected ? 0 : (cachedData?.length ?? 0)
    process.once('exit', () => {
      if (before === 0 || process.uptime() > LONG_LIVED_S) keep(cacheFile, script, before * GROWN)
    })
  }
  return module.exports
}

/** The bundler asks for every module of Node at once; these are loaded by the first call that uses them. */
const LATER = new Set(
  ['fs/promises', 'http', 'readline', 'timers/promises', 'worker_threads', 'zlib'].map((name) => `node:${name}`),
)

function later(load: () => object): object {
  let module: object | null = null
  return new Proxy({}, { get: (_, name) => Reflect.get((module ??= load()), name) as unknown })
}

/** Null where there is no state directory, or where `CERITH_CODE_CACHE=0` says so. */
function nameOfCache(file: string, purpose: string): string | null {
  if (process.env['CERITH_CODE_CACHE'] === '0') return null
  const name = `${purpose}-${basename(file, '.cjs')}-${process.version}-${process.arch}`
  return attempt(() => join(stateDirectory(), 'code', `${name}${flags()}-${build()}-${placeOf(file)}`), null)
}

/** Kept code names the file that it was compiled from: traces of two installations would name the same one. */
function placeOf(file: string): string {
  let sum = 0
  for (const byte of Buffer.from(dirname(file))) sum = (sum * 31 + byte) >>> 0
  return sum.toString(36)
}

/**
 * Two builds of one version (a distribution's and Node's own, in one home) have other objects where code names them.
 */
function build(): string {
  return statSync(process.execPath).size.toString(36)
}

/** V8 takes no code that was compiled under other options. */
function flags(): string {
  if (process.execArgv.length === 0 && !process.env['NODE_OPTIONS']) return ''
  const { cachedDataVersionTag } = createRequire(import.meta.url)('node:v8') as typeof import('node:v8')
  return `-${cachedDataVersionTag().toString(16)}`
}

/** Code is only taken from a file that this user alone can write, and as it was written. */
function readOwn(path: string): Buffer | undefined {
  let fd: number | null = null
  try {
    fd = openSync(path, 'r')
    const { uid, mode } = fstatSync(fd)
    if (uid !== process.getuid?.() || (mode & 0o022) !== 0) return undefined
    const kept = readFileSync(fd)
    const code = kept.subarray(0, -SUM_BYTES)
    return kept.length > SUM_BYTES && sumOf(code).equals(kept.subarray(-SUM_BYTES)) ? code : undefined
  } catch {
    return undefined
  } finally {
    if (fd !== null) closeSync(fd)
  }
}

/** Written beside and renamed, so that a reader sees a whole file; only into a state directory that exists already. */
function keep(path: string, script: Script, moreThan: number): void {
  try {
    const folder = dirname(path)
    const { uid, mode } = lstatSync(dirname(folder))
    if (uid !== process.getuid?.() || (mode & 0o022) !== 0) return
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const draft = `${path}.${process.pid}`
    const code = script.createCachedData()
    if (code.length <= moreThan) return
    // What is left of a small disk is for sessions and jobs.
    const { bavail, bsize } = statfsSync(folder)
    if (bavail * bsize < MOST_OF_A_DISK * code.length) return
    try {
      writeFileSync(draft, Buffer.concat([code, sumOf(code)]), { mode: 0o600, flag: 'wx' })
      renameSync(draft, path)
    } catch {
      unlinkSync(draft)
    }
    forgetOld(folder)
  } catch {
    // A full or read-only disk: the next call compiles again.
  }
}

/** Of versions that are no longer there. One that is still used is made again. */
function forgetOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    if (Date.now() - statSync(file).mtimeMs > FORGET_AFTER_MS) unlinkSync(file)
  }
}
