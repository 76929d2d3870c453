/**
 * What a sandbox costs: a fresh command, a session's command and a session's start, inside and outside, bubblewrap and
 * Anthropic's runtime beside it.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine } from '../src/index.js'
import { listed, workspace } from './lib/everyday.js'
import { compare, comparePaired } from './lib/ratio.js'

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

// Anthropic's sandbox runtime, where CERITH_SRT names its package directory: set up once, each command wrapped and
// started.
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

// The goal (1.02x) is 15 microseconds: less than two engines of the same kind differ by chance (where their memory
// lies, which processor their shells are woken on). So new engines are made several times, the first of the two
// changing, and as a control the same is measured between two engines that both have no sandbox.
const SETS = 6
const PAIRS = 800
async function sessionRatios(title: string, sandbox: boolean): Promise<void> {
  const ratios: number[] = []
  console.log(`\n${title}`)
  for (let set = 0; set < SETS; set++) {
    const make = (name: string, confined: boolean) =>
      createEngine({
        cwd: folder,
        stateDir: join(folder, `${name}${set}${sandbox}`),
        ...(confined ? { sandbox: { profile: 'workspace' } } : {}),
      })
    const first = await make('first', sandbox && set % 2 === 1)
    const second = await make('second', sandbox && set % 2 === 0)
    const [base, other] = set % 2 === 0 ? [first, second] : [second, first]
    const [plain, confined] = [await base.session(), await other.session()]
    const command = '/bin/true'
    const measured = await comparePaired(
      () => plain.run({ command }),
      () => confined.run({ command }),
      PAIRS,
    )
    ratios.push(measured.ratio)
    const [ratio, low, high] = [measured.ratio, measured.low, measured.high].map((one) => one.toFixed(3))
    console.log(
      `  engines ${set + 1}: without ${measured.p50.toFixed(3)} ms, sandbox ${ratio}x (95 %: ${low} to ${high})`,
    )
    await first.close()
    await second.close()
  }
  const sorted = ratios.sort((x, y) => x - y)
  const middle = ((sorted[SETS / 2 - 1] ?? 0) + (sorted[SETS / 2] ?? 0)) / 2
  console.log(`  median of ${SETS}: ${middle.toFixed(3)}x`)
}
await sessionRatios("a session's command, `/bin/true`: sandbox against none", true)
await sessionRatios('the control: two engines without a sandbox', false)

// One command after the other, each once: also those that change the workspace, after which more is looked at.
console.log('\nan everyday command in a session (the list of the benchmark `stream`): sandbox against none')
const everyday: number[] = []
// Not below the directory of the engines above: they would look into these repositories.
const projects = mkdtempSync(join(tmpdir(), 'cerith-bench-'))
for (let set = 0; set < SETS; set++) {
  const make = (name: string, confined: boolean) =>
    createEngine({
      cwd: workspace(projects, `${name}${set}`),
      stateDir: join(projects, `state-${name}${set}`),
      ...(confined ? { sandbox: { profile: 'workspace' } } : {}),
    })
  const engines = [await make('plain', false), await make('confined', true)]
  const sessions = await Promise.all(engines.map((engine) => engine.session()))
  const times: number[][] = [[], []]
  for (const [at, command] of listed().entries())
    for (const which of (at + set) % 2 === 0 ? [0, 1] : [1, 0]) {
      const began = performance.now()
      await sessions[which]?.run({ command })
      times[which]?.push(performance.now() - began)
    }
  // Without the slowest twentieth, which is the machine's.
  const [plain = 1, confined = 1] = times.map((all) =>
    all
      .sort((x, y) => x - y)
      .slice(0, Math.ceil(all.length * 0.95))
      .reduce((sum, one) => sum + one, 0),
  )
  everyday.push(confined / plain)
  for (const engine of engines) await engine.close()
}
console.log(`  ${everyday.map((ratio) => `${ratio.toFixed(3)}x`).join('  ')}`)

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
for (const path of [folder, projects]) rmSync(path, { recursive: true, force: true })
