/** How fast output comes through, and what it costs in memory: against Node's own pipes. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine } from '../src/index.js'
import { compare, print } from './lib/ratio.js'

const stateDir = mkdtempSync(join(tmpdir(), 'cerith-bench-'))
const engine = await createEngine({ stateDir, limits: { storedBytes: 8 * 1024 * 1024 } })
const gc = (globalThis as { gc?: () => void }).gc ?? (() => {})

async function measured(
  name: string,
  run: () => Promise<unknown>,
): Promise<{ name: string; p50: number; p95: number }> {
  const times: number[] = []
  let grown = 0
  for (let round = 0; round < 5; round++) {
    gc()
    const before = process.memoryUsage().rss
    let peak = before
    const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5)
    const began = performance.now()
    await run()
    times.push(performance.now() - began)
    clearInterval(timer)
    grown = Math.max(grown, peak - before)
  }
  times.sort((a, b) => a - b)
  return { name: `${name} (+${(grown / 1024 ** 2).toFixed(0)} MB)`, p50: times[2] as number, p95: times[4] as number }
}

function plain(command: string): Promise<unknown> {
  return new Promise((resolve) => {
    const child = spawn('bash', ['-c', command])
    child.stdout.on('data', () => {})
    child.on('close', resolve)
  })
}

const gigabyte = 'head -c 1G /dev/zero'
await plain('head -c 100M /dev/zero')
await engine.run({ command: 'head -c 100M /dev/zero' })
print('1 GB of output', [
  await measured('spawn, chunks dropped', () => plain(gigabyte)),
  await measured('engine.run', () => engine.run({ command: gigabyte })),
])

function collected(command: string): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn('bash', ['-c', command])
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.on('close', () => resolve(Buffer.concat(chunks).toString().slice(0, 30_000)))
  })
}
/** The command line into a pipe, as in `cerith run ... | less`, against the shell itself. */
const cli = JSON.stringify(join(process.cwd(), 'dist', 'cli.cjs'))
const piped = (line: string) => async (): Promise<void> => {
  const { status } = spawnSync('bash', ['-c', `set -o pipefail; ${line} | cat > /dev/null`], {
    env: { ...process.env, CERITH_HOME: stateDir, NODE: process.execPath },
  })
  if (status !== 0) throw new Error(`${line} ended with ${status}`)
}
await compare(
  '1 GiB into a pipe',
  [
    ['bash -c', piped(`bash -c '${gigabyte}'`)],
    ['cerith run', piped(`"$NODE" ${cli} run '${gigabyte}'`)],
  ],
  7,
)

const ten = 'head -c 10M /dev/zero | tr "\\0" x'
await compare(
  '10 MB into a result of 30,000 characters',
  [
    ['spawn, collect, cut', () => collected(ten)],
    ['engine.run', () => engine.run({ command: ten, clip: { kind: 'head', maxChars: 30_000 } })],
  ],
  20,
)
await engine.close()
rmSync(stateDir, { recursive: true, force: true })
