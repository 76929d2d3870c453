/** Files of this package, found from wherever this code stands: a script in dist/, a chunk below it, or a source. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { attempt } from '../../contract/attempt.js'

interface Package {
  readonly root: string
  readonly version: string
}

let found: Package | null | undefined

/** Null inside an application that was bundled into one file: its folder is all there is then. */
function ownPackage(): Package | null {
  if (found !== undefined) return found
  for (let folder = here(); folder !== dirname(folder); folder = dirname(folder)) {
    const file = join(folder, 'package.json')
    if (!existsSync(file)) continue
    const { name, version } = JSON.parse(readFileSync(file, 'utf8')) as { name?: string; version?: string }
    return (found = name === 'cerith' && version ? { root: folder, version } : null)
  }
  return (found = null)
}

export function ownVersion(): string {
  return ownPackage()?.version ?? 'unknown'
}

/** A path below dist/ (or beside the bundle that this code became part of); it need not exist. */
export function distFile(...path: readonly string[]): string {
  const root = ownPackage()?.root
  return root === undefined ? join(here(), ...path) : join(root, 'dist', ...path)
}

/** What is loaded from other packages, and only when it is needed. */
const LATER = '@xterm/headless'

/** What an engine starts or loads after its first command: its own files, and those of other packages. */
export function codeOfLater(): string[] {
  const root = ownPackage()?.root
  const own = root === undefined ? join(here(), 'native') : join(root, 'dist')
  const entry = attempt(() => createRequire(import.meta.url).resolve(LATER), '')
  const at = entry.lastIndexOf(`/${LATER}/`)
  return [own, ...(at < 0 ? [] : [entry.slice(0, at + LATER.length + 1)])].filter((path) => existsSync(path))
}

function here(): string {
  return dirname(fileURLToPath(import.meta.url))
}
