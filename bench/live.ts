/** What it costs a command that others may look at it: while none does, and while a process follows everything. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EngineWatch } from '../src/engine/live/watch.js'
import { createEngine } from '../src/index.js'
import { compare } from './lib/ratio.js'

if (process.env['WATCH']) {
  // Another process looks, as `cerith top` does.
  const watch = new EngineWatch({ stateDir: process.env['WATCH'] })
  watch.start()
  while (![...watch.engines.values()].some(({ state }) => state === 'live'))
    await new Promise((resolve) => setTimeout(resolve, 20))
  console.log('looking')
  await new Promise(() => {})
}
const base = mkdtempSync(join(tmpdir(), 'cerith-bench-'))
const alone = await createEngine({ stateDir: join(base, 'alone') })
const watched = await createEngine({ stateDir: join(base, 'watched') })
const looker = spawn(process.execPath, [process.argv[1] as string], {
  env: { ...process.env, WATCH: join(base, 'watched') },
  stdio: ['ignore', 'pipe', 'inherit'],
})
await new Promise((resolve) => looker.stdout.once('data', resolve))
const [first, second] = [await alone.session(), await watched.session()]

const rounds = Number(process.env['ROUNDS'] ?? 300)
await compare(
  'echo in a session, blocks of 20 calls in turn',
  [
    ['nobody looks', () => first.run({ command: 'echo hi' })],
    ['a process is told of every call', () => second.run({ command: 'echo hi' })],
  ],
  Math.ceil(rounds / 20),
  20,
)
/** Processor time of this process per call: what the wall clock says beside load depends on the load. */
async function hostTime(run: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  for (let n = 0; n < 500; n++) await run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 500
}
const best = { alone: Infinity, watched: Infinity }
for (let n = 0; n < 8; n++) {
  best.alone = Math.min(best.alone, await hostTime(() => first.run({ command: 'echo hi' })))
  best.watched = Math.min(best.watched, await hostTime(() => second.run({ command: 'echo hi' })))
}
console.log(
  `host processor time per call, best of 8: ${best.alone.toFixed(0)} µs, watched ${best.watched.toFixed(0)} µs (${(best.watched / best.alone).toFixed(2)}x)`,
)
// The register of calls itself: what every call pays while no process looks.
const { LiveCalls } = await import('../src/engine/services/live-calls.js')
const calls = new LiveCalls()
const call = {} as never
const began = performance.now()
for (let n = 0; n < 1_000_000; n++) {
  calls.began(call)
  calls.ended(call, null)
}
console.log(`the register of calls while nobody looks: ${((performance.now() - began) / 1_000).toFixed(3)} µs per call`)
looker.kill()
await Promise.all([alone.close(), watched.close()])
rmSync(base, { recursive: true, force: true })
