/** Finds the native parts that were built with, or shipped in, this package. */
import { accessSync, constants } from 'node:fs'
import { dirname, join } from 'node:path'
import { distFile } from '../package-file.js'

/** The path of an executable helper for this machine, or null (the lower tier is used then). */
export function findHelper(env: NodeJS.ProcessEnv = process.env): string | null {
  if (env['CERITH_HELPER'] === 'none') return null
  const name = `cerith-helper-${process.platform}-${process.arch}`
  const path = env['CERITH_HELPER'] || distFile('native', name)
  try {
    accessSync(path, constants.X_OK)
    return path
  } catch {
    return null // Not here, or it lost its x bit (noexec, an archive tool).
  }
}

/** What a bash may load to start programs with, next to the helper. Older ones than 5 have not been tried. */
export function findShellBuiltin(bashVersion: string, env: NodeJS.ProcessEnv = process.env): string | null {
  const helper = findHelper(env)
  if (helper === null || Number.parseInt(bashVersion, 10) < 5) return null
  const path = join(dirname(helper), `cerith-bash-${process.platform}-${process.arch}.so`)
  try {
    accessSync(path, constants.R_OK)
    return path
  } catch {
    return null
  }
}
