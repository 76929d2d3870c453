// Bundles a benchmark and runs it: `node bench/run.mjs NAME...`, or `all`.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawnSync } from 'node:child_process'
import { rolldown } from 'rolldown'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const known = readdirSync(join(root, 'bench'))
  .filter((name) => name.endsWith('.ts'))
  .map((name) => name.slice(0, -3))
const asked = process.argv.slice(2).filter((name) => !name.startsWith('-'))
const names = asked.length === 0 || asked.includes('all') ? known : asked
for (const name of names)
  if (!known.includes(name)) throw new Error(`No benchmark ${name}; there are: ${known.join(', ')}`)

spawnSync(process.execPath, [join(root, 'scripts/build-native.mjs')], { stdio: 'inherit' })
// Inside the repository, so that bare imports find node_modules.
const out = mkdtempSync(join(root, 'dist', '.bench-'))
try {
  for (const name of names) {
    const bundle = await rolldown({
      cwd: root,
      input: `bench/${name}.ts`,
      platform: 'node',
      tsconfig: false,
      external: [/^node:/, '@xterm/headless', '@napi-rs/keyring', '@opentelemetry/api'],
      onLog: () => {},
    })
    await bundle.write({ dir: join(out, name), format: 'esm', entryFileNames: 'main.js' })
    await bundle.close()
    console.log(`\n== ${name}`)
    const helper = join(root, 'dist', 'native', `cerith-helper-${process.platform}-${process.arch}`)
    const { status } = spawnSync(process.execPath, ['--expose-gc', join(out, name, 'main.js')], {
      stdio: 'inherit',
      env: { ...process.env, CERITH_HELPER: process.env.CERITH_HELPER ?? helper },
    })
    if (status !== 0) process.exitCode = 1
  }
} finally {
  rmSync(out, { recursive: true, force: true })
}
