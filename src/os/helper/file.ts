/** Finds the native parts that were built with, or shipped in, this package. */
import { constants, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ShellError } from '../../contract/errors.js'
import { mayAccess } from '../files/quietly.js'
import { distFile } from '../package/file.js'

/** The path of an executable helper for this machine, or null (the lower tier is used then). */
export function findHelper(env: NodeJS.ProcessEnv = process.env): string | null {
  const path = helperPath(env)
  return path !== null && mayAccess(path, constants.X_OK) ? path : null
}

/** Why `findHelper` found none, and what to do about it. */
export function whyNoHelper(env: NodeJS.ProcessEnv = process.env): { readonly what: string; readonly fix: string } {
  const path = helperPath(env)
  if (path === null) return { what: 'switched off by CERITH_HELPER', fix: 'Unset CERITH_HELPER.' }
  const file = statSync(path, { throwIfNoEntry: false })
  if (!file)
    return {
      what: 'not there',
      fix:
        'Install a C compiler and run `npm run build`, or use the published package, which brings the helper for ' +
        'Linux.',
    }
  if ((file.mode & 0o111) === 0) return { what: `${path} may not be executed`, fix: `Run \`chmod +x ${path}\`.` }
  return {
    what: `${path} is on a file system mounted noexec`,
    fix: 'Install the package on another file system, or set CERITH_HELPER to a copy of the helper there.',
  }
}

/** The same as an error: what an engine on the lower tier answers to a wish that only the helper can grant. */
export function needsHelper(code: 'PTY_UNAVAILABLE' | 'SANDBOX_UNAVAILABLE', what: string, otherwise = ''): ShellError {
  const why =
    findHelper() === null
      ? whyNoHelper()
      : { what: 'it did not start, or was not asked for', fix: 'See `cerith doctor`, and `tier` of the engine.' }
  return new ShellError(
    code,
    `${what} needs the native helper of cerith, which cannot be used here (${why.what})`,
    `${why.fix}${otherwise}`,
  )
}

function helperPath(env: NodeJS.ProcessEnv): string | null {
  if (env['CERITH_HELPER'] === 'none') return null
  return env['CERITH_HELPER'] || distFile('native', `cerith-helper-${process.platform}-${process.arch}`)
}

/** What a bash may load to start programs with, next to the helper. Older ones than 5 have not been tried. */
export function findShellBuiltin(bashVersion: string, env: NodeJS.ProcessEnv = process.env): string | null {
  const helper = findHelper(env)
  if (helper === null || Number.parseInt(bashVersion, 10) < 5) return null
  const path = join(dirname(helper), `cerith-bash-${process.platform}-${process.arch}.so`)
  return mayAccess(path, constants.R_OK) ? path : null
}
