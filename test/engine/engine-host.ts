/** Runs an engine in a process of its own, so that a test can kill it: bundled once per worker, driven over a pipe. */
import { spawn, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { findHelper } from '../../src/os/helper/file.js'
import type { JobInfo, KillResult, Outcome, ReadResult, WaitResult } from '../../src/index.js'
import { temporaryFolder } from '../fixtures/folder.js'

let bundled: Promise<string> | null = null

async function bundle(): Promise<string> {
  const dir = temporaryFolder('bundle')
  const build = await rolldown({
    input: fileURLToPath(new URL('../../src/index.ts', import.meta.url)),
    platform: 'node',
    logLevel: 'silent',
  })
  await build.write({ dir, format: 'esm', entryFileNames: 'index.mjs', chunkFileNames: '[name]-[hash].mjs' })
  return join(dir, 'index.mjs')
}

export interface EngineHost {
  readonly pid: number
  readonly child: ChildProcess
  readonly exited: Promise<{ code: number | null; signal: string | null }>
  call(name: 'start', request: Record<string, unknown>): Promise<JobInfo>
  call(name: 'run', request: Record<string, unknown>): Promise<Outcome>
  call(name: 'info', id: string): Promise<JobInfo>
  call(name: 'read', id: string, options?: Record<string, unknown>): Promise<ReadResult>
  call(name: 'wait', id: string, options?: Record<string, unknown>): Promise<WaitResult>
  call(name: 'kill', id: string, options?: Record<string, unknown>): Promise<KillResult>
  call(name: 'list'): Promise<JobInfo[]>
  call(name: 'memory'): Promise<number>
  call(name: 'events'): Promise<{ kind: string; id: string; status?: string }[]>
  call(name: 'close' | 'crash'): Promise<null>
  call(name: string, ...args: unknown[]): Promise<unknown>
  kill(signal: NodeJS.Signals): Promise<void>
}

/** `wrapper` is a program that runs it, e.g. in a namespace of its own. */
export async function startHost(
  stateDir: string,
  env: Record<string, string> = {},
  wrapper: readonly string[] = [],
): Promise<EngineHost> {
  const file = await (bundled ??= bundle())
  const fixture = fileURLToPath(new URL('../fixtures/engine-host.mjs', import.meta.url))
  const words = [...wrapper, process.execPath, fixture, file, stateDir]
  const child = spawn(words[0] as string, words.slice(1), {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, CERITH_HELPER: findHelper() ?? 'none', ...env },
  })
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  )
  let next = 1
  let ready!: () => void
  const isReady = new Promise<void>((resolve) => (ready = resolve))
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
    // The last line of an engine that was killed may be half a line.
    if (!line.endsWith('}')) return
    const answer = JSON.parse(line) as {
      n?: number
      ready?: number
      value?: unknown
      error?: { code: string; message: string }
    }
    if (answer.ready) return ready()
    const call = waiting.get(answer.n ?? 0)
    waiting.delete(answer.n ?? 0)
    if (answer.error) call?.reject(Object.assign(new Error(answer.error.message), { code: answer.error.code }))
    else call?.resolve(answer.value)
  })
  let gone = false
  void exited.then(() => {
    gone = true
    for (const { reject } of waiting.values()) reject(new Error('the engine is gone'))
    waiting.clear()
  })
  child.stdin?.on('error', () => {})
  await isReady
  return {
    pid: child.pid as number,
    child,
    exited,
    call: (name: string, ...args: unknown[]): Promise<never> =>
      new Promise((resolve, reject) => {
        if (gone) return reject(new Error('the engine is gone'))
        const n = next++
        waiting.set(n, { resolve: resolve as (value: unknown) => void, reject })
        child.stdin?.write(`${JSON.stringify({ n, call: name, args })}\n`)
      }),
    async kill(signal) {
      child.kill(signal)
      await exited
    },
  }
}
