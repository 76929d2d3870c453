/**
 * The tries of an engine: which one a room goes on with, which are too old, and what is left of
 * them when the engine closes.
 */
import { ShellError } from '../../../contract/errors.js'
import type { SandboxOptions } from '../../../contract/sandbox.js'
import { isFree, removeTry, scanTry, tryBusy } from '../../../os/confine/try-helper.js'
import {
  findTry,
  isOf,
  isUnfinished,
  keptUntil,
  listTries,
  makeTry,
  saveTry,
  type TryFolder,
} from '../../../os/confine/try-store.js'
import { pause } from '../../../os/process/clock.js'

const KEEP_DAYS = 30
/** The last process of a room goes a moment after it was told to. */
export const LEAVE_MS = 3_000

export class Tries {
  readonly #stateDir: string
  /** Tries that this engine began or went on with, by their roots. */
  readonly #own = new Map<string, TryFolder>()
  /** To be told with the next outcome: what was removed because of its age. */
  readonly news: string[] = []
  #swept = false

  constructor(stateDir: string) {
    this.#stateDir = stateDir
  }

  /** The last one that this engine used; null before the first. */
  get current(): TryFolder | null {
    return [...this.#own.values()].at(-1) ?? null
  }

  async open(
    { try: choice, tryKeepDays: keepDays = KEEP_DAYS }: SandboxOptions,
    { roots, protect }: { readonly roots: readonly string[]; readonly protect: readonly string[] },
  ): Promise<TryFolder> {
    await this.#sweep()
    const key = JSON.stringify([roots, choice])
    const own = this.#own.get(key)
    const found = own && findTry(this.#stateDir, own.record.id)
    if (found) {
      await free(found)
      if (isUnfinished(found)) await scanTry(found)
      return found
    }
    const folder = (await this.#former(choice, roots)) ?? makeTry(this.#stateDir, roots, { protect, keepDays })
    if (isUnfinished(folder)) await scanTry(folder)
    folder.record.usedAt = Date.now()
    folder.record.keepDays = keepDays
    saveTry(folder)
    this.#own.set(key, folder)
    return folder
  }

  async #former(choice: SandboxOptions['try'], roots: readonly string[]): Promise<TryFolder | null> {
    if (choice === 'new') return null
    if (typeof choice === 'string') {
      const named = foundTry(this.#stateDir, choice)
      if (isOf(named, roots)) return named
      throw new ShellError(
        'BAD_REQUEST',
        `${choice} is about other directories: ${named.record.roots.map(({ path }) => path).join(', ')}`,
        'Run it there, or begin another.',
      )
    }
    for (const folder of listTries(this.#stateDir)) if (isOf(folder, roots) && (await isFree(folder))) return folder
    return null
  }

  /** Once per engine. One that is in use, or cannot be removed, stays. */
  async #sweep(): Promise<void> {
    if (this.#swept) return
    this.#swept = true
    for (const folder of listTries(this.#stateDir)) {
      if (keptUntil(folder.record) > Date.now()) continue
      const removed = await removeTry(folder).then(
        () => true,
        () => false,
      )
      if (removed)
        this.news.push(`${folder.record.id} was removed: it was not used for ${folder.record.keepDays} days.`)
    }
  }

  /** Discarded. */
  forget(id: string): void {
    for (const [key, { record }] of this.#own) if (record.id === id) this.#own.delete(key)
  }

  /**
   * `livesOn`: detached jobs are in its room. What holds changes is kept until they are
   * accepted or discarded; the rest goes with the engine.
   */
  async close(livesOn: (id: string) => boolean): Promise<void> {
    for (const { record } of this.#own.values()) {
      if (livesOn(record.id)) continue
      const folder = findTry(this.#stateDir, record.id)
      if (!folder) continue
      try {
        await free(folder)
        if ((await scanTry(folder)).length === 0) await removeTry(folder)
      } catch {
        // A root is gone, or something of it is slow to end: `cerith diff` lists it.
      }
    }
    this.#own.clear()
  }
}

export function foundTry(stateDir: string, id: string): TryFolder {
  const folder = findTry(stateDir, id)
  if (folder) return folder
  const known = listTries(stateDir).map(({ record }) => record.id)
  throw new ShellError(
    'TRY_NOT_FOUND',
    `No try ${id}`,
    known.length > 0
      ? `There are: ${known.slice(0, 20).join(', ')}.`
      : 'Nothing was tried, or it was all accepted or discarded.',
  )
}

/** Waits for the last process of its room. */
export async function free(folder: TryFolder): Promise<void> {
  const until = performance.now() + LEAVE_MS
  while (!(await isFree(folder))) {
    if (performance.now() > until) throw tryBusy(folder.record.id)
    await pause(20)
  }
}
