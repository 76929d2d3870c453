/**
 * The rooms of an engine: one per policy, built by the first command that needs it, entered by
 * every command of that policy.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { looserThan, tightened } from '../../../confine/stricter.js'
import { ShellError } from '../../../contract/errors.js'
import type { JobInfo } from '../../../contract/job.js'
import type { Note } from '../../../contract/note.js'
import type { Outcome } from '../../../contract/outcome.js'
import type { SandboxOptions, SandboxSummary } from '../../../contract/sandbox.js'
import { exposedHere, thisMachine } from '../../../os/confine/machine.js'
import { needsHelper } from '../../../os/helper/file.js'
import { ROOM_GONE, type Launcher, type Pipe, type Ward } from '../../../os/helper/launcher.js'
import { processesOf } from '../../../os/helper/processes.js'
import { childrenOf, isStopped, signalProcess } from '../../../os/process/proc.js'
import { pause } from '../../../os/process/clock.js'
import { makeMemoryDirectory } from '../../../os/files/memory-dir.js'
import { ensurePrivateDirectory } from '../../../os/files/state-dir.js'
import { RoomBuilder, type BuiltRoom, type SandboxParts } from './builder.js'
import { StayFolders } from './folders.js'
import { adorned, toldOf, type Around } from './notes.js'

/** One command, or one session, in its room. */
export interface Stay extends Pick<BuiltRoom, 'room' | 'place' | 'environment'> {
  readonly launcher: Launcher
  runFile(kind: string): string
  /** The outcome with what the sandbox has to say about it. */
  adorn(outcome: Outcome): Outcome
  /** Its last process is gone. */
  leave(): void
}

/** Of which it is kept what was told of them. */
const MAX_JOBS = 1_000
/** How long everything in the rooms may take to stand still, and how many lists in a row must show it. */
const STILL_MS = 3_000
const STILL_LISTS = 3
/** A child of vfork that was stopped before its exec holds its parent where no signal stops it: then it goes on. */
const STUCK_MS = 50

export class Sandbox {
  readonly #parts: SandboxParts
  /** The directory of session files: made for the first room, whose launcher removes it. */
  readonly #inner: () => string
  readonly #builder: RoomBuilder
  readonly #rooms = new Map<string, Promise<BuiltRoom>>()
  readonly #folders: StayFolders
  /** Causes that runs and jobs were told of. */
  readonly #told = new Set<string>()
  readonly #toldOfJobs = new Map<string, readonly Note[]>()
  /** Rooms that were not ended. */
  readonly #built: BuiltRoom[] = []
  readonly #wards = new Map<Ward, BuiltRoom>()
  /** Settles when nothing stands still any more. */
  #thawed: Promise<void> = Promise.resolve()
  /** The room of the engine's own try. */
  #tried: BuiltRoom | null = null

  constructor(parts: SandboxParts) {
    if (process.platform !== 'linux')
      throw new ShellError(
        'SANDBOX_UNAVAILABLE',
        `There is no sandbox on ${process.platform} yet, so nothing was started`,
        'Run it on Linux (a container or a virtual machine will do), or leave the sandbox off.',
      )
    if (parts.launcher.tier !== 'native') throw needsHelper('SANDBOX_UNAVAILABLE', 'A sandbox')
    this.#parts = parts
    let made: string | null = null
    this.#inner = () => (made ??= makeMemoryDirectory(parts.id) ?? ensurePrivateDirectory(join(parts.runDir, 'room')))
    this.#builder = new RoomBuilder(parts, this.#inner)
    this.#folders = new StayFolders(parts.launcher, this.#inner)
  }

  get options(): SandboxOptions {
    return this.#parts.options
  }

  /** Variables that every command of the engine's own policy gets. */
  get environment(): Readonly<Record<string, string>> {
    return this.#builder.environment(this.options)
  }

  /** Directories that commands in the rooms of this engine could have written in. */
  get writable(): readonly string[] {
    return [...this.#parts.roots, ...(this.options.write ?? [])].map((path) => thisMachine.real(path) ?? path)
  }

  summary(): SandboxSummary {
    const { profile, network, writable, hidden, protection } = this.#builder.policy(this.options)
    return {
      profile,
      network,
      domains: this.options.domains ?? [],
      writable,
      hidden: hidden.filter((path) => thisMachine.kind(path) !== null),
      protected: protection.present,
      ports: this.options.ports ?? [],
      warnings: exposedHere(this.options, this.#parts.roots),
    }
  }

  /** Everything in the rooms stands still until the returned function is called; null where something never did. */
  async freeze(): Promise<(() => void) | null> {
    const stopped = new Set<number>()
    let thaw!: () => void
    const before = this.#thawed
    const now = new Promise<void>((resolve) => (thaw = resolve))
    this.#thawed = before.then(() => now)
    const goOn = (): void => {
      for (const pid of stopped) signalProcess(pid, 'SIGCONT')
      thaw()
    }
    const began = performance.now()
    // A list is read process by process: what forks meanwhile is on one of the next, and more than one must say so.
    for (let still = 0; still < STILL_LISTS;) {
      const moving = this.#stopAll(stopped)
      still = moving.length === 0 ? still + 1 : 0
      if (still > 0) continue
      const ms = performance.now() - began
      if (ms > STILL_MS) {
        goOn()
        return null
      }
      const stuck = ms > STUCK_MS ? moving.flatMap(childrenOf).filter((child) => stopped.has(child)) : []
      for (const child of stuck) signalProcess(child, 'SIGCONT')
      // On a busy machine it takes its time until it runs.
      await pause(stuck.length > 0 ? STUCK_MS : 1)
    }
    return goOn
  }

  /** Stops every process of the room. Gives those that were not stopped already. */
  #stopAll(stopped: Set<number>): number[] {
    const moving: number[] = []
    for (const ward of this.#wards.keys())
      for (const pid of processesOf(ward)) {
        if (isStopped(pid)) continue
        signalProcess(pid, 'SIGSTOP')
        stopped.add(pid)
        moving.push(pid)
      }
    return moving
  }

  /** `named`: pipes of the stay have names that a shell inside can open. */
  async enter(asked: Partial<SandboxOptions> | undefined, named: boolean): Promise<Stay> {
    const options = this.#policyFor(asked)
    let built = await this.#room(options)
    const { launcher } = this.#parts
    let folder: string | null = null
    let files = 0
    let pipes = 0
    // Made by the first file: most commands need none.
    const place = (): string => this.#folders.make((folder ??= this.#folders.name()))
    const ready: Pipe[] = []
    if (named) {
      const prepared = await this.#folders.takePrepared()
      folder = prepared.folder
      pipes = prepared.pipes.length
      ready.push(...prepared.pipes)
    }
    // Each session is told once of each cause: what another one was told may have had another reader.
    const known = named ? new Set<string>() : this.#told
    built.quarantine.enter()
    let left = false
    return {
      get room() {
        return built.room
      },
      get place() {
        return built.place
      },
      get environment() {
        return built.environment
      },
      launcher: {
        ...launcher,
        tier: launcher.tier,
        pid: launcher.pid,
        get alive() {
          return launcher.alive
        },
        start: async (spec) => {
          const order = async (): Promise<Ward> =>
            launcher.start({
              ...spec,
              // Rooms have theirs in the environment of the engine; the lower tier is known only now.
              ...(built.place.tier === 'landlock' ? { env: { ...spec.env, ...built.environment } } : {}),
              inside: { room: built.room, ...(folder === null ? {} : { folder }), groups: built.limits?.groups ?? [] },
            })
          // A command that began now could change what a person is being asked about.
          await this.#thawed
          const ward = await order().catch(async (error: unknown) => {
            if (!ShellError.is(error) || error.cause !== ROOM_GONE) throw error
            // Its holder was killed a moment ago; nothing was done yet, and the pipes are as they were.
            built.quarantine.leave()
            built = await this.#room(options)
            built.quarantine.enter()
            return order()
          })
          // While the shell starts, there is time for it.
          if (named) setImmediate(() => this.#folders.prepareNext())
          this.#wards.set(ward, built)
          void ward.gone.then(() => this.#wards.delete(ward))
          return ward
        },
        ...(named
          ? {
              pipeNow: () => ready.shift() ?? null,
              pipe: async () => ready.shift() ?? launcher.namedPipe(join(place(), `p${++pipes}`)),
            }
          : {}),
      },
      runFile: (kind) => join(place(), `${kind}${++files}`),
      adorn: (outcome) => adorned(outcome, built, () => this.#around(known)),
      leave: () => {
        if (left) return
        left = true
        built.quarantine.leave()
        for (const pipe of ready.splice(0)) pipe.release()
        const path = folder === null ? null : join(this.#inner(), folder)
        // Closing a session does not wait for the removal; what is left goes with the engine's directory.
        if (path !== null) setImmediate(() => rmSync(path, { recursive: true, force: true }))
      },
    }
  }

  #around(known = this.#told): Around {
    const { news } = this.#parts.tries
    return { options: this.options, known, news: news.length === 0 ? news : news.splice(0) }
  }

  /** What the sandbox has to say about a job of this engine that has ended, the same with every look at it. */
  notesOf({ id, status, cwd, sandbox }: JobInfo, words: () => string): readonly Note[] {
    const known = this.#toldOfJobs.get(id)
    const built = known ? undefined : this.#built.find(({ place }) => place.room === sandbox?.room)
    if (!built) return known ?? []
    const failed = status === 'failed' || status === 'timeout'
    const { notes } = toldOf(failed, words, cwd, built, built.quarantine.look(), this.#around())
    this.#toldOfJobs.set(id, notes)
    if (this.#toldOfJobs.size > MAX_JOBS) this.#toldOfJobs.delete(this.#toldOfJobs.keys().next().value as string)
    return notes
  }

  /** Rooms end with their last process; what no process needs any more ends now. */
  async close(): Promise<void> {
    this.#folders.close()
    for (const building of this.#rooms.values()) {
      const built = await building.catch(() => null)
      if (built) this.#end(built)
    }
    this.#rooms.clear()
  }

  #end(built: BuiltRoom): void {
    this.#built.splice(this.#built.indexOf(built), 1)
    built.quarantine.lookLast()
    built.proxy?.close()
    built.limits?.close()
    if (built.room.alive) this.#parts.launcher.closeRoom(built.room)
  }

  /** The room of a try is built before a directory is looked for: it may be in the layer alone. */
  async prepared(): Promise<void> {
    const built = await this.#room(this.options)
    if (built.tried) this.#tried = built
  }

  /** Where a path of the room can be looked at from outside. */
  seen(path: string): string {
    return this.#tried?.room.alive ? `/proc/${this.#tried.room.holderPid}/root${path}` : path
  }

  /** Commands that live in the room of a try. */
  livesIn(id: string): Ward[] {
    return [...this.#wards].flatMap(([ward, { tried }]) => (tried?.record.id === id ? [ward] : []))
  }

  /** Ends the room of a try; the next command builds another. */
  async vacate(id: string): Promise<void> {
    for (const [key, building] of this.#rooms) {
      const built = await building.catch(() => null)
      if (built?.tried?.record.id !== id) continue
      this.#rooms.delete(key)
      this.#end(built)
    }
  }

  #policyFor(asked: Partial<SandboxOptions> | undefined): SandboxOptions {
    if (!asked) return this.options
    if (this.options.profile === 'off') return { ...asked, profile: asked.profile ?? 'workspace' }
    if (this.options.try)
      throw new ShellError(
        'BAD_REQUEST',
        'Bad request: in a try every call has the sandbox of its engine, because all of them see the same layer',
        'Leave `sandbox` out, or create another engine.',
      )
    const looser = looserThan(this.options, asked)
    if (looser.length > 0)
      throw new ShellError(
        'BAD_REQUEST',
        `A call may only tighten the sandbox of its engine; this would loosen: ${looser.join(', ')}`,
        'Leave it out, or create an engine with that sandbox.',
      )
    return tightened(this.options, asked)
  }

  #room(options: SandboxOptions): Promise<BuiltRoom> {
    const key = JSON.stringify(options)
    const known = this.#rooms.get(key)
    const building = known ? known.then((built) => this.#current(built, options)) : this.#builder.build(options)
    this.#rooms.set(key, building)
    building.then(
      (built) => this.#built.includes(built) || this.#built.push(built),
      () => this.#rooms.delete(key),
    )
    return building
  }

  /** A room of its own time: what the person made since it was left is protected in the next one. */
  async #current(built: BuiltRoom, options: SandboxOptions): Promise<BuiltRoom> {
    if (built.room.alive && !built.quarantine.isOutdated()) return built
    // What still runs in a room whose holder was killed goes on with its proxy and its limits.
    if (built.room.alive) this.#end(built)
    else built.quarantine.lookLast()
    return this.#builder.build(options)
  }
}
