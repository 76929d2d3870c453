/**
 * What an agent does: a stream of different everyday commands, each run once, in a session, in a bare bash over a pipe,
 * and in a bash that is spawned for it. One command at a time in all three, in changing order, so that a busy machine
 * slows all of them alike. There are two streams: a list, and one that is put together by chance from other words
 * (SEED=...), for which nothing has been tuned.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine } from './lib/built.js'
import { listed, VARIANTS, workspace } from './lib/everyday.js'
import { mixed } from './lib/mixed.js'

/** A bash that reads commands from a pipe and says when each is done: the least that a live shell can cost. */
class BareBash {
  readonly #child: ChildProcess
  #seen = ''
  #done: (() => void) | null = null

  constructor(cwd: string) {
    this.#child = spawn('bash', ['--norc', '--noprofile'], { cwd, stdio: ['pipe', 'pipe', 'pipe'] })
    this.#child.stderr?.resume()
    this.#child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      this.#seen += chunk
      if (!/@done \d+\n$/.test(this.#seen)) return
      this.#seen = ''
      this.#done?.()
    })
  }

  run(command: string): Promise<void> {
    return new Promise((resolve) => {
      this.#done = resolve
      this.#child.stdin?.write(`{ ${command}\n} </dev/null; echo "@done $?"\n`)
    })
  }

  end(): void {
    this.#child.stdin?.end()
  }
}

function spawned(command: string, cwd: string): Promise<unknown> {
  return new Promise((resolve) => {
    const child = spawn('bash', ['-c', command], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.on('data', () => {})
    child.stderr.on('data', () => {})
    child.on('close', resolve)
  })
}

/** Without the slowest hundredth, which is the machine's. */
function sum(values: readonly number[]): number {
  const kept = [...values].sort((a, b) => a - b).slice(0, Math.ceil(values.length * 0.99))
  return kept.reduce((all, one) => all + one, 0)
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

async function measure(title: string, commands: readonly string[]): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'cerith-stream-'))
  const engine = await createEngine({ stateDir: join(root, 'state'), cwd: workspace(root, 'session') })
  const session = await engine.session()
  const bare = new BareBash(workspace(root, 'bare'))
  const plainFolder = workspace(root, 'spawn')
  let place = plainFolder
  const ways: readonly (readonly [string, (command: string) => Promise<unknown>])[] = [
    ['spawn for each', (command) => spawned(command, place)],
    ['bare bash over a pipe', (command) => bare.run(command)],
    ['session', (command) => session.run({ command })],
  ]
  const times = ways.map((): number[] => [])
  const over = new Map<string, number[]>()
  for (const command of ['true', 'ls', 'cd .', 'x=1', 'echo a | cat']) for (const [, run] of ways) await run(command)
  for (const [at, command] of commands.entries()) {
    const took: number[] = []
    for (let turn = 0; turn < ways.length; turn++) {
      const which = (at + turn) % ways.length
      const began = performance.now()
      await ways[which]?.[1](command)
      took[which] = performance.now() - began
      times[which]?.push(took[which] as number)
    }
    if (command === 'cd src') place = join(plainFolder, 'src')
    if (command === 'cd ..') place = plainFolder
    const kind = command.replaceAll(/\d+/g, 'N')
    over.set(kind, [...(over.get(kind) ?? []), (took[2] ?? 0) - (took[1] ?? 0)])
  }
  const [base = 1, bareSum = 1] = times.map(sum)
  console.log(`\n${title}: ${commands.length} different commands, one after the other`)
  for (const [index, [name]] of ways.entries()) {
    const all = times[index] as number[]
    const total = sum(all)
    console.log(
      `  ${name.padEnd(24)} ${(total / all.length).toFixed(3).padStart(8)} ms each   ${(total / base).toFixed(3)}x of spawn   ${(total / bareSum).toFixed(3)}x of bare`,
    )
  }
  if (process.env['DETAIL'])
    for (const [kind, values] of [...over].sort((a, b) => median(b[1]) - median(a[1])).slice(0, 60))
      console.log(`  ${median(values).toFixed(2).padStart(7)} ms over bare   ${kind}`)
  bare.end()
  await engine.close()
  rmSync(root, { recursive: true, force: true })
}

const seed = Number(process.env['SEED'] ?? 1)
if (process.env['STREAM'] !== 'mixed') await measure('A list', listed())
if (process.env['STREAM'] !== 'list') await measure(`By chance (seed ${seed})`, mixed(seed, VARIANTS * 40))
