/** How long it takes until a command has run: against plain spawn, in a small host and in one with 2 GB resident. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine } from './lib/built.js'
import { compare } from './lib/ratio.js'

const stateDir = mkdtempSync(join(tmpdir(), 'cerith-bench-'))
const engine = await createEngine({ stateDir })
const session = await engine.session()

function plain(command: string): Promise<unknown> {
  return new Promise((resolve) => {
    const child = spawn('bash', ['-c', command])
    child.stdout.on('data', () => {})
    child.on('close', resolve)
  })
}

/** The longest that the event loop stood still while the work ran. */
async function worstBlock(work: () => Promise<unknown>): Promise<number> {
  let worst = 0
  let last = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    worst = Math.max(worst, now - last - 1)
    last = now
  }, 1)
  await work()
  clearInterval(timer)
  return worst
}

const rounds = 200
await compare(
  'small host, `:`',
  [
    ['spawn bash -c', () => plain(':')],
    ['engine.run', () => engine.run({ command: ':' })],
    ['session.run', () => session.run({ command: ':' })],
  ],
  rounds,
)
await compare(
  'small host, `/bin/true`',
  [
    ['spawn bash -c', () => plain('/bin/true')],
    ['engine.run', () => engine.run({ command: '/bin/true' })],
    ['session.run', () => session.run({ command: '/bin/true' })],
  ],
  rounds,
)

// Resident, not only reserved: every page is written to.
const ballast = Array.from({ length: 32 }, () => Buffer.alloc(64 * 1024 * 1024, 1))
await compare(
  `host with ${(process.memoryUsage().rss / 1024 ** 3).toFixed(1)} GB resident, \`:\``,
  [
    ['spawn bash -c', () => plain(':')],
    ['engine.run', () => engine.run({ command: ':' })],
    ['session.run', () => session.run({ command: ':' })],
  ],
  30,
)
console.log(
  `  event loop blocked at most: spawn ${(await worstBlock(() => plain(':'))).toFixed(1)} ms, engine.run ${(await worstBlock(() => engine.run({ command: ':' }))).toFixed(1)} ms`,
)
if (ballast.length === 0) console.log('')
await engine.close()
rmSync(stateDir, { recursive: true, force: true })
