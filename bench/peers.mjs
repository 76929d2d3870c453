// cerith beside the libraries people use for this, in one interleaved run: `node bench/peers.mjs`.
// The peers are installed into a folder of the system's temporary directory, never into this project.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const cache = join(tmpdir(), 'cerith-bench-peers')
const wanted = ['execa@9', 'zx@8', 'tinyexec@1', 'nano-spawn@1', '@lydell/node-pty@1.1.0', '@anthropic-ai/sdk@1.8.0']
mkdirSync(cache, { recursive: true })
if (!existsSync(join(cache, 'package.json'))) writeFileSync(join(cache, 'package.json'), '{"private":true}')
spawnSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', cache, ...wanted], {
  stdio: 'ignore',
})
spawnSync(process.execPath, [join(root, 'scripts/build.mjs'), '--if-stale', '--no-types'], { stdio: 'inherit' })

const require = createRequire(join(cache, 'package.json'))
const load = async (name) => {
  try {
    return await import(pathToFileURL(require.resolve(name)).href)
  } catch (error) {
    console.log(`  ${name}: not measured (${error.code ?? error.message})`)
    return null
  }
}

const { createEngine } = await import(pathToFileURL(join(root, 'dist/index.js')).href)
const stateDir = mkdtempSync(join(tmpdir(), 'cerith-bench-'))
const engine = await createEngine({ stateDir })
const session = await engine.session()
const plain = (command) =>
  new Promise((resolve) => {
    const child = spawn('bash', ['-c', command])
    child.stdout.on('data', () => {})
    child.on('close', resolve)
  })

const runs = [
  ['plain spawn bash -c', plain],
  ['cerith session.run', (command) => session.run({ command })],
  ['cerith engine.run', (command) => engine.run({ command })],
]
const [execa, zx, tinyexec, nano, pty, toolset] = [
  await load('execa'),
  await load('zx'),
  await load('tinyexec'),
  await load('nano-spawn'),
  await load('@lydell/node-pty'),
  await load('@anthropic-ai/sdk/tools/agent-toolset/node'),
]
if (execa) runs.push(['execa 9', (command) => execa.execa('bash', ['-c', command])])
if (zx) runs.push(['zx 8', (command) => zx.$({ quiet: true })`bash -c ${command}`])
if (tinyexec) runs.push(['tinyexec 1', async (command) => tinyexec.x('bash', ['-c', command])])
if (nano) runs.push(['nano-spawn 1', (command) => nano.default('bash', ['-c', command])])
if (pty)
  runs.push([
    'node-pty (lydell)',
    (command) => new Promise((resolve) => (pty.default ?? pty).spawn('bash', ['-c', command], {}).onExit(resolve)),
  ])
let shell = null
if (toolset) {
  shell = new (toolset.BashSession ?? toolset.default.BashSession)(stateDir)
  runs.push(['Anthropic SDK BashSession', (command) => shell.exec(command)])
}

for (const command of [':', '/bin/true']) {
  const times = runs.map(() => [])
  for (const [, run] of runs) for (let at = 0; at < 3; at++) await run(command)
  for (let round = 0; round < 150; round++) {
    for (const [index, [, run]] of runs.entries()) {
      const began = performance.now()
      await run(command)
      times[index].push(performance.now() - began)
    }
  }
  const p = (values, share) => [...values].sort((a, b) => a - b)[Math.floor(values.length * share)]
  const base = p(times[0], 0.5)
  console.log(`\n\`${command}\``)
  for (const [index, [name]] of runs.entries())
    console.log(
      `  ${name.padEnd(28)} p50 ${p(times[index], 0.5).toFixed(3).padStart(8)} ms   p95 ${p(times[index], 0.95).toFixed(3).padStart(8)} ms   ${(p(times[index], 0.5) / base).toFixed(3)}x`,
    )
}
shell?.close()
await engine.close()
rmSync(stateDir, { recursive: true, force: true })
process.exit(0)
