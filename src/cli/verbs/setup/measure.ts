/** Measures cerith against plain spawn: interleaved rounds, medians, ratios. A busy machine slows both alike. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Engine, Session } from '../../../contract/engine.js'
import { createEngine } from '../../../engine/engine.js'
import type { Io } from '../../io/io.js'
import { painter } from '../../io/paint.js'

interface Row {
  readonly name: string
  readonly rounds: number
  readonly ours: () => Promise<unknown>
  readonly theirs: () => Promise<unknown>
}

export interface BenchResult {
  readonly name: string
  readonly cerith_ms: { readonly p50: number; readonly p95: number }
  readonly spawn_ms: { readonly p50: number; readonly p95: number }
  /** Of the medians; below 1 cerith is faster. */
  readonly ratio: number
}

export async function runBench(
  { json = false, quick = false }: { json?: boolean; quick?: boolean },
  io: Io,
): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'cerith-bench-'))
  const engine = await createEngine({ stateDir: home })
  const stopped = new AbortController()
  const unlisten = io.onSignal(() => stopped.abort())
  try {
    const session = await engine.session('bench')
    const results: BenchResult[] = []
    for (const row of rows(engine, session, quick ? 0.2 : 1)) {
      const result = await measure(row, stopped.signal)
      if (stopped.signal.aborted) return
      results.push(result)
      if (!json) io.out.write(`${line(result, io)}\n`)
    }
    if (json)
      io.out.write(
        `${JSON.stringify({ node: process.version, platform: `${process.platform}-${process.arch}`, results })}\n`,
      )
    else
      io.out.write(
        `\nMedian of interleaved rounds against child_process.spawn('bash', ['-c', ...]);\n` +
          'the bar is cerith, | is spawn. Less is better.\n',
      )
  } finally {
    unlisten()
    await engine.close()
    rmSync(home, { recursive: true, force: true })
  }
}

function rows(engine: Engine, session: Session, share: number): Row[] {
  const rounds = (full: number): number => Math.max(5, Math.round(full * share))
  const row = (name: string, full: number, where: Engine | Session, command: string): Row => ({
    name,
    rounds: rounds(full),
    ours: () => where.run({ command }),
    theirs: () => plain(command),
  })
  return [
    row('session  :', 200, session, ':'),
    row('session  /bin/true', 200, session, '/bin/true'),
    row('fresh    :', 200, engine, ':'),
    row('fresh    ls | wc -l', 100, engine, 'ls | wc -l'),
    row('10 MB of output', 30, engine, `head -c ${10 * 1024 * 1024} /dev/zero`),
    {
      name: 'a job, started',
      rounds: rounds(50),
      ours: async () => (await engine.start({ command: ':' })).id,
      theirs: () => detached(':'),
    },
  ]
}

async function measure({ name, rounds, ours, theirs }: Row, signal: AbortSignal): Promise<BenchResult> {
  const times = { ours: [] as number[], theirs: [] as number[] }
  const time = async (work: () => Promise<unknown>): Promise<number> => {
    const from = performance.now()
    await work()
    return performance.now() - from
  }
  for (let i = 0; i < 3; i++) await Promise.all([ours(), theirs()])
  for (let i = 0; i < rounds && (i < 2 || !signal.aborted); i++) {
    // The order changes, so that neither always runs on a warmer cache.
    if (i % 2 === 0) times.ours.push(await time(ours))
    times.theirs.push(await time(theirs))
    if (i % 2 === 1) times.ours.push(await time(ours))
  }
  const [cerith, spawned] = [spread(times.ours), spread(times.theirs)]
  return { name, cerith_ms: cerith, spawn_ms: spawned, ratio: Number((cerith.p50 / spawned.p50).toFixed(3)) }
}

function spread(times: number[]): { p50: number; p95: number } {
  const sorted = times.sort((a, b) => a - b)
  const at = (share: number): number =>
    Number((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] as number).toFixed(3))
  return { p50: at(0.5), p95: at(0.95) }
}

const BAR = 24

function line({ name, cerith_ms: ours, spawn_ms: theirs, ratio }: BenchResult, io: Io): string {
  const paint = painter(io.out, io.env)
  const length = Math.max(1, Math.min(BAR * 2, Math.round(ratio * BAR)))
  const bar = '█'.repeat(length)
  const shown = length < BAR ? `${bar}${' '.repeat(BAR - length)}|` : `${bar.slice(0, BAR)}|${bar.slice(BAR)}`
  return (
    `${name.padEnd(20)} ${ours.p50.toFixed(2).padStart(8)} ms  spawn ${theirs.p50.toFixed(2).padStart(7)} ms  ` +
    `${ratio.toFixed(2).padStart(5)}x  ${paint(ratio <= 1 ? 'green' : 'yellow', shown)}`
  )
}

/** What everybody writes first. */
function plain(command: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'] })
    let bytes = 0
    child.stdout.on('data', (chunk: Buffer) => (bytes += chunk.length))
    child.stderr.resume()
    child.once('error', reject)
    child.once('close', () => resolve(bytes))
  })
}

function detached(command: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', command], { stdio: 'ignore', detached: true })
    child.once('error', reject)
    child.once('spawn', () => {
      child.unref()
      resolve(child.pid ?? 0)
    })
  })
}
