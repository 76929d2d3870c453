// `npm test [-- vitest arguments]`: the whole suite with coverage, on a clone with nothing done before it.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { installDebianPackages } from './debian.mjs'
import { ensure, root } from './ensure.mjs'

installDebianPackages()
ensure()
const given = process.argv.slice(2)
const vitest = spawn(
  process.execPath,
  [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...(given.length > 0 ? given : ['--coverage'])],
  { cwd: root, stdio: 'inherit' },
)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => vitest.kill(signal))
vitest.on('exit', (code, signal) => (process.exitCode = code ?? (signal ? 1 : 0)))
