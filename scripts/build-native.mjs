// Compiles the native helper when a C compiler is there; without one cerith still works, on its lower tier.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, renameSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const sources = readdirSync(join(root, 'native'))
  .filter((name) => name.endsWith('.c'))
  .map((name) => join(root, 'native', name))
const target = join(root, 'dist', 'native', `cerith-helper-${process.platform}-${process.arch}`)

// The lower tier's helper is plain JavaScript and goes along everywhere.
mkdirSync(dirname(target), { recursive: true })
copyFileSync(join(root, 'native', 'plain-helper.mjs'), join(dirname(target), 'plain-helper.mjs'))

if (process.platform !== 'linux') {
  console.error('cerith: the native helper is for Linux; the lower tier is used here.')
  process.exit(0)
}
const newest = Math.max(...sources.map((file) => statSync(file).mtimeMs), statSync(join(root, 'native', 'helper.h')).mtimeMs)
const built = statSync(target, { throwIfNoEntry: false })
if (built && built.mtimeMs >= newest && !process.argv.includes('--force')) process.exit(0)
const staged = `${target}.${process.pid}`

// A static musl binary is the smallest (about 100 KB) and runs on every distribution; glibc's static one is next best.
for (const [compiler, ...flags] of [['musl-gcc', '-static'], ['cc', '-static'], ['gcc', '-static'], ['cc'], ['gcc']]) {
  const result = spawnSync(compiler, ['-O2', '-Wall', '-Wextra', '-s', ...flags, '-o', staged, ...sources], { encoding: 'utf8' })
  if (result.status !== 0) continue
  // Renamed into place: an engine that starts meanwhile finds the old helper or the new one, never half of one.
  renameSync(staged, target)
  process.exit(0)
}
console.error('cerith: no C compiler found; the native helper was not built and the lower tier will be used (see `cerith doctor`).')
