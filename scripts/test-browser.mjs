// The page in a real browser: Debian's chromium, installed here where that is possible; skipped
// with a word where it is not.
//   npm run test:browser [-- --smoke] [-- words for vitest]
// --smoke: what a landing waits for, in under 90 seconds. Pictures of every view are left in
// test/browser/shots; with --docs those of docs/ui.md are made anew.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ensure, root } from './ensure.mjs'

ensure()
const places = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const find = () => places.find((path) => path && existsSync(path))
const mayInstall = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get') && process.env.CERITH_NO_APT !== '1'
if (!find() && mayInstall) {
  console.error('cerith: installing chromium for the browser tests (once) ...')
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  spawnSync('apt-get', ['update', '-qq'], { stdio: 'ignore', env, timeout: 60_000 })
  const words = ['install', '-y', '-qq', '--no-install-recommends', 'chromium']
  spawnSync('apt-get', words, { stdio: 'ignore', env, timeout: 240_000 })
}
const chromium = find()
if (!chromium) {
  console.log('Skipped: no Chromium here. Install it (apt-get install chromium) or set CHROMIUM to its path.')
  process.exit(0)
}
const given = process.argv.slice(2)
const isSmoke = given.includes('--smoke')
const words = given.filter((word) => word !== '--smoke' && word !== '--docs')
const files = isSmoke ? ['page', 'budgets'] : []
const startedAt = performance.now()
const { status } = spawnSync(
  'npx',
  ['vitest', 'run', '--config', 'test/browser/vitest.config.ts', ...files, ...words],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      CHROMIUM: chromium,
      CERITH_ROOT: join(root),
      CERITH_SMOKE: isSmoke ? '1' : '',
      CERITH_DOCS: given.includes('--docs') ? '1' : '',
    },
  },
)
const seconds = Math.round((performance.now() - startedAt) / 1_000)
console.log(
  `${isSmoke ? 'The smoke of the browser tests' : 'The browser tests'} took ${Math.floor(seconds / 60)} min ${seconds % 60} s.`,
)
process.exitCode = status ?? 1
