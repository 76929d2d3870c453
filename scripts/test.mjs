// `npm test [-- vitest arguments]`: the whole suite with coverage, on a clone with nothing done before it.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { installDebianPackages } from './debian.mjs'
import { ensure, root } from './ensure.mjs'

installDebianPackages()
ensure()
const given = process.argv.slice(2)
// The face of the engine once more, through frames: a few files that together use every method.
const FACE = [
  'engine/approvals',
  'engine/session/calls',
  'engine/job/jobs',
  'engine/job/attach',
  'engine/run/foreground',
  'pty/interactive',
]
const frames = ['-c', 'vitest.loop.config.ts', ...FACE.map((name) => `test/${name}.test.ts`)]
process.exitCode = await run(given.length > 0 ? given : ['--coverage'])
if (given.length === 0) process.exitCode ||= await run(frames)

function run(words) {
  const program = join(root, 'node_modules/vitest/vitest.mjs')
  const vitest = spawn(process.execPath, [program, 'run', ...words], { cwd: root, stdio: 'inherit' })
  const stops = ['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => [signal, () => vitest.kill(signal)])
  for (const [signal, stop] of stops) process.on(signal, stop)
  return new Promise((resolve) => {
    vitest.on('exit', (code, signal) => {
      for (const [name, stop] of stops) process.off(name, stop)
      resolve(code ?? (signal ? 1 : 0))
    })
  })
}
