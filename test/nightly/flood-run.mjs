// 10 GB through one job, and how fast: `node test/nightly/flood-run.mjs [GB]`. Needs a build (dist/).
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine } from '../../dist/index.js'

const gigabytes = Number(process.argv[2] ?? 10)
const stateDir = mkdtempSync(join(tmpdir(), 'cerith-flood-'))
const engine = await createEngine({ stateDir })
const begin = performance.now()
const job = await engine.start({ command: `head -c ${gigabytes}G /dev/zero`, streams: 'merged' })
const { info } = await job.wait()
const seconds = (performance.now() - begin) / 1_000
const dir = join(stateDir, 'jobs', job.id)
const onDisk = readdirSync(dir).reduce((sum, name) => sum + statSync(join(dir, name)).size, 0)
const right = info.status === 'completed' && info.bytes.total === gigabytes * 2 ** 30 && onDisk < 65 * 2 ** 20
console.log(
  `${gigabytes} GB in ${seconds.toFixed(1)} s (${Math.round((gigabytes * 1_024) / seconds)} MB/s), ${Math.round(onDisk / 2 ** 20)} MB on disk, ${info.bytes.omitted} bytes omitted, engine ${Math.round(process.memoryUsage().rss / 1e6)} MB: ${right ? 'right' : 'WRONG'}`,
)
await engine.close()
rmSync(stateDir, { recursive: true, force: true })
process.exit(right ? 0 : 1)
