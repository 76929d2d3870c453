/** What tests of links share: an engine behind a link that the test can cut, hold back and look into. */
import { readFileSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import type { Engine, EngineOptions, LinkEvent } from '../../src/index.js'
import { arrive } from '../../src/reach/arrive/arrive.js'
import { createNearEngine } from '../../src/reach/near/engine.js'
import type { OpenLink } from '../../src/reach/near/link.js'
import { placeAt } from '../../src/reach/places/places.js'
import { recordsIn } from '../../src/reach/records.js'
import { temporaryFolder, until } from '../engine/harness.js'

export { temporaryFolder, until } from '../engine/harness.js'

export interface Linked {
  readonly engine: Engine
  readonly stateDir: string
  readonly events: LinkEvent[]
  /** Of the run directory there. */
  readonly name: string
  readonly key: Buffer
  /** While true no link can be opened. */
  blocked: boolean
  /** Processes of the link: clients here, helpers there. */
  linkPids(): number[]
  /** Kills the link, and waits until the engine has noticed. */
  cut(): Promise<void>
}

const engines: Engine[] = []
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()))
})

/** `through` stands between the engine and each of its links. */
export async function linked(
  options: EngineOptions = {},
  same?: Pick<Linked, 'name' | 'key'>,
  through: (link: OpenLink) => OpenLink = (link) => link,
  batch = '',
): Promise<Linked> {
  const stateDir = options.stateDir ?? join(temporaryFolder(), 'state')
  const url = options.at ?? 'loop:'
  const records = recordsIn(stateDir)
  const { name, key } = same ?? records.engine(undefined, null)
  const reach = { uploadDir: join(tmpdir(), 'reach-code'), leaseMs: 30_000, stateDir, ...options.reach }
  const place = placeAt(url, {
    reach,
    name,
    made: records.made(name, { url, clientArgs: [], labels: {}, keptMs: 0 }),
    batch,
  })
  await place.acquire()
  const events: LinkEvent[] = []
  const state = { blocked: false }
  const engine = await createNearEngine({
    url,
    key,
    options: { cwd: temporaryFolder(), ...options, stateDir, reach },
    open: async (lookMs) => {
      if (state.blocked) throw new Error('the test holds the link back')
      return through(await arrive({ place, reach, name, salt: records.salt(), key, stateDir }, lookMs))
    },
    release: async () => {},
  })
  engine.onLink((event) => events.push(event))
  engines.push(engine)
  const linkPids = (): number[] =>
    processesOf((words) => words.includes('link') && words.some((word) => word.includes(name)))
  return {
    engine,
    stateDir,
    events,
    name,
    key,
    linkPids,
    get blocked() {
      return state.blocked
    },
    set blocked(value) {
      state.blocked = value
    },
    async cut() {
      const before = events.length
      for (const pid of linkPids()) process.kill(pid, 'SIGKILL')
      await until(() => events.slice(before).some(({ kind }) => kind === 'down'), 'the engine notices the cut')
    },
  }
}

/** Pids of processes whose words fit. */
export function processesOf(fits: (words: readonly string[]) => boolean): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return fits(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0'))
      } catch {
        return false
      }
    })
}

/** The run directory of a far engine on this machine. */
export function runDirectory(name: string): string {
  const uid = process.getuid?.() ?? 0
  return join(process.env['XDG_RUNTIME_DIR'] ?? '/dev/shm', `cerith-${uid}-${name}`)
}
