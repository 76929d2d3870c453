/** What it costs a command that others may look at it: while nobody does, and while a process follows everything. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EngineWatch } from '../src/engine/live/watch.js'
import { createEngine } from '../src/index.js'
import { compare } from './lib/ratio.js'

const base = mkdtempSync(join(tmpdir(), 'cerith-bench-'))
const alone = await createEngine({ stateDir: join(base, 'alone') })
const watched = await createEngine({ stateDir: join(base, 'watched') })
const watch = new EngineWatch({ stateDir: join(base, 'watched') })
watch.start()
while (watch.engines.get(watched.id)?.state !== 'live') await new Promise((resolve) => setTimeout(resolve, 20))
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
// The register of calls itself: what every call pays while nobody looks.
const { LiveCalls } = await import('../src/engine/services/live-calls.js')
const calls = new LiveCalls()
const call = {} as never
const began = performance.now()
for (let n = 0; n < 1_000_000; n++) {
  calls.began(call)
  calls.ended(call, null)
}
console.log(`the register of calls while nobody looks: ${((performance.now() - began) / 1_000).toFixed(3)} µs per call`)
watch.close()
await Promise.all([alone.close(), watched.close()])
rmSync(base, { recursive: true, force: true })
