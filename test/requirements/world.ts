/**
 * What the scenarios have in common: an engine of their own, a way to wait for a state, and a look at the process
 * table.
 */
import { readdirSync, readFileSync } from 'node:fs'
import type { Engine } from '../../src/contract/engine.js'
import type { RunRequest } from '../../src/contract/request.js'
import type { Loose } from '../tools/live-engine.js'
export { liveEngine, type Live } from '../tools/live-engine.js'
export { processesNamed as processesWith } from '../fixtures/processes.js'

/** A sleep that no other test has, so that its processes can be told apart. */
let sleeps = 0
export function uniqueSleep(): string {
  sleeps += 1
  return `sleep 3${process.pid}.${sleeps}`
}

/** The real engine, with every request that passes written down. */
export function watched(engine: Engine): { engine: Engine; requests: RunRequest[] } {
  const requests: RunRequest[] = []
  const session = async (name?: string) => noting(await engine.session(name), ['run'], requests)
  const noted = new Proxy(noting(engine, ['run', 'begin'], requests), {
    get: (target, name) => (name === 'session' ? session : Reflect.get(target, name)),
  })
  return { engine: noted, requests }
}

function noting<T extends object>(target: T, names: readonly string[], requests: RunRequest[]): T {
  return new Proxy(target, {
    get(real, name) {
      const value = Reflect.get(real, name, real)
      if (typeof value !== 'function') return value
      if (!names.includes(String(name))) return value.bind(real)
      return (request: RunRequest) => {
        requests.push(request)
        return (value as (request: RunRequest) => unknown).call(real, request)
      }
    },
  })
}

/** Zombies below a process: those that ended and that no parent has waited for. */
export function zombiesBelow(root: number): number[] {
  const parents = new Map<number, { parent: number; zombie: boolean }>()
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const [state, parent] = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')
      parents.set(Number(name), { parent: Number(parent), zombie: state === 'Z' })
    } catch {
      // Gone in between.
    }
  }
  const isBelow = (pid: number): boolean => pid === root || (parents.has(pid) && isBelow(parents.get(pid)!.parent))
  return [...parents].filter(([pid, { zombie }]) => zombie && isBelow(pid)).map(([pid]) => pid)
}

export type Meta = Record<string, Loose>
