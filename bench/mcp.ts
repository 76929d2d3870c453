/**
 * How small and quick the MCP server is: first tools/list against a bare node, a call of `:` against a plain spawn.
 * `node bench/run.mjs mcp`; another server can be named when the bundle is run by hand.
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const STARTS = 9
const CALLS = 300
const SPAWNS = 60

const [program, ...rest] = process.argv.slice(2)
// bench/run.mjs puts the bundle two folders below dist/.
const server =
  program === undefined ? [fileURLToPath(new URL('../../cli.js', import.meta.url)), 'mcp'] : [resolve(program), ...rest]
const home = mkdtempSync(join(tmpdir(), 'cerith-bench-'))

class Raw {
  readonly child: ChildProcessWithoutNullStreams
  readonly #waiting = new Map<number, (line: string) => void>()
  #id = 0

  constructor() {
    this.child = spawn(process.execPath, server, {
      env: { ...process.env, CERITH_HOME: home },
      cwd: home,
      stdio: ['pipe', 'pipe', 'inherit'],
    }) as unknown as ChildProcessWithoutNullStreams
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      const { id } = JSON.parse(line) as { id?: number }
      this.#waiting.get(id ?? -1)?.(line)
    })
  }

  ask(method: string, params: object = {}): Promise<string> {
    const id = ++this.#id
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return new Promise((resolve) => this.#waiting.set(id, resolve))
  }

  async hello(): Promise<string> {
    await this.ask('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'bench', version: '1' },
    })
    this.child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    return this.ask('tools/list')
  }

  async end(): Promise<void> {
    this.child.stdin.end()
    await once(this.child, 'exit')
  }
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await run()
  return performance.now() - started
}

const median = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!
const ms = (value: number): string => `${value.toFixed(2)} ms`

// Interleaved, so that a busy moment of the machine hits both sides alike.
const bare: number[] = []
const first: number[] = []
let list = ''
for (let at = 0; at < STARTS; at++) {
  bare.push(await timed(() => once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit')))
  let raw!: Raw
  first.push(
    await timed(async () => {
      raw = new Raw()
      list = await raw.hello()
    }),
  )
  await raw.end()
}
const raw = new Raw()
await raw.hello()
const call = (): Promise<string> => raw.ask('tools/call', { name: 'Bash', arguments: { command: ':' } })
const nothing = (): Promise<string> => raw.ask('ping')
for (let at = 0; at < 20; at++) await call()
const calls: number[] = []
const pings: number[] = []
const spawns: number[] = []
for (let at = 0; at < CALLS; at++) {
  calls.push(await timed(call))
  pings.push(await timed(nothing))
  if (at % Math.floor(CALLS / SPAWNS) === 0)
    spawns.push(await timed(() => once(spawn('bash', ['-c', ':'], { stdio: 'ignore' }), 'exit')))
}
await raw.end()
rmSync(home, { recursive: true, force: true })

const [startup, node, run, ping, plain] = [median(first), median(bare), median(calls), median(pings), median(spawns)]
console.log(`tools/list        ${Buffer.byteLength(list)} bytes`)
console.log(`bare node         ${ms(node)}`)
console.log(
  `first tools/list  ${ms(startup)}   limit ${ms(2 * node + 100)}   ${startup <= 2 * node + 100 ? 'ok' : 'TOO SLOW'}`,
)
console.log(`spawn bash :      ${ms(plain)}`)
console.log(`ping              ${ms(ping)}   ${(ping / plain).toFixed(3)}x of a spawn`)
console.log(
  `call of :         ${ms(run)}   ${(run / plain).toFixed(3)}x of a spawn   limit 0.2   ${run <= 0.2 * plain ? 'ok' : 'TOO SLOW'}`,
)
