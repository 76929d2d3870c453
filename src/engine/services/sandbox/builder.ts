/**
 * Builds the room of a policy: what it means for this machine, its try, and what else lives as long as the room does.
 */
import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { roomEnvironment } from '../../../confine/environment.js'
import { PolicyMistake, roomPolicy, type Item, type Places, type RoomPolicy } from '../../../confine/policy.js'
import { isInside } from '../../../contract/names/inside.js'
import { wallItems } from '../../../confine/walls.js'
import { ShellError } from '../../../contract/errors.js'
import type { SandboxOptions, SandboxPlace } from '../../../contract/sandbox.js'
import { thisMachine } from '../../../os/confine/machine.js'
import { startProxy, type Proxy } from '../../../os/confine/proxy.js'
import { limitRoom, type RoomLimits } from '../../../os/confine/limits.js'
import { Quarantine } from '../../../os/confine/quarantine.js'
import { noTryHere, tryRefusal } from '../../../os/confine/try-refusal.js'
import type { TryFolder } from '../../../os/confine/try-store.js'
import { accountHome } from '../../../os/files/home.js'
import type { Launcher, Room, RoomOrder } from '../../../os/helper/launcher.js'
import { roomError, roomFailureOf } from '../../../os/helper/room-error.js'
import type { Tries } from './tries.js'

/** What the sandbox of an engine is made from. */
export interface SandboxParts {
  readonly options: SandboxOptions
  /** Of the engine. */
  readonly id: string
  readonly launcher: Launcher
  readonly stateDir: string
  readonly runDir: string
  readonly home: string
  /** Of the engine. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly roots: readonly string[]
  readonly needed: readonly string[]
  readonly given: readonly string[]
  readonly own: readonly string[]
  readonly tries: Tries
}

export interface BuiltRoom {
  readonly room: Room
  readonly policy: RoomPolicy
  readonly quarantine: Quarantine
  /** With an allow-list. */
  readonly proxy: Proxy | null
  readonly limits: RoomLimits | null
  readonly place: SandboxPlace
  /** Holds what is written in its roots; null where that counts at once. */
  readonly tried: TryFolder | null
  /** Variables of its commands. */
  readonly environment: Readonly<Record<string, string>>
}

/** How often the disk is looked at anew when it changed while a room was built. */
const MAX_LOOKS = 20

export class RoomBuilder {
  readonly #parts: SandboxParts
  readonly #inner: () => string
  readonly #published = new Map<number, Room>()
  /** Where writable directories led to when they were first asked for. */
  readonly #places = new Map<string, string>()

  /** `inner`: the directory of session files. */
  constructor(parts: SandboxParts, inner: () => string) {
    this.#parts = parts
    this.#inner = inner
    for (const path of [...parts.roots, ...(parts.options.write ?? [])]) this.#checkPlace(path)
  }

  environment(options: SandboxOptions): Readonly<Record<string, string>> {
    return roomEnvironment(options.profile, options.network ?? 'none', this.#cacheDir(options))
  }

  /**
   * The one place where a kind of wall is chosen: another system's (macOS `sandbox-exec`) would
   * be a further way from a policy to a BuiltRoom.
   */
  async build(options: SandboxOptions): Promise<BuiltRoom> {
    if (options.try && options.tier === 'landlock') throw noTryHere()
    if (options.tier === 'landlock') return this.#buildWalls(options)
    try {
      return await this.#buildRoom(options)
    } catch (error) {
      // What is to be tried must not count: there is no weaker way.
      const isWeaker = options.unavailable === 'weaker' && options.tier !== 'rooms' && !options.try
      if (!isWeaker || !ShellError.is(error) || error.code !== 'SANDBOX_UNAVAILABLE') throw error
      return this.#buildWalls(options)
    }
  }

  /**
   * The disk may change between the look at it and the mounts: then it is looked at again. A room whose policy is not
   * that of the moment it stood is not used, so what came in between is hidden and protected like the rest.
   */
  async #buildRoom(options: SandboxOptions): Promise<BuiltRoom> {
    for (let left = MAX_LOOKS; ; left--) {
      const policy = this.policy(options)
      try {
        const built = await this.#roomOf(options, policy)
        if (built) return built
      } catch (error) {
        if (!roomFailureOf(error)?.diskChanged || left === 0) throw error
      }
      if (left === 0) throw roomError('EAGAIN', 'protected names come and go')
    }
  }

  /** Null: what it hides or protects has changed meanwhile. */
  async #roomOf(options: SandboxOptions, policy: RoomPolicy): Promise<BuiltRoom | null> {
    const { launcher, stateDir, tries } = this.#parts
    const tried = policy.tried ? await tries.open(options, policy.tried) : null
    const order: RoomOrder = {
      items: tried ? layered(policy.items, tried) : policy.items,
      onlyWall: false,
      strict: policy.profile === 'strict',
      allNetwork: policy.network === 'all',
      nested: options.nested ?? false,
      weaker: options.unavailable === 'weaker',
      listens: policy.network === 'allow-list',
      ...(options.limits?.tmpBytes ? { tmpBytes: options.limits.tmpBytes } : {}),
      inner: real(this.#inner()),
      ...(tried ? { lock: join(tried.dir, 'lock') } : {}),
    }
    const room = await launcher.room(order).catch((error: unknown) => {
      throw tried && ShellError.is(error) ? tryRefusal(error, tried) : error
    })
    try {
      // What appears in an original that is only tried was made by others.
      const { absent, present } = policy.protection
      const quarantine = new Quarantine(real(stateDir), absent, tried ? [] : policy.writable, present)
      // From here on the quarantine sees what appears.
      if (kept(this.policy(options)) !== kept(policy)) {
        quarantine.lookLast()
        launcher.closeRoom(room)
        return null
      }
      await this.#publish(room, options.ports ?? [])
      const proxy = policy.network === 'allow-list' ? await startProxy(launcher, room, options.domains ?? []) : null
      const limits = this.#limits(room, options)
      const { profile, network } = policy
      const place = {
        profile,
        network,
        tier: 'rooms',
        room: this.#nameOf(room),
        try: tried?.record.id ?? null,
      } as const
      return { room, policy, quarantine, proxy, limits, place, tried, environment: this.environment(options) }
    } catch (error) {
      launcher.closeRoom(room)
      throw error
    }
  }

  /** A port leads to one room: a stricter call beside it gets none. */
  async #publish(room: Room, ports: readonly number[]): Promise<void> {
    for (const port of ports) {
      if (this.#published.get(port)?.alive) continue
      await this.#parts.launcher.publish(room, port)
      this.#published.set(port, room)
    }
  }

  /** Room numbers begin anew in every engine. */
  #nameOf(room: Room): string {
    return `${this.#parts.id}-${room.id}`
  }

  #limits(room: Room, { limits }: SandboxOptions): RoomLimits | null {
    const inside = `/proc/${room.holderPid}/root`
    const temporary = room.holderPid > 0 ? [`${inside}/tmp`, `${inside}/dev/shm`] : null
    return limits ? limitRoom(`cerith-${this.#nameOf(room)}`, limits, temporary) : null
  }

  /** Landlock and seccomp alone: no private /tmp, no protected names, no loopback of its own. */
  async #buildWalls(options: SandboxOptions): Promise<BuiltRoom> {
    if (options.network === 'allow-list' || (options.ports?.length ?? 0) > 0)
      throw new ShellError(
        'SANDBOX_UNAVAILABLE',
        'The weaker sandbox has no network of its own: an allow-list and published ports need rooms',
        'Set sandbox.network to none or all; `cerith doctor` says what rooms need on this machine.',
      )
    const policy = this.policy(options)
    const holder = policy.writable.find((root) => policy.hidden.some((path) => isInside(path, root)))
    if (holder !== undefined)
      throw new ShellError(
        'SANDBOX_UNAVAILABLE',
        `The weaker sandbox cannot hide anything inside a writable directory, and ${holder} holds credentials ` +
          'or the state of cerith',
        'Work in a directory below it.',
      )
    const { launcher, stateDir } = this.#parts
    const cacheDir = this.#cacheDir(options)
    const temporary = join(dirname(cacheDir), 'tmp')
    mkdirSync(temporary, { recursive: true, mode: 0o700 })
    const room = await launcher.room({
      items: wallItems(policy, [temporary, cacheDir].map(real)),
      onlyWall: true,
      strict: policy.profile === 'strict',
      allNetwork: policy.network === 'all',
      nested: false,
      weaker: true,
      listens: false,
      inner: real(this.#inner()),
    })
    const environment = {
      ...roomEnvironment('workspace', 'none', cacheDir),
      CERITH_SANDBOX_PROFILE: options.profile,
      TMPDIR: temporary,
    }
    const { profile, network } = policy
    return {
      room,
      policy,
      // Protected names that are there cannot be kept here; those that appear are set aside all the same.
      quarantine: new Quarantine(real(stateDir), policy.protection.absent, policy.writable),
      proxy: null,
      limits: this.#limits(room, options),
      place: { profile, network, tier: 'landlock', room: this.#nameOf(room), try: null },
      tried: null,
      environment,
    }
  }

  /** What a room of these options is, without building it. */
  policy(options: SandboxOptions): RoomPolicy {
    const { home, env, stateDir, roots, needed, given, own } = this.#parts
    for (const path of [...roots, ...(options.write ?? [])]) this.#checkPlace(path)
    const account = accountHome()
    const cacheDir = this.#cacheDir(options)
    mkdirSync(cacheDir, { recursive: true, mode: 0o700 })
    const places: Places = {
      home: real(home),
      accountHome: account === null || real(account) === real(home) ? null : real(account),
      env,
      stateDir: real(stateDir),
      roots: roots.map(real),
      cacheDir: real(cacheDir),
      needed: needed.map((path) => real(dirname(path))),
      given,
      own: own.map(real),
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

  /**
   * A writable directory inside another engine's root can be exchanged for a link by commands there: what the path
   * led to first is what was meant.
   */
  #checkPlace(path: string): void {
    const now = real(path)
    const meant = this.#places.get(path) ?? now
    this.#places.set(path, meant)
    if (now !== meant)
      throw new ShellError(
        'SANDBOX_UNAVAILABLE',
        `${path} has been ${meant} and leads to ${now} now, so nothing was started`,
        'Put the directory back, or create another engine.',
      )
  }

  /** Belongs to a policy and its roots: no other project's commands can have put anything into it. */
  #cacheDir(options: SandboxOptions): string {
    const about = JSON.stringify([options.profile, options.network, options.domains, options.write, this.#parts.roots])
    const key = createHash('sha256').update(about).digest('hex').slice(0, 16)
    return join(this.#parts.stateDir, 'rooms', key, 'cache')
  }
}

/** What must not be missing in a room. Directories that are shown may come and go. */
function kept({ hidden, protection }: RoomPolicy): string {
  return JSON.stringify([hidden, protection])
}

function real(path: string): string {
  return thisMachine.real(path) ?? path
}

/** Each root of a try with the layer that is laid over it. */
function layered(items: readonly Item[], { dir, record }: TryFolder): Item[] {
  return items.map((item) => {
    const at = item.kind === 'try' ? record.roots.findIndex(({ path }) => path === item.path) : -1
    return at < 0 ? item : { ...item, layer: join(dir, String(at)) }
  })
}
