/**
 * An engine that works at another place: the place from its address, an arrival for every link,
 * and the near face over it.
 */
import type { Engine } from '../contract/engine.js'
import { ShellError } from '../contract/errors.js'
import type { ReachOptions } from '../contract/place.js'
import { checkFields, ENGINE_ROWS } from '../engine/plan/fields.js'
import type { EngineOptions } from '../engine/services/options.js'
import { stateDirectory } from '../os/files/state-dir.js'
import { arrive, type Arrival } from './arrive/arrive.js'
import { batchScript } from './arrive/script.js'
import { pack, WIRE_VERSION } from './messages.js'
import { createNearEngine } from './near/engine.js'
import { settingsOf } from './near/request-args.js'
import type { OpenLink } from './near/link.js'
import { placeAt } from './places/places.js'
import { isOrphan, recordsIn, type MadeFor, type MadeRecord } from './records.js'

/** What was made and is gone is made again; the face says that everything in it was lost. */
async function openAt(arrival: Arrival, lookMs: number): Promise<OpenLink> {
  try {
    return await arrive(arrival, lookMs)
  } catch (error) {
    if (!arrival.place.isMade || !ShellError.is(error) || error.code !== 'PLACE_GONE') throw error
    await arrival.place.acquire()
    return arrive(arrival, lookMs)
  }
}

/**
 * Removes what was made for engines that are gone: containers, pods and allocations whose ids were written down here.
 */
export async function sweepPlaces(stateDir = stateDirectory()): Promise<readonly SweptRecord[]> {
  const records = recordsIn(stateDir)
  const swept: SweptRecord[] = []
  // One that cannot be removed now does not keep the others.
  const remove = async (orphan: MadeRecord): Promise<string | null> => {
    const { name, url, clientArgs } = orphan
    try {
      await placeAt(url, { reach: { clientArgs }, name, made: records.made(name, orphan), batch: '' }).release()
      return null
    } catch (error) {
      return (error as Error).message
    }
  }
  for (const { name } of records.listMade().filter(isOrphan)) {
    // While another process holds it, that one joins what was made or makes it anew.
    const lock = await records.lock(name, { waitMs: 0 })
    const orphan = lock.held && records.listMade().find((each) => each.name === name && isOrphan(each))
    if (orphan) swept.push({ ...orphan, problem: await remove(orphan) })
    lock.release()
  }
  return swept
}

/** `problem`: why it could not be removed; it stays written down. */
export type SweptRecord = MadeRecord & { readonly problem: string | null }

/** Everything that was made from here and not removed yet. */
export function madePlaces(stateDir = stateDirectory()): readonly (MadeRecord & { readonly isOrphan: boolean })[] {
  return recordsIn(stateDir)
    .listMade()
    .map((record) => ({ ...record, isOrphan: isOrphan(record) }))
}

function madeFor(url: string, { clientArgs = [], labels = {}, keep, leaseMs = 600_000 }: ReachOptions): MadeFor {
  return { url, clientArgs, labels, keptMs: keep === undefined ? 0 : leaseMs }
}

/** How long a batch job waits for the first link before it gives its place back. */
const BATCH_WAIT_SECONDS = 600
const LEAVE_MS = 500

export async function createReachEngine(options: EngineOptions & { readonly at: string }): Promise<Engine> {
  checkFields('createEngine', options, ENGINE_ROWS)
  const { at: url, reach = {} } = options
  const stateDir = options.stateDir ?? stateDirectory()
  const records = recordsIn(stateDir)
  // Of this place alone: another one must not know the key, nor stand in the record of what was made.
  const about = [WIRE_VERSION, url, reach.clientArgs ?? [], pack(settingsOf(options))]
  const { name, key, sessions } = records.engine(reach.keep, about, [url, reach.clientArgs ?? []])
  const salt = records.salt()
  const batch = batchScript({ name, salt, uploadDir: reach.uploadDir ?? '' }, BATCH_WAIT_SECONDS)
  const made = records.made(name, madeFor(url, reach))
  const found = placeAt(url, { reach, name, made, batch })
  // Processes that come at once join what one of them makes.
  let isReleased = false
  const alone = async (work: () => Promise<void>): Promise<void> => {
    const lock = await records.lock(name)
    await work().finally(() => lock.release())
  }
  // A link that is tried while its engine is closed finds nothing there, and must not make it again.
  const acquire = (): Promise<void> =>
    alone(async () => {
      if (isReleased) throw new ShellError('PLACE_GONE', `${url} was given back`, 'Create a new engine.')
      await found.acquire()
    })
  const release = (): Promise<void> => {
    isReleased = true
    return alone(found.release)
  }
  /** Its holder makes the place anew or removes it, and writes that down. */
  const leave = async (): Promise<void> => {
    if (!found.isMade) return
    const lock = await records.lock(name, { waitMs: LEAVE_MS })
    if (lock.held) made.touch()
    lock.release()
  }
  const place = found.isMade ? { ...found, acquire, release } : found
  await place.acquire()
  try {
    return await createNearEngine({
      url,
      key,
      sessions,
      options: { ...options, ...(options.cwd === undefined && place.cwd !== null ? { cwd: place.cwd } : {}) },
      open: (lookMs) => openAt({ place, reach, name, salt, key, stateDir }, lookMs),
      release: () => (reach.keep === undefined ? place.release() : leave()),
    })
  } catch (error) {
    // What cannot be removed stays written down; why there is no engine matters more.
    if (reach.keep === undefined) await place.release().catch(() => {})
    throw error
  }
}
