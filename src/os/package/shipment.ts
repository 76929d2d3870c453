/** The built files of this package that another machine needs to run an engine. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { attempt } from '../../contract/attempt.js'
import { distFile, ownVersion } from './file.js'

export interface PackageFile {
  /** Relative, with `/`. */
  readonly path: string
  readonly mode: number
  readonly bytes: Uint8Array
  /** What kind of machine it was compiled for, where it was. */
  readonly architecture?: string
}

/** The directory of the built package, or null in a checkout that was never built. */
export function builtPackage(): string | null {
  const file = distFile('far.js')
  return existsSync(file) ? dirname(file) : null
}

/** When the entry was built: the same time is the same files. */
export function builtAt(dist: string): number {
  return statSync(join(dist, 'far.js')).mtimeMs
}

/** How the built files name each other. */
const NAMED = /["'`](\.\/[\w./-]+\.c?js)["'`]/g

/** The helper and the builtin, named for the machines they are for. */
const COMPILED = /^cerith-(?:helper|bash)-linux-(\w+)(?:\.so)?$/

/**
 * `far.js` and the thread of its guard, every script they can reach, the native parts, and the
 * terminal emulator where it is installed.
 */
export function farFiles(dist: string): PackageFile[] {
  const about = JSON.stringify({ name: 'cerith', version: ownVersion(), type: 'module' })
  const files: PackageFile[] = [{ path: 'package.json', mode: 0o600, bytes: Buffer.from(about) }]
  const seen = new Set<string>()
  const add = (file: string): void => {
    if (seen.has(file)) return
    seen.add(file)
    const bytes = readFileSync(file)
    files.push({ path: `dist/${relative(dist, file)}`, mode: 0o600, bytes })
    for (const [, target] of bytes.toString('utf8').matchAll(NAMED)) {
      const next = join(dirname(file), target as string)
      if (existsSync(next)) add(next)
    }
  }
  add(join(dist, 'far.js'))
  if (existsSync(join(dist, 'guard.js'))) add(join(dist, 'guard.js'))
  for (const name of readdirSync(join(dist, 'native')).filter((each) => !each.startsWith('.'))) {
    const file = { path: `dist/native/${name}`, mode: 0o700, bytes: readFileSync(join(dist, 'native', name)) }
    const architecture = COMPILED.exec(name)?.[1]
    files.push(architecture ? { ...file, architecture } : file)
  }
  return [...files, ...terminalFiles()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

function terminalFiles(): PackageFile[] {
  // Screens are done without where it is not installed.
  return attempt(() => {
    const root = dirname(createRequire(import.meta.url).resolve('@xterm/headless/package.json'))
    return ['package.json', 'lib-headless/xterm-headless.js'].map((name) => ({
      path: `node_modules/@xterm/headless/${name}`,
      mode: 0o600,
      bytes: readFileSync(join(root, name)),
    }))
  }, [])
}

/** Which architectures the native helper was built for. */
export function helperPlatforms(dist: string): readonly string[] {
  return readdirSync(join(dist, 'native')).flatMap((name) => /^cerith-helper-linux-(\w+)$/.exec(name)?.[1] ?? [])
}
