/**
 * Limits of a room through control groups: version 2 where a group may be made beside ours,
 * version 1 where that is all there is.
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, statfsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { SandboxLimits } from '../../contract/sandbox.js'
import { attempt } from '../../contract/attempt.js'
import { namesIn } from '../files/quietly.js'

export interface RoomLimits {
  /** Groups that a command enters before its room. */
  readonly groups: readonly string[]
  /** What was asked for and cannot be had here. */
  readonly missing: readonly string[]
  /** Which limits were hit since the last call. */
  hit(): string[]
  close(): void
}

type Enforced = 'memoryBytes' | 'processes' | 'cpus'
const ENFORCED: readonly Enforced[] = ['memoryBytes', 'processes', 'cpus']
const CONTROLLER = { memoryBytes: 'memory', processes: 'pids', cpus: 'cpu' } as const
const ROOT = '/sys/fs/cgroup'
const CPU_PERIOD_US = 100_000

/**
 * Makes the groups; what cannot be limited on this machine is named in `missing`, never left out
 * silently. `temporary`: the room's own /tmp and /dev/shm as they are seen from outside; null where it has none.
 */
export function limitRoom(name: string, limits: SandboxLimits, temporary: readonly string[] | null): RoomLimits {
  const wanted = ENFORCED.filter((limit) => limits[limit] !== undefined)
  const groups = new Set<string>()
  const missing: string[] = limits.tmpBytes !== undefined && temporary === null ? ['tmpBytes'] : []
  const counters: { limit: Enforced; file: string; key: string | null; last: number }[] = []
  const unified = existsSync(join(ROOT, 'cgroup.controllers'))
  for (const limit of wanted) {
    const group = unified ? unifiedGroup(name) : legacyGroup(name, CONTROLLER[limit])
    const rows = group === null ? [] : rowsOf(limit, limits[limit] as number, unified)
    if (group === null || !rows.every(([file, text]) => put(join(group, file), text))) {
      missing.push(limit)
      continue
    }
    groups.add(group)
    const counter = counterOf(limit, unified)
    if (counter) counters.push({ limit, file: join(group, counter[0]), key: counter[1], last: 0 })
  }
  for (const counter of counters) counter.last = count(counter.file, counter.key)
  return {
    groups: [...groups],
    missing,
    hit: () => [
      ...counters.flatMap((counter) => {
        const now = count(counter.file, counter.key)
        const grew = now > counter.last
        counter.last = now
        return grew ? [counter.limit] : []
      }),
      ...(limits.tmpBytes !== undefined && temporary?.some(isFull) ? ['tmpBytes'] : []),
    ],
    close: () => {
      for (const group of groups) remove(group)
    },
  }
}

function isFull(directory: string): boolean {
  return attempt(() => {
    const { bavail, ffree } = statfsSync(directory)
    return bavail === 0 || ffree === 0
  }, false)
}

function rowsOf(limit: Enforced, value: number, unified: boolean): [string, string][] {
  const whole = String(Math.ceil(value))
  if (limit === 'processes') return [['pids.max', whole]]
  if (limit === 'memoryBytes') return unified ? [['memory.max', whole]] : [['memory.limit_in_bytes', whole]]
  const quota = String(Math.ceil(value * CPU_PERIOD_US))
  return unified
    ? [['cpu.max', `${quota} ${CPU_PERIOD_US}`]]
    : [
        ['cpu.cfs_period_us', String(CPU_PERIOD_US)],
        ['cpu.cfs_quota_us', quota],
      ]
}

/** A file whose number grows when the limit is hit; CPU time is only slowed, never refused. */
function counterOf(limit: Enforced, unified: boolean): [string, string | null] | null {
  if (limit === 'processes') return ['pids.events', 'max']
  if (limit === 'memoryBytes') return unified ? ['memory.events', 'max'] : ['memory.failcnt', null]
  return null
}

function count(file: string, key: string | null): number {
  const text = readText(file)
  return Number(key === null ? text : (new RegExp(`^${key} (\\d+)`, 'm').exec(text)?.[1] ?? 0))
}

/** Beside our own group: one that holds processes cannot have groups below it with limits. */
function unifiedGroup(name: string): string | null {
  const own = /^0::(.*)$/m.exec(readText('/proc/self/cgroup'))?.[1]
  if (own === undefined) return null
  return makeGroup(own === '/' ? ROOT : dirname(join(ROOT, own)), name)
}

function legacyGroup(name: string, controller: string): string | null {
  const line = readText('/proc/self/cgroup')
    .split('\n')
    .map((one) => one.split(':'))
    .find(([, controllers]) => controllers?.split(',').includes(controller))
  if (!line) return null
  for (const mount of [controller, 'cpu,cpuacct']) {
    const base = join(ROOT, mount, line[2] ?? '/')
    if (existsSync(base)) return makeGroup(base, name)
  }
  return null
}

function makeGroup(base: string, name: string): string | null {
  // What engines that were killed left behind is empty by now, and goes.
  for (const other of namesIn(base)) if (other.startsWith('cerith-') && other !== name) remove(join(base, other))
  const group = join(base, name)
  return attempt(() => (mkdirSync(group, { recursive: true }), group), null)
}

/** A group that still holds a process stays. */
function remove(group: string): void {
  // In use, or gone.
  attempt(() => rmdirSync(group))
}

function put(file: string, text: string): boolean {
  return attempt(() => writeFileSync(file, text, { flag: 'r+' }) === undefined, false)
}

function readText(file: string): string {
  return attempt(() => readFileSync(file, 'utf8'), '')
}
