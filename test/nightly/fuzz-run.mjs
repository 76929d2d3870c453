// The differential fuzzer of sessions against a plain bash, long and with a seed of its own: `node
// test/nightly/fuzz-run.mjs [runs] [seed]`. A failure is shrunk and names its seed; `CERITH_SEED=n npx vitest run
// test/engine/session/fuzz.test.ts` shows it again.
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const [runs = '1500', seed = String(Date.now() % 1e9)] = process.argv.slice(2)
console.log(`fuzz: ${runs} stories of each kind, seed ${seed}`)
const { status } = spawnSync(
  process.execPath,
  [join(root, 'node_modules/vitest/vitest.mjs'), 'run', 'test/engine/session/fuzz.test.ts'],
  { cwd: root, stdio: 'inherit', env: { ...process.env, CERITH_FUZZ_RUNS: runs, CERITH_SEED: seed } },
)
process.exit(status ?? 1)
