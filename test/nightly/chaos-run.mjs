// Ten minutes of chaos with a seed per minute: `node test/nightly/chaos-run.mjs [minutes] [seed]`. Exit 1 names the
// seed that found something.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'

const here = dirname(fileURLToPath(import.meta.url))
const [minutes = 10, firstSeed = Date.now() % 1e9] = process.argv.slice(2).map(Number)
const root = join(here, '..', '..')
// Beside the sources, so that the paths of the helper and of the fixtures hold.
const file = join(root, 'test', 'engine', `.chaos-${process.pid}.mjs`)
const bundle = await rolldown({
  cwd: root,
  input: join(here, 'chaos.ts'),
  platform: 'node',
  external: [/^node:/, 'rolldown', 're2js', 'unbash'],
  logLevel: 'silent',
})
await bundle.write({ file, format: 'esm', codeSplitting: false })
process.once('exit', () => rmSync(file, { force: true }))
let failed = false
try {
  const { runChaos } = await import(pathToFileURL(file).href)
  for (let minute = 0; minute < minutes && !failed; minute++) {
    const seed = firstSeed + minute
    const stateDir = mkdtempSync(join(tmpdir(), 'cerith-chaos-'))
    try {
      console.log(JSON.stringify(await runChaos({ seconds: 60, seed, stateDir })))
      rmSync(stateDir, { recursive: true, force: true })
    } catch (error) {
      failed = true
      console.error(`seed ${seed}, state kept in ${stateDir}: ${error.stack}`)
    }
  }
} finally {
  rmSync(file, { force: true })
}
process.exit(failed ? 1 : 0)
