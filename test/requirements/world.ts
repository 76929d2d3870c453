/** What the scenarios have in common: an engine of their own, a way to wait for a state, and a look at the process table. */
import { readdirSync, readFileSync } from 'node:fs'
import type { Engine } from '../../src/contract/engine.js'
import type { RunRequest } from '../../src/contract/request.js'
import type { Loose } from '../tools/live-engine.js'
export { liveEngine, type Live } from '../tools/live-engine.js'

/** Asks until the answer is yes; the test's own time limit is the end of patience. */
export async function eventually(check: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await check())) await new Promise((resolve) => setTimeout(resolve, 15))
}

/** Pids of living processes whose command line contains the mark. Zombies do not count: they run nothing. */
export function processesWith(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').includes(mark) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
      } catch {
        return false
      }
    })
    .map(Number)
    .filter((pid) => pid !== process.pid)
}

/** A sleep that no other test has, so that its processes can be told apart. */
let sleeps = 0
export function uniqueSleep(): string {
  sleeps += 1
  return `sleep 3${process.pid}.${sleeps}`
}

/** The real engine, with every request that passes written down. */
export function watched(engine: Engine): { engine: Engine; requests: RunRequest[] } {
  const requests: RunRequest[] = []
  const noted = new Proxy(engine, {
    get(target, name, receiver) {
      const value = Reflect.get(target, name, receiver)
      if (name !== 'run' && name !== 'begin') return typeof value === 'function' ? value.bind(target) : value
      return (request: RunRequest) => {
        requests.push(request)
        return (value as (request: RunRequest) => unknown).call(target, request)
      }
    },
  })
  return { engine: noted, requests }
}

export type Meta = Record<string, Loose>
