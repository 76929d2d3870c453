/** What a sandbox costs: a fresh command, a session's command and a session's start, inside and outside, and bubblewrap beside it. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine } from '../src/index.js'
import { compare } from './lib/ratio.js'

const folder = mkdtempSync(join(tmpdir(), 'cerith-bench-'))
const outside = await createEngine({ cwd: folder, stateDir: join(folder, 'outside') })
const inside = await createEngine({ cwd: folder, stateDir: join(folder, 'inside'), sandbox: { profile: 'workspace' } })
const began = performance.now()
await inside.run({ command: ':' })
console.log(`  the first command, with its room: ${(performance.now() - began).toFixed(1)} ms`)

const hasBubblewrap = spawnSync('bwrap', ['--version']).status === 0
const BUBBLEWRAP =
  '--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --unshare-user --unshare-pid --unshare-ipc --unshare-net --die-with-parent --new-session'.split(
    ' ',
  )
function bubblewrap(): Promise<unknown> {
  return new Promise((resolve) => {
    spawn('bwrap', [...BUBBLEWRAP, 'bash', '-c', '/bin/true'], { stdio: 'ignore' }).on('close', resolve)
  })
}

const rounds = 100
await compare(
  'a fresh command, `/bin/true`',
  [
    ['without', () => outside.run({ command: '/bin/true' })],
    ['sandbox', () => inside.run({ command: '/bin/true' })],
    ...(hasBubblewrap ? [['bubblewrap', bubblewrap] as [string, () => Promise<unknown>]] : []),
  ],
  rounds,
)

const [plain, confined] = [await outside.session(), await inside.session()]
await compare(
  "a session's command, `/bin/true`",
  [
    ['without', () => plain.run({ command: '/bin/true' })],
    ['sandbox', () => confined.run({ command: '/bin/true' })],
  ],
  rounds * 3,
)

let number = 0
const start = async (engine: typeof inside): Promise<void> => {
  const session = await engine.session(`s${++number}`)
  await session.run({ command: ':' })
  await session.close()
}
await compare(
  'a session: start, `:`, close',
  [
    ['without', () => start(outside)],
    ['sandbox', () => start(inside)],
  ],
  40,
)

await outside.close()
await inside.close()
rmSync(folder, { recursive: true, force: true })
