/**
 * What a terminal costs: a run on one against a run on pipes, an echo, a flood, a screen, and the time until a prompt
 * is reported.
 */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { JobScreen } from '../src/engine/terminal/screen.js'
import { createEngine } from '../src/index.js'
import { compare } from './lib/ratio.js'

const stateDir = mkdtempSync(join(tmpdir(), 'cerith-bench-'))
const engine = await createEngine({ stateDir })
const rounds = Number(process.env['ROUNDS'] ?? 100)
const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
const tell = (name: string, value: string): void => console.log(`${name.padEnd(44)} ${value}`)

await compare(
  'a run of `true`',
  [
    ['on pipes', () => engine.run({ command: 'true' })],
    ['on a terminal', () => engine.run({ command: 'true', pty: true })],
  ],
  rounds,
)

const job = await engine.start({ command: 'stty raw; cat', pty: true })
await job.wait({ idleMs: 200, timeoutMs: 5_000 })
const echoes: number[] = []
for (let round = 0; round < rounds; round++) {
  const { total } = (await job.info()).bytes
  const began = performance.now()
  await job.send({ text: `mark${round};` })
  await job.wait({ until: new RegExp(`mark${round};`), since: total, timeoutMs: 5_000 })
  echoes.push(performance.now() - began)
}
await job.kill({ graceMs: 0 })
tell('from send to its echo, median', `${median(echoes).toFixed(1)} ms`)

const before = process.memoryUsage().rss
const began = performance.now()
const flood = await engine.run({ command: 'yes 0123456789abcdef0123456789abcdef | head -c 200000000', pty: true })
tell(
  'a flood of 200 MB through a terminal',
  `${(200 / ((performance.now() - began) / 1_000)).toFixed(0)} MB/s, ${((process.memoryUsage().rss - before) / 1_048_576).toFixed(0)} MB resident more, ${flood.status}`,
)

const dir = mkdtempSync(join(stateDir, 'screen-'))
writeFileSync(join(dir, 'output.log'), '\x1b[32mcolour\x1b[0m and a line of ordinary text\r\n'.repeat(80_000))
const drawn = performance.now()
await new JobScreen({ dir, size: { cols: 120, rows: 40 }, mask: (text) => text }).look()
tell('a screen from 3.5 MB of output, first look', `${(performance.now() - drawn).toFixed(0)} ms`)

const reports: number[] = []
for (let round = 0; round < 5; round++) {
  const asked = performance.now()
  const outcome = await engine.run({ command: 'read -r -p "Sure? " a', pty: true, reportInput: true })
  reports.push(performance.now() - asked)
  await (await engine.job(outcome.id as string)).kill({ graceMs: 0 })
}
tell('until a question is reported, median', `${median(reports).toFixed(0)} ms`)

const descriptors = (): number => readdirSync('/proc/self/fd').length
const open = descriptors()
const storm = performance.now()
for (let batch = 0; batch < 50; batch++)
  await Promise.all(
    Array.from({ length: 10 }, (_, at) =>
      engine.run({ command: at % 2 ? 'exit 0' : 'sleep 30', pty: true, timeoutMs: 50, graceMs: 0 }),
    ),
  )
tell(
  '500 terminal runs, half of them killed',
  `${((performance.now() - storm) / 500).toFixed(1)} ms each, ${descriptors() - open} descriptors more`,
)

await engine.close()
rmSync(stateDir, { recursive: true, force: true })
