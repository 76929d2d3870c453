/** What a sandbox costs: a fresh command, a session's command and a session's start, inside and outside, bubblewrap and Anthropic's runtime beside it. */
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

// Anthropic's sandbox runtime, where CERITH_SRT names its package directory: set up once, each command wrapped and started.
const runtime = await (async () => {
  const path = process.env['CERITH_SRT']
  if (!path) return null
  const { SandboxManager } = (await import(join(path, 'dist', 'index.js'))) as Runtime
  await SandboxManager.initialize({
    network: { allowedDomains: [], deniedDomains: [] },
    filesystem: { denyRead: [], allowWrite: [folder], denyWrite: [] },
  })
  return SandboxManager
})()
interface Runtime {
  readonly SandboxManager: {
    initialize(config: unknown): Promise<void>
    wrapWithSandbox(command: string): Promise<string>
    reset(): Promise<void>
  }
}
async function wrapped(): Promise<unknown> {
  const command = await runtime?.wrapWithSandbox('/bin/true')
  return new Promise((resolve) => {
    spawn('bash', ['-c', command ?? 'false'], { stdio: 'ignore', cwd: folder }).on('close', resolve)
  })
}

const rounds = 100
await compare(
  'a fresh command, `/bin/true`',
  [
    ['without', () => outside.run({ command: '/bin/true' })],
    ['sandbox', () => inside.run({ command: '/bin/true' })],
    ...(runtime ? [['sandbox-runtime', wrapped] as [string, () => Promise<unknown>]] : []),
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

await runtime?.reset()
await outside.close()
await inside.close()
rmSync(folder, { recursive: true, force: true })
