/** What is remembered here about places: the key of an engine that is kept, the random part of names, what was made. */
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive, processFacts } from '../os/process/proc.js'
import { thisWorld, whereIs, type World } from '../os/process/world.js'
import { ensurePrivateDirectory } from '../os/files/state-dir.js'
import { takeLockFile, type LockFile, type LockOptions } from '../os/files/lock.js'
import { createPrivateFile, replacePrivateFile } from '../os/files/private.js'
import type { Made } from './places/place.js'
import { attempt } from '../contract/attempt.js'

export interface EngineRecord {
  /** Of its run directory there, and of what is made for it. */
  readonly name: string
  readonly key: Buffer
  readonly sessions: KnownSessions
}

/** In which far engine earlier processes used which session. */
export interface KnownSessions {
  engineOf(session: string): string | undefined
  /** Last used at this place in an engine of other settings, or of a build whose engines are not joined. */
  isElsewhere(session: string): boolean
  /** Null: it was closed. */
  note(session: string, engine: string | null): void
}

const KEPT_SESSIONS = 1_000
const NONE: KnownSessions = { engineOf: () => undefined, isElsewhere: () => false, note: () => {} }
const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32)

export function recordsIn(stateDir: string) {
  const dir = ensurePrivateDirectory(join(ensurePrivateDirectory(stateDir), 'reach'))
  const read = (file: string): object | null =>
    attempt(() => JSON.parse(readFileSync(join(dir, file), 'utf8')) as object, null)
  const write = (file: string, value: object): void => replacePrivateFile(join(dir, file), JSON.stringify(value))
  /** What the first process has written; of several that come at once one is the first. */
  const remember = <T extends object>(file: string, fresh: T): T => {
    const known = (): T | null => {
      const kept = read(file) as T | null
      return kept && Object.keys(fresh).every((key) => kept[key as keyof T]) ? kept : null
    }
    const before = known() ?? (createPrivateFile(join(dir, file), JSON.stringify(fresh)) ? fresh : known())
    if (!before) write(file, fresh)
    return before ?? fresh
  }
  return {
    salt: (): string => remember('salt.json', { salt: randomBytes(8).toString('hex') }).salt,
    /** While it is held no other process makes something for this engine. */
    lock: (name: string, options?: LockOptions): Promise<LockFile> =>
      takeLockFile(join(dir, `made-${name}.lock`), options),
    /** The same engine for the same words, so that a later process joins it; a new one without. */
    engine(keep: string | undefined, about: unknown, place: unknown = null): EngineRecord {
      if (keep === undefined) return { name: randomBytes(8).toString('hex'), key: randomBytes(32), sessions: NONE }
      const file = `engine-${digestOf([keep, about])}.json`
      const lastFile = `last-${digestOf([keep, place])}.json`
      /** Which engine of this place each session was used in last. */
      const last = (): Map<string, string> => new Map((read(lastFile) as Partial<KeptEngine> | null)?.sessions)
      const kept = (): Partial<KeptEngine> => (read(file) ?? {}) as Partial<KeptEngine>
      const fresh = { name: randomBytes(8).toString('hex'), key: randomBytes(32).toString('hex') }
      const { name, key } = remember(file, fresh)
      const sessions: KnownSessions = {
        engineOf: (session) => new Map(kept().sessions).get(session),
        isElsewhere: (session) => (last().get(session) ?? name) !== name,
        note(session, engine) {
          // On a full disk nothing is lost but this note.
          const change = (file: string, all: Map<string, string>, value: string | null, rest = {}): void => {
            if (all.get(session) === (value ?? undefined)) return
            all.delete(session)
            if (value !== null) all.set(session, value)
            attempt(() => write(file, { ...rest, sessions: [...all].slice(-KEPT_SESSIONS) }), undefined)
          }
          change(file, new Map(kept().sessions), engine, { name, key })
          change(lastFile, last(), engine === null ? null : name)
        },
      }
      return { name, key: Buffer.from(key, 'hex'), sessions }
    },
    /** What is made for an engine, with what is needed to find and remove it again. */
    made(name: string, about: MadeFor): Made & { touch(): void } {
      const file = `made-${name}.json`
      const own: PlaceUser = { pid: process.pid, start: processFacts(process.pid)?.start ?? '', ...thisWorld() }
      const known = (): MadeRecord | null => read(file) as MadeRecord | null
      const save = (made: Record<string, string>): void => {
        const others = (known()?.users ?? []).filter((user) => isUsing(user) && !isSame(user, own))
        write(file, { name, made, ...about, users: [...others, own], usedAt: Date.now() } satisfies MadeRecord)
      }
      return {
        read: () => known()?.made ?? null,
        write: save,
        /** Writes down that the place was used until now. */
        touch() {
          const made = known()?.made
          if (made) save(made)
        },
        forget: () => rmSync(join(dir, file), { force: true }),
      }
    },
    listMade(): MadeRecord[] {
      const files = readdirSync(dir).filter((file) => /^made-[0-9a-f]+\.json$/.test(file))
      // One of an earlier build names a single process.
      return files.flatMap((file) => {
        const record = read(file) as MadeRecord | null
        return record ? { ...record, users: (record.users as MadeRecord['users'] | undefined) ?? [] } : []
      })
    },
  }
}

interface KeptEngine {
  readonly name: string
  readonly key: string
  readonly sessions: readonly (readonly [session: string, engine: string])[]
}

export interface MadeFor {
  readonly url: string
  readonly clientArgs: readonly string[]
  readonly labels: Readonly<Record<string, string>>
  /** A later process may join what was made, for so long after its last use. */
  readonly keptMs: number
}

export interface MadeRecord extends MadeFor {
  readonly name: string
  readonly made: Record<string, string>
  /** Processes that joined it, of which some may have ended. */
  readonly users: readonly PlaceUser[]
  readonly usedAt: number
}

/** With the world that its pid belongs to, which older records lack. */
export interface PlaceUser extends Partial<World> {
  readonly pid: number
  readonly start: string
}

/**
 * One on another machine, which shares this state directory, cannot be seen from here: only there is it known to be
 * gone.
 */
function isUsing({ pid, start, boot, host }: PlaceUser): boolean {
  const where = boot === undefined ? 'here' : whereIs({ boot, ...(host === undefined ? {} : { host }) })
  return where === 'elsewhere' || (where === 'here' && isAlive(pid, start))
}

const isSame = (one: PlaceUser, other: PlaceUser): boolean =>
  one.pid === other.pid && (one.boot === undefined || one.boot === other.boot)

/** None of its processes nor a later one can want it any more. A time to come was written by a clock that was wrong. */
export function isOrphan({ users, keptMs, usedAt }: MadeRecord): boolean {
  const age = Date.now() - usedAt
  return !users.some(isUsing) && (age < 0 || age >= keptMs)
}
