// `npm test [-- vitest arguments]`: the whole suite with coverage, on a clone with nothing done before it.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { installDebianPackages } from './debian.mjs'
import { ensure, root } from './ensure.mjs'

installDebianPackages()
ensure()
const given = process.argv.slice(2)
// The face of the engine once more, through frames: all of its tests take some minutes (`npm run test:frames`), so here
// are those of them that together use every method.
const ALL = ['test/engine', 'test/pty', 'test/requirements']
const names = (folder, list) => list.split(' ').map((name) => `test/${folder}/${name}.test.ts`)
const FACE = [
  ...names('engine', 'approvals askpass secret-flow secrets shell-manager plan/fields run/foreground'),
  ...names('engine/session', 'calls fork at-once terminal yield told'),
  ...names('engine/job', 'jobs kill reader input/attach input/prompt'),
  ...names('pty', 'interactive attach-cli'),
  'test/requirements',
]
const throughFrames = (files) => run(['-c', 'vitest.loop.config.ts', ...files])
if (given[0] === '--frames') process.exitCode = await throughFrames(given.length > 1 ? given.slice(1) : ALL)
else {
  process.exitCode = await run(given.length > 0 ? given : ['--coverage'])
  if (given.length === 0) process.exitCode ||= await throughFrames(FACE)
}

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
