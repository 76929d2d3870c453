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
// The way out of a sandbox with an allow-list is a process of its own.
copyFileSync(join(root, 'native', 'sandbox-proxy.mjs'), join(dirname(target), 'sandbox-proxy.mjs'))

if (process.platform !== 'linux') {
  console.error('cerith: the native helper is for Linux; the lower tier is used here.')
  process.exit(0)
}
const helper = {
  target,
  sources,
  newest: Math.max(
    ...sources.map((file) => statSync(file).mtimeMs),
    ...['helper.h', 'confine.h'].map((name) => statSync(join(root, 'native', name)).mtimeMs),
  ),
  // A static musl binary is the smallest (about 100 KB) and runs on every distribution; glibc's static one is next best.
  compilers: [['musl-gcc', '-static'], ['cc', '-static'], ['gcc', '-static'], ['cc'], ['gcc']],
}
const builtinSource = join(root, 'native', 'bash', 'cerith.c')
// Without any library: what it needs is in the bash that loads it, and is looked up at once or not loaded.
const builtinFlags = ['-shared', '-fPIC', '-nostdlib', '-fno-stack-protector', '-U_FORTIFY_SOURCE', '-Wl,-z,now']
const builtin = {
  target: join(dirname(target), `cerith-bash-${process.platform}-${process.arch}.so`),
  sources: [builtinSource],
  newest: statSync(builtinSource).mtimeMs,
  compilers: [
    ['cc', ...builtinFlags],
    ['gcc', ...builtinFlags],
  ],
}
if (!compile(helper))
  console.error(
    'cerith: no C compiler found; the native helper was not built and the lower tier will be used (see `cerith doctor`).',
  )
// Sessions do without it, a little slower.
else if (!compile(builtin))
  console.error('cerith: the builtin for the shells of sessions could not be built; they start programs by themselves.')

function compile({ target, sources, newest, compilers }) {
  const built = statSync(target, { throwIfNoEntry: false })
  if (built && built.mtimeMs >= newest && !process.argv.includes('--force')) return true
  const staged = `${target}.${process.pid}`
  for (const [compiler, ...flags] of compilers) {
    const result = spawnSync(compiler, ['-O2', '-Wall', '-Wextra', '-s', ...flags, '-o', staged, ...sources], {
      encoding: 'utf8',
    })
    if (result.status !== 0) continue
    // Renamed into place: an engine that starts meanwhile finds the old file or the new one, never half of one.
    renameSync(staged, target)
    return true
  }
  return false
}
