/** The rooms of an engine: one per policy, built by the first command that needs it, entered by every command of that policy. */
import { createHash } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { roomEnvironment } from '../../confine/environment.js'
import { exposures } from '../../confine/exposure.js'
import { PolicyMistake, roomPolicy, type Places, type RoomPolicy } from '../../confine/policy.js'
import { isInside } from '../../confine/paths.js'
import { looserThan, tightened } from '../../confine/stricter.js'
import { wallItems } from '../../confine/walls.js'
import { ShellError } from '../../contract/errors.js'
import type { Outcome } from '../../contract/outcome.js'
import type { SandboxOptions, SandboxPlace, SandboxSummary } from '../../contract/sandbox.js'
import { thisMachine } from '../../os/confine/machine.js'
import { startProxy, type Proxy } from '../../os/confine/proxy.js'
import { limitRoom, type RoomLimits } from '../../os/confine/limits.js'
import { Quarantine } from '../../os/confine/quarantine.js'
import { adorned } from './sandbox-notes.js'
import { ROOM_GONE, type Launcher, type Pipe, type Room, type Ward } from '../../os/helper/launcher.js'
import { processesOf } from '../../os/helper/processes.js'
import { signalProcess } from '../../os/proc.js'
import { ensurePrivateDirectory } from '../../os/state-dir.js'

/** What the sandbox of an engine is made from. */
export interface SandboxParts {
  readonly options: SandboxOptions
  /** Of the engine. */
  readonly id: string
  readonly launcher: Launcher
  readonly stateDir: string
  readonly runDir: string
  readonly home: string
  readonly roots: readonly string[]
  readonly needed: readonly string[]
  readonly given: readonly string[]
}

export interface BuiltRoom {
  readonly room: Room
  readonly policy: RoomPolicy
  readonly quarantine: Quarantine
  /** With an allow-list. */
  readonly proxy: Proxy | null
  readonly limits: RoomLimits | null
  readonly place: SandboxPlace
  /** Variables of its commands. */
  readonly environment: Readonly<Record<string, string>>
}

/** One command, or one session, in its room. */
export interface Stay extends Pick<BuiltRoom, 'room' | 'place' | 'environment'> {
  readonly launcher: Launcher
  runFile(kind: string): string
  /** The outcome with what the sandbox has to say about it. */
  adorn(outcome: Outcome): Outcome
  /** Its last process is gone. */
  leave(): void
}

/** Orders, reports, state, stdout and stderr of a session's shell. */
const READY_PIPES = 5

/** A folder for the files of one stay, with pipes that have names. */
interface Prepared {
  readonly folder: string
  readonly pipes: readonly Pipe[]
  /** Pipes go with their launcher. */
  readonly madeBy: number
}

export class Sandbox {
  readonly #parts: SandboxParts
  readonly #inner: string
  readonly #rooms = new Map<string, Promise<BuiltRoom>>()
  #prepared: Promise<Prepared> | null = null
  readonly #told = new Set<string>()
  readonly #wards = new Set<Ward>()
  /** Settles when nothing stands still any more. */
  #thawed: Promise<void> = Promise.resolve()
  #folders = 0
  #closed = false

  constructor(parts: SandboxParts) {
    if (process.platform !== 'linux')
      throw new ShellError(
        'SANDBOX_UNAVAILABLE',
        `There is no sandbox on ${process.platform} yet, so nothing was started`,
        'Run it on Linux (a container or a virtual machine will do), or leave the sandbox off.',
      )
    if (parts.launcher.tier !== 'native')
      throw new ShellError(
        'SANDBOX_UNAVAILABLE',
        'A sandbox needs the native helper of cerith, which cannot be used here',
        'Build it with a C compiler (npm run build), or install the package that carries it for this machine; see `cerith doctor`.',
      )
    this.#parts = parts
    this.#inner = ensurePrivateDirectory(join(parts.runDir, 'room'))
  }

  get options(): SandboxOptions {
    return this.#parts.options
  }

  /** Variables that every command of the engine's own policy gets. */
  get environment(): Readonly<Record<string, string>> {
    return this.#environment(this.options)
  }

  #environment(options: SandboxOptions): Readonly<Record<string, string>> {
    return roomEnvironment(options.profile, options.network ?? 'none', this.#cacheDir(options))
  }

  /** Directories that commands in the rooms of this engine could have written in. */
  get writable(): readonly string[] {
    return [...this.#parts.roots, ...(this.options.write ?? [])].map((path) => thisMachine.real(path) ?? path)
  }

  summary(): SandboxSummary {
    const { profile, network, writable, hidden, protection } = this.#policy(this.options)
    return {
      profile,
      network,
      domains: this.options.domains ?? [],
      writable,
      hidden: hidden.filter((path) => thisMachine.kind(path) !== null),
      protected: protection.present,
      ports: this.options.ports ?? [],
      warnings: exposures(this.options, this.#parts.roots, thisMachine),
    }
  }

  /** Everything in the rooms stands still until the returned function is called. */
  freeze(): () => void {
    const stopped = new Set<number>()
    // Twice: what was started while the first list was read is on the second.
    for (let round = 0; round < 2; round++)
      for (const ward of this.#wards)
        for (const pid of processesOf(ward)) {
          signalProcess(pid, 'SIGSTOP')
          stopped.add(pid)
        }
    let thaw!: () => void
    const before = this.#thawed
    const now = new Promise<void>((resolve) => (thaw = resolve))
    this.#thawed = before.then(() => now)
    return () => {
      for (const pid of stopped) signalProcess(pid, 'SIGCONT')
      thaw()
    }
  }

  async #started(start: () => Promise<Ward>, named: boolean): Promise<Ward> {
    // A command that began now could change what a person is being asked about.
    await this.#thawed
    const ward = await start()
    // While the shell starts, there is time for it.
    if (named) setImmediate(() => this.#prepareNext())
    this.#wards.add(ward)
    void ward.gone.then(() => this.#wards.delete(ward))
    return ward
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
    const place = (): string => {
      folder ??= `f${++this.#folders}`
      const path = join(this.#inner, folder)
      mkdirSync(path, { recursive: true, mode: 0o700 })
      return path
    }
    const ready: Pipe[] = []
    if (named) {
      const prepared = await this.#takePrepared()
      folder = prepared.folder
      pipes = prepared.pipes.length
      ready.push(...prepared.pipes)
    }
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
        start: (spec) =>
          this.#started(async () => {
            const order = (): Promise<Ward> =>
              launcher.start({
                ...spec,
                // Rooms have theirs in the environment of the engine; the lower tier is known only now.
                ...(built.place.tier === 'landlock' ? { env: { ...spec.env, ...built.environment } } : {}),
                inside: {
                  room: built.room,
                  ...(folder === null ? {} : { folder }),
                  groups: built.limits?.groups ?? [],
                },
              })
            try {
              return await order()
            } catch (error) {
              if (!ShellError.is(error) || error.cause !== ROOM_GONE) throw error
              // Its holder was killed a moment ago; nothing was done yet, and the pipes are as they were.
              built.quarantine.leave()
              built = await this.#room(options)
              built.quarantine.enter()
              return order()
            }
          }, named),
        ...(named
          ? {
              pipeNow: () => ready.shift() ?? null,
              pipe: async () => ready.shift() ?? launcher.namedPipe(join(place(), `p${++pipes}`)),
            }
          : {}),
      },
      runFile: (kind) => join(place(), `${kind}${++files}`),
      adorn: (outcome) => adorned(outcome, built, this.options, this.#told),
      leave: () => {
        if (left) return
        left = true
        built.quarantine.leave()
        for (const pipe of ready.splice(0)) pipe.release()
        const path = folder === null ? null : join(this.#inner, folder)
        // Whoever closes a session need not wait for it; the whole directory goes with the engine.
        if (path !== null) setImmediate(() => rmSync(path, { recursive: true, force: true }))
      },
    }
  }

  /** The next session's pipes are made while this one's shell starts: a start waits for no way to the launcher and back. */
  async #takePrepared(): Promise<Prepared> {
    const waiting = this.#prepared
    this.#prepared = null
    const prepared = await waiting?.catch(() => null)
    return prepared?.madeBy === this.#parts.launcher.pid ? prepared : this.#prepare()
  }

  #prepareNext(): void {
    if (this.#prepared || this.#closed) return
    this.#prepared = this.#prepare()
    this.#prepared.catch(() => {}) // The next session makes its own.
  }

  async #prepare(): Promise<Prepared> {
    const folder = `f${++this.#folders}`
    const path = join(this.#inner, folder)
    mkdirSync(path, { recursive: true, mode: 0o700 })
    // All at once: each alone would be a way to the launcher and back.
    const asked = Array.from({ length: READY_PIPES }, (_, at) =>
      this.#parts.launcher.namedPipe(join(path, `p${at + 1}`)),
    )
    return { folder, pipes: await Promise.all(asked), madeBy: this.#parts.launcher.pid }
  }

  /** Rooms end with their last process; what no process needs any more ends now. */
  async close(): Promise<void> {
    this.#closed = true
    for (const building of this.#rooms.values()) {
      const built = await building.catch(() => null)
      // The last process is gone: what appeared since the last look is set aside now.
      built?.quarantine.look()
      built?.proxy?.close()
      built?.limits?.close()
      if (built?.room.alive) this.#parts.launcher.closeRoom(built.room)
    }
    this.#rooms.clear()
  }

  #policyFor(asked: Partial<SandboxOptions> | undefined): SandboxOptions {
    if (!asked) return this.options
    if (this.options.profile === 'off') return { ...asked, profile: asked.profile ?? 'workspace' }
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
    const building = known
      ? known.then((built) => (built.room.alive ? built : this.#build(options)))
      : this.#build(options)
    this.#rooms.set(key, building)
    building.catch(() => this.#rooms.delete(key))
    return building
  }

  async #build(options: SandboxOptions): Promise<BuiltRoom> {
    if (options.tier === 'landlock') return this.#buildWalls(options)
    try {
      return await this.#buildRoom(options)
    } catch (error) {
      const isWeaker = options.unavailable === 'weaker' && options.tier !== 'rooms'
      if (!isWeaker || !ShellError.is(error) || error.code !== 'SANDBOX_UNAVAILABLE') throw error
      return this.#buildWalls(options)
    }
  }

  async #buildRoom(options: SandboxOptions): Promise<BuiltRoom> {
    const policy = this.#policy(options)
    const { launcher, stateDir } = this.#parts
    const room = await launcher.room({
      items: policy.items,
      onlyWall: false,
      strict: policy.profile === 'strict',
      allNetwork: policy.network === 'all',
      nested: options.nested ?? false,
      weaker: options.unavailable === 'weaker',
      listens: policy.network === 'allow-list',
      ...(options.limits?.tmpBytes ? { tmpBytes: options.limits.tmpBytes } : {}),
      inner: this.#inner,
    })
    try {
      for (const port of options.ports ?? []) await launcher.publish(room, port)
      const proxy = policy.network === 'allow-list' ? await startProxy(launcher, room, options.domains ?? []) : null
      const quarantine = new Quarantine(stateDir, policy.protection.absent, policy.writable)
      const limits = this.#limits(room, options)
      const place = this.#place(room, policy, 'rooms')
      return { room, policy, quarantine, proxy, limits, place, environment: this.#environment(options) }
    } catch (error) {
      launcher.closeRoom(room)
      throw error
    }
  }

  /** Room numbers begin anew in every engine. */
  #place(room: Room, { profile, network }: RoomPolicy, tier: SandboxPlace['tier']): SandboxPlace {
    return { profile, network, tier, room: `${this.#parts.id}-${room.id}` }
  }

  #limits(room: Room, { limits }: SandboxOptions): RoomLimits | null {
    return limits ? limitRoom(`cerith-${this.#parts.id}-${room.id}`, limits) : null
  }

  /** Landlock and seccomp alone: no private /tmp, no protected names, no loopback of its own. */
  async #buildWalls(options: SandboxOptions): Promise<BuiltRoom> {
    if (options.network === 'allow-list' || (options.ports?.length ?? 0) > 0)
      throw new ShellError(
        'SANDBOX_UNAVAILABLE',
        'The weaker sandbox has no network of its own: an allow-list and published ports need rooms',
        'Set sandbox.network to none or all; `cerith doctor` says what rooms need on this machine.',
      )
    const policy = this.#policy(options)
    const holder = policy.writable.find((root) => policy.hidden.some((path) => isInside(path, root)))
    if (holder !== undefined)
      throw new ShellError(
        'SANDBOX_UNAVAILABLE',
        `The weaker sandbox cannot hide anything inside a writable directory, and ${holder} holds credentials or the state of cerith`,
        'Work in a directory below it.',
      )
    const { launcher, stateDir } = this.#parts
    const cacheDir = this.#cacheDir(options)
    const temporary = join(dirname(cacheDir), 'tmp')
    mkdirSync(temporary, { recursive: true, mode: 0o700 })
    const room = await launcher.room({
      items: wallItems(
        policy,
        [temporary, cacheDir, this.#inner].map((path) => thisMachine.real(path) ?? path),
      ),
      onlyWall: true,
      strict: policy.profile === 'strict',
      allNetwork: policy.network === 'all',
      nested: false,
      weaker: true,
      listens: false,
      inner: this.#inner,
    })
    const environment = {
      ...roomEnvironment('workspace', 'none', cacheDir),
      CERITH_SANDBOX_PROFILE: options.profile,
      TMPDIR: temporary,
    }
    return {
      room,
      policy,
      // Protected names that are there cannot be kept here; those that appear are set aside all the same.
      quarantine: new Quarantine(stateDir, policy.protection.absent, policy.writable),
      proxy: null,
      limits: this.#limits(room, options),
      place: this.#place(room, policy, 'landlock'),
      environment,
    }
  }

  /** What a room of these options is, without building it. */
  #policy(options: SandboxOptions): RoomPolicy {
    const { home, stateDir, roots, needed, given } = this.#parts
    const real = (path: string): string => thisMachine.real(path) ?? path
    const cacheDir = this.#cacheDir(options)
    mkdirSync(cacheDir, { recursive: true, mode: 0o700 })
    const places: Places = {
      home: real(home),
      stateDir: real(stateDir),
      roots: roots.map(real),
      cacheDir: real(cacheDir),
      needed: needed.map((path) => real(dirname(path))),
      given,
      isRoot: process.geteuid?.() === 0,
    }
    try {
      return roomPolicy(options, places, thisMachine)
    } catch (error) {
      if (!(error instanceof PolicyMistake)) throw error
      throw new ShellError(
        'BAD_REQUEST',
        `Bad sandbox: ${error.message}`,
        'Choose other directories for roots and sandbox.write.',
      )
    }
  }

  /** Belongs to a policy and its roots: no other project's commands can have put anything into it. */
  #cacheDir(options: SandboxOptions): string {
    const about = JSON.stringify([options.profile, options.network, options.domains, options.write, this.#parts.roots])
    const key = createHash('sha256').update(about).digest('hex').slice(0, 16)
    return join(this.#parts.stateDir, 'rooms', key, 'cache')
  }
}
