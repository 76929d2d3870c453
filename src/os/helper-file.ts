/** Finds the native helper that was built with, or shipped in, this package. */
import { accessSync, constants } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The path of an executable helper for this machine, or null (the lower tier is used then). */
export function findHelper(env: NodeJS.ProcessEnv = process.env): string | null {
  if (env['CERITH_HELPER'] === 'none') return null
  const name = `cerith-helper-${process.platform}-${process.arch}`
  // Bundled files stand in dist/, sources two levels below the package.
  const places = env['CERITH_HELPER'] ? [env['CERITH_HELPER']] : [`./native/${name}`, `../native/${name}`, `../../dist/native/${name}`].map((path) => fileURLToPath(new URL(path, import.meta.url)))
  for (const path of places) {
    try {
      accessSync(path, constants.X_OK)
      return path
    } catch {
      // Not here, or it lost its x bit (noexec, an archive tool): try the next place.
    }
  }
  return null
}
