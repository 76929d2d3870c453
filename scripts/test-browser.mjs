// The page in a real browser: Debian's chromium, installed here where that is possible; skipped with a word where it is not.
//   npm run test:browser [-- words for vitest]
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ensure, root } from './ensure.mjs'

ensure()
const places = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const find = () => places.find((path) => path && existsSync(path))
if (!find() && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
  console.error('cerith: installing chromium for the browser tests (once) ...')
  const quiet = { stdio: 'ignore', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, timeout: 300_000 }
  spawnSync('apt-get', ['update', '-qq'], quiet)
  spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], quiet)
}
const chromium = find()
if (!chromium) {
  console.log('Skipped: no Chromium here. Install it (apt-get install chromium) or set CHROMIUM to its path.')
  process.exit(0)
}
const words = ['vitest', 'run', '--config', 'test/browser/vitest.config.ts', ...process.argv.slice(2)]
const { status } = spawnSync('npx', words, {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, CHROMIUM: chromium, CERITH_ROOT: join(root) },
})
process.exitCode = status ?? 1
