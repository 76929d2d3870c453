// Compiles the native helper for this machine when a C compiler is there; without one cerith
// still works, on its lower tier.
// `scripts/prebuild.mjs` compiles it for all machines, for the published package.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { minifySync } from 'rolldown/utils'
import * as native from './native-targets.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
mkdirSync(native.destination, { recursive: true })
// Both are plain JavaScript and go along everywhere: the lower tier's helper, and the way out
// of a sandbox with an allow-list.
for (const name of ['plain-helper.mjs', 'sandbox-proxy.mjs']) {
  const { code } = minifySync(name, readFileSync(join(root, 'native', name), 'utf8'), native.SMALL_SCRIPT)
  writeFileSync(join(native.destination, name), code)
}

if (process.platform !== 'linux') {
  console.error('cerith: the native helper is for Linux; the lower tier is used here.')
  process.exit(0)
}
const newest = Math.max(...native.allSources.map((file) => statSync(file).mtimeMs))
// A static musl binary is the smallest (about 120 KB) and runs on every distribution; glibc's static one is next best.
const helperCompilers = [['musl-gcc', '-static'], ['cc', '-static'], ['gcc', '-static'], ['cc'], ['gcc']]
const links = ['-shared', '-nostdlib', '-Wl,-z,now', '-Wl,-z,nodelete']
const builtinCompilers = ['cc', 'gcc'].map((cc) => [cc, ...links, ...native.BUILTIN])

if (!compile(native.helperName('linux', process.arch), native.helperSources, helperCompilers))
  console.error(
    'cerith: no C compiler found; the native helper was not built and the lower tier will be used (see `cerith doctor`).',
  )
// Sessions do without it, a little slower.
else if (!compile(native.builtinName('linux', process.arch), [native.builtinSource], builtinCompilers))
  console.error('cerith: the builtin for the shells of sessions could not be built; they start programs by themselves.')

function compile(name, sources, compilers) {
  const target = join(native.destination, name)
  const built = statSync(target, { throwIfNoEntry: false })
  if (built && built.mtimeMs >= newest && !process.argv.includes('--force')) return true
  const staged = `${target}.${process.pid}`
  for (const [compiler, ...flags] of compilers) {
    const words = [...native.COMMON, ...flags, '-o', staged, ...sources]
    if (spawnSync(compiler, words, { encoding: 'utf8' }).status !== 0) continue
    // Renamed into place: an engine that starts meanwhile finds the old file or the new one, never half of one.
    renameSync(staged, target)
    return true
  }
  return false
}
