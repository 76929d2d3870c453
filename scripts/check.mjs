// `npm run check`: everything a change must pass, each step with its time; goes on after a
// failure and says all of them.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { ensure, root } from './ensure.mjs'

const bin = (name) => join(root, 'node_modules', '.bin', name)
const STEPS = [
  ['format', bin('oxfmt'), ['--check']],
  ['lint', bin('oxlint'), ['--type-aware']],
  ['types', bin('tsc'), ['-p', 'tsconfig.json', '--noEmit']],
  ['types of the page', bin('tsc'), ['-p', 'src/web/page', '--noEmit']],
  ['types of its tests', bin('tsc'), ['-p', 'test/browser', '--noEmit']],
  ['pure rooms', bin('tsc'), ['-p', 'tsconfig.pure.json', '--noEmit']],
  ['build', process.execPath, ['scripts/build.mjs']],
  ['docs', process.execPath, ['scripts/docs.mjs', '--check']],
  ['unused', bin('knip'), []],
  ['publint', bin('publint'), ['--strict']],
  ['tests', process.execPath, ['scripts/test.mjs']],
]

ensure()
const only = process.argv.slice(2)
const failed = []
for (const [name, command, args] of STEPS) {
  if (only.length > 0 && !only.includes(name)) continue
  const startedAt = performance.now()
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' })
  console.log(
    `${status === 0 ? 'ok    ' : 'FAILED'} ${String(name)} (${((performance.now() - startedAt) / 1_000).toFixed(1)} s)`,
  )
  if (status !== 0) failed.push(name)
}
if (failed.length > 0) console.error(`Failed: ${failed.join(', ')}`)
process.exitCode = failed.length === 0 ? 0 : 1
