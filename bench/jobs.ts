/** What a job costs: its start against a plain detached spawn, a thousand of them at once, and asking about them. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine, type Job } from '../src/index.js'
import { compare } from './lib/ratio.js'

const stateDir = mkdtempSync(join(tmpdir(), 'cerith-bench-'))
const engine = await createEngine({ stateDir, limits: { maxRunningJobs: 2_000 } })
const rounds = Number(process.env['ROUNDS'] ?? 100)

/** Back as soon as the child is there, as a host would do it: output to a file, not waited for. */
function detached(): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', 'true'], { detached: true, stdio: 'ignore' })
    child.once('spawn', () => resolve())
    child.once('error', reject)
    child.unref()
  })
}

await compare(
  'start',
  [
    ['detached spawn', detached],
    ['engine.start', () => engine.start({ command: 'true' })],
  ],
  rounds,
)
const ballast = Buffer.alloc(1_000_000_000, 1)
await compare(
  'start in a host of 1 GB',
  [
    ['detached spawn', detached],
    ['engine.start', () => engine.start({ command: 'true' })],
  ],
  Math.min(rounds, 30),
)
ballast.fill(0, 0, 1)

const many = Number(process.env['JOBS'] ?? 1_000)
const ended = new Set<string>()
let wake: () => void = () => {}
engine.onJobEvent((event) => {
  if (event.kind !== 'ended') return
  ended.add(event.info.id)
  wake()
})
// Nothing else keeps the process alive while it only listens.
const alive = setInterval(() => {}, 1_000)
const begin = performance.now()
const jobs: Job[] = await Promise.all(
  Array.from({ length: many }, () => engine.start({ command: 'sleep 1; echo done' })),
)
const startedMs = performance.now() - begin
const wardens = readdirSync('/proc').filter(
  (pid) => /^\d+$/.test(pid) && read(`/proc/${pid}/comm`) === 'cerith-warden\n',
)
const memory = wardens
  .slice(0, 50)
  .map((pid) => Number(/Pss:\s+(\d+)/.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0))
while (!jobs.every(({ id }) => ended.has(id))) await new Promise<void>((resolve) => (wake = resolve))
const allMs = performance.now() - begin
clearInterval(alive)
console.log(`${many} jobs of 1 s: started in ${Math.round(startedMs)} ms, known finished after ${Math.round(allMs)} ms`)
console.log(
  `a job's keeper: 1 process, ${Math.round(memory.reduce((sum, one) => sum + one, 0) / Math.max(1, memory.length))} KB (Pss); engine ${Math.round((process.memoryUsage().rss - ballast.length) / 1e6)} MB`,
)
await time('list, first time', async () => engine.jobs({ all: true }))
await time('list, again', async () => engine.jobs({ all: true }))
await time('find + status of one', async () => (await engine.job(jobs[500]?.id ?? '')).info())
await time('read of one', async () => jobs[501]?.read())
await engine.close()
rmSync(stateDir, { recursive: true, force: true })

async function time(name: string, work: () => Promise<unknown>): Promise<void> {
  const at = performance.now()
  await work()
  console.log(`${name}: ${(performance.now() - at).toFixed(2)} ms`)
}

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}
