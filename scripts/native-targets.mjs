// What is compiled from native/: the helper, and the builtin that the bash of a session loads.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const native = join(root, 'native')

export const destination = join(root, 'dist', 'native')
export const helperSources = filesIn('.c')
export const builtinSource = join(native, 'bash', 'cerith.c')

/** Every file that decides what the helper and the builtin become. */
export const allSources = [...helperSources, ...filesIn('.h'), builtinSource]

/** For both: warnings as in an editor, no symbols. Speed counts in the masker, so not `-Os`. */
export const COMMON = ['-O2', '-Wall', '-Wextra', '-s']

/**
 * Without any library: what the builtin needs is in the bash that loads it, and is looked up at once (`-z now`) or not
 * loaded. It stays when a command says `enable -d` (`-z nodelete`): the command itself may have been started by it.
 */
export const BUILTIN = ['-fPIC', '-fno-stack-protector', '-U_FORTIFY_SOURCE']

/**
 * Blanks, comments and long names of variables are left out, which every start would have to
 * read; functions keep theirs, for stack traces.
 */
export const SMALL_SCRIPT = { compress: true, mangle: { keepNames: { function: true, class: true } } }

export const helperName = (platform, arch) => `cerith-helper-${platform}-${arch}`
export const builtinName = (platform, arch) => `cerith-bash-${platform}-${arch}.so`

/** The same for the same sources, whatever they are called by the machine that compiles them. */
export function digestOfSources() {
  const hash = createHash('sha256')
  for (const file of allSources) hash.update(readFileSync(file)).update('\0')
  return hash.digest('hex')
}

function filesIn(extension) {
  return readdirSync(native)
    .filter((name) => name.endsWith(extension))
    .sort()
    .map((name) => join(native, name))
}
