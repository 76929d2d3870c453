// Makes a clone ready to use: installs what is missing, builds what is stale. Silent when there is nothing to do.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/**
 * `npm ci` when an installed package is missing or of another version, then a build when a source is newer than dist/.
 */
export function ensure({ types = false } = {}) {
  checkNode()
  if (!isInstalled()) {
    console.error('cerith: installing packages (first run only) ...')
    run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'])
  }
  run(process.execPath, ['scripts/build.mjs', '--if-stale', ...(types ? [] : ['--no-types'])])
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return
  console.error(`cerith needs Node 20.19 or newer; this is ${process.version}.`)
  process.exit(1)
}

/** Compares versions, not dates: a checkout touches the lock file without changing it. */
function isInstalled() {
  const lockFile = join(root, 'package-lock.json')
  if (!existsSync(lockFile)) return existsSync(join(root, 'node_modules'))
  try {
    const wanted = JSON.parse(readFileSync(lockFile, 'utf8')).packages
    const present = JSON.parse(readFileSync(join(root, 'node_modules', '.package-lock.json'), 'utf8')).packages
    return Object.entries(wanted).every(
      ([path, { version, optional, peer }]) => path === '' || optional || peer || present[path]?.version === version,
    )
  } catch {
    return false
  }
}

function run(command, args) {
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] })
  if (result.status === 0) return
  console.error(
    `cerith: \`${command} ${args.join(' ')}\` failed${result.error ? `: ${result.error.message}` : ` with ${result.status ?? result.signal}`}`,
  )
  process.exit(1)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) ensure({ types: process.argv.includes('--types') })
