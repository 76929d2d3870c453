/**
 * The pipes behind a session's stdout and stderr. While a process of an earlier call holds them,
 * the next call gets new pipes, and every descriptor of the shell that leads to the old ones
 * follows. A process between the shell and a pipe (`exec > >(sed ...)`) cannot follow: its pipe
 * is read on, what it prints between two calls is shown with the next one, and a note says so.
 */
import type { Redirect } from '../lines/call-text.js'
import type { Note } from '../../../contract/note.js'
import { fstatSync } from 'node:fs'
import type { Pipe } from '../../../os/helper/launcher.js'
import { lastingName, readPipe, type Held, type PipeReader } from '../../../os/files/pipe-reader.js'
import { processesOf, type Watched } from '../../../os/helper/processes.js'
import { fileName, openFiles, type OpenFile } from '../../../os/process/open-files.js'
import { hasProc, linkOf, shownProcesses } from '../../../os/process/proc.js'
import { takePipe } from '../../services/pipes.js'
import type { Services } from '../../services/services.js'

/** Where the bytes of the running call go; nowhere between calls. */
export interface Sinks {
  out(chunk: Uint8Array): Held
  err(chunk: Uint8Array): Held
}

export interface Attached {
  readonly redirects: readonly Redirect[]
  readonly notes: readonly Note[]
}

interface Channel {
  readonly side: keyof Sinks
  readonly reader: PipeReader
  /** Which file it is for the kernel, to see which descriptors lead to it. */
  readonly file: string
  owner: Sinks | null
  /** What a process in between printed while there was no call; null where no such process writes into this pipe. */
  late: Uint8Array[] | null
}

/** A new pipe that the shell does not have yet. */
interface Made {
  readonly channel: Channel
  readonly pipe: Pipe
}

const NUMBER: Readonly<Record<keyof Sinks, 1 | 2>> = { out: 1, err: 2 }
const NOTHING_TO_DO: Attached = { redirects: [], notes: [] }
/** Output of a process in between counts as complete when none came for this long. */
const QUIET_MS = 25
const QUIET_LIMIT_MS = 250
/** What is printed between two calls may not grow without bound: the oldest of so many chunks go first. */
const MOST_LATE = 256

export class SessionStreams {
  readonly #services: Services
  readonly #ward: Watched
  /** Null before the first call: what bash itself says at its start goes nowhere. */
  #out: Channel | null = null
  #err: Channel | null = null
  /** Pipes that were replaced, as long as a process can write into them. */
  #old: Channel[] = []
  #switched: Pipe[] = []
  /** The running call has given the shell new pipes. */
  #isRenewed = false
  #lastByteAt = 0
  #lostLate = 0
  /** Processes in between that an outcome has named. */
  readonly #named = new Set<number>()
  /** Files that an outcome has named, by the stream that goes there. */
  #moved: ReadonlyMap<string, string> = new Map()

  constructor(services: Services, ward: Watched) {
    this.#services = services
    this.#ward = ward
  }

  /** Whether a call has had them before. */
  get used(): boolean {
    return this.#out !== null
  }

  /**
   * Hands the streams to a new call. `shared`: a process of an earlier call may still write
   * into the old pipes, so the shell gets new ones.
   * `moved`: the agent may have pointed its stdout or stderr somewhere else. A stream that it closed is opened again.
   */
  async attach(sinks: Sinks, shared: boolean, moved: boolean): Promise<Attached> {
    if (this.#out && this.#err && !shared && !moved) {
      this.give(sinks)
      return NOTHING_TO_DO
    }
    const { used } = this
    const open = openFiles(this.#ward.pid)
    const between = shared ? this.#findBetween(open) : []
    // Both or none: a shell of which one stream leads elsewhere would print without a reader.
    const made: Made[] = []
    try {
      for (const side of ['out', 'err'] as const)
        if (this.#mustRenew(side, open, shared)) made.push(await this.#make(side))
    } catch (error) {
      for (const { channel, pipe } of made) {
        channel.reader.close()
        pipe.release()
      }
      throw error
    }
    const redirects = (['out', 'err'] as const).flatMap((side) =>
      this.#renew(side, open, shared, sinks, made.find(({ channel }) => channel.side === side) ?? null),
    )
    return { redirects, notes: [...this.#notesOn(between), ...(moved && used ? this.#notesOnFiles(open) : [])] }
  }

  /** Hands the streams to a new call where no pipe has to be renewed. */
  give(sinks: Sinks): void {
    if (this.#out) this.#out.owner = sinks
    if (this.#err) this.#err.owner = sinks
  }

  /** The call takes what it prints from here on: first what a process in between has printed since the last one. */
  giveLate(sinks: Sinks): void {
    if (!this.passThrough) return
    for (const one of this.#channels) {
      if (!one.late) continue
      one.owner = sinks
      for (const chunk of one.late.splice(0)) void sinks[one.side](chunk)
    }
  }

  #mustRenew(side: keyof Sinks, open: ReadonlyMap<number, OpenFile>, shared: boolean): boolean {
    const old = this.#of(side)
    if (!old) return true
    return hasProc ? !open.has(NUMBER[side]) || (shared && leadingTo(old, open).length > 0) : shared
  }

  async #make(side: keyof Sinks): Promise<Made> {
    const pipe = await takePipe(this.#services)
    try {
      return { channel: this.#channel(pipe, side), pipe }
    } catch (error) {
      pipe.release()
      throw error
    }
  }

  /** Puts the new pipe in the place of the old one, and says which descriptors of the shell have to be opened on it. */
  #renew(
    side: keyof Sinks,
    open: ReadonlyMap<number, OpenFile>,
    shared: boolean,
    sinks: Sinks,
    made: Made | null,
  ): readonly Redirect[] {
    const old = this.#of(side)
    const leading = old ? leadingTo(old, open) : []
    const fd = NUMBER[side]
    const lacks = !old || !hasProc || !open.has(fd)
    // Where no descriptor of the shell leads, only processes of earlier calls write.
    if (old) old.owner = !made && (leading.length > 0 || !shared) ? sinks : null
    if (!made) return []
    if (old) this.#old.push(old)
    this.#switched.push(made.pipe)
    this.#isRenewed = true
    made.channel.owner = sinks
    if (side === 'out') this.#out = made.channel
    else this.#err = made.channel
    const path = made.pipe.writePath
    return [...new Set([...leading, ...(lacks ? [fd] : [])])].map((number) => ({ fd: number, path }))
  }

  #of(side: keyof Sinks): Channel | null {
    return side === 'out' ? this.#out : this.#err
  }

  #channel(pipe: Pipe, side: keyof Sinks): Channel {
    const end = pipe.readEnd()
    const file = fileName(fstatSync(end))
    const made: { -readonly [K in keyof Channel]: Channel[K] } = {
      side,
      file,
      owner: null,
      late: null,
      reader: null as unknown as PipeReader,
    }
    const take = (chunk: Uint8Array): Held => {
      this.#lastByteAt = performance.now()
      if (made.owner) return made.owner[side](chunk)
      if (made.late) this.#keepLate(made.late, chunk)
    }
    made.reader = readPipe(end, this.#services.scratch, take, lastingName(pipe.readPath))
    return made
  }

  #keepLate(late: Uint8Array[], chunk: Uint8Array): void {
    late.push(chunk.slice())
    if (late.length > MOST_LATE) this.#lostLate += late.shift()?.length ?? 0
  }

  get #channels(): readonly Channel[] {
    return [...this.#old, ...(this.#out ? [this.#out] : []), ...(this.#err ? [this.#err] : [])]
  }

  /**
   * The processes that read what the shell writes and write into pipes of this session; their
   * pipes are read on from here.
   */
  #findBetween(open: ReadonlyMap<number, OpenFile>): readonly number[] {
    const channels = this.#channels
    const own = new Set(channels.map(({ file }) => file))
    const foreign = new Set(
      [...open].flatMap(([fd, { file, pipe, reads }]) => (pipe && !reads && fd > 0 && !own.has(file) ? [file] : [])),
    )
    const found: number[] = []
    const written = new Set<string>()
    for (const pid of foreign.size > 0 ? processesOf(this.#ward) : []) {
      if (pid === this.#ward.pid) continue
      const files = [...openFiles(pid).values()]
      if (!files.some(({ file, reads }) => reads && foreign.has(file))) continue
      const targets = files.filter(({ file }) => own.has(file))
      if (targets.length > 0) found.push(pid)
      for (const { file } of targets) written.add(file)
    }
    for (const one of channels) one.late = written.has(one.file) ? (one.late ?? []) : null
    return found
  }

  #notesOn(between: readonly number[]): Note[] {
    const lost = this.#lostLate
    this.#lostLate = 0
    const fresh = between.filter((pid) => !this.#named.has(pid))
    for (const pid of fresh) this.#named.add(pid)
    return [
      ...fresh.slice(0, 1).map((pid): Note => ({
        code: 'output-late',
        text:
          `Output of this shell passes through another process, ${shownProcesses([pid])}: what that prints late ` +
          'is shown with the next call.',
      })),
      ...(lost > 0
        ? [{ code: 'output-lost' as const, text: `${lost} bytes that it printed between two calls were dropped.` }]
        : []),
    ]
  }

  /** An `exec >file` of the agent's holds for every later call, which would look like one that had nothing to say. */
  #notesOnFiles(open: ReadonlyMap<number, OpenFile>): Note[] {
    const own = new Set(this.#channels.map(({ file }) => file))
    const moved = (['out', 'err'] as const).flatMap((side) => {
      const found = open.get(NUMBER[side])
      const path = found && !found.pipe && !own.has(found.file) ? linkOf(this.#ward.pid, `fd/${NUMBER[side]}`) : null
      // Without the builtin lines of the session's own point stderr there for a moment.
      return path === null || (side === 'err' && path === '/dev/null')
        ? []
        : [{ stream: `std${side}`, path, back: side === 'out' ? 'exec >&-' : 'exec 2>&-' }]
    })
    const fresh = moved.filter(({ stream, path }) => this.#moved.get(stream) !== path)
    this.#moved = new Map(moved.map(({ stream, path }) => [stream, path]))
    return fresh.map(({ stream, path, back }) => ({
      code: 'output-lost',
      text:
        `${stream} of this session goes to ${path}, where an \`exec\` pointed it: what commands print there is ` +
        `not shown. \`${back}\` brings it back with the call after it.`,
    }))
  }

  /** Whether output passes through another process. */
  get passThrough(): boolean {
    return !!this.#out?.late || !!this.#err?.late || this.#old.some(({ late }) => late)
  }

  /** Resolves when the process in between has been quiet for a moment. */
  async quiet(): Promise<void> {
    for (const began = performance.now(); performance.now() - began < QUIET_LIMIT_MS;) {
      const since = performance.now() - Math.max(began, this.#lastByteAt)
      if (since >= QUIET_MS) return
      await new Promise((resolve) => setTimeout(resolve, QUIET_MS - since))
    }
  }

  /** The call's last bytes have been read; nothing that comes later is the call's. */
  detach(): void {
    if (this.#isRenewed) this.#takeBack()
    if (this.#out) this.#out.owner = null
    if (this.#err) this.#err.owner = null
    if (this.#old.length > 0) {
      for (const one of this.#old) one.owner = null
      this.#old = this.#old.filter(({ reader }) => !reader.ended)
    }
    this.releasePipes()
  }

  /**
   * A call that was stopped before the shell had opened its new pipes leaves it with the old ones: those are its pipes
   * again, or whatever it prints from now on would have no reader.
   */
  #takeBack(): void {
    this.#isRenewed = false
    const open = openFiles(this.#ward.pid)
    for (const side of ['out', 'err'] as const) {
      const unused = this.#of(side)
      if (!unused || leadingTo(unused, open).length > 0) continue
      const kept = this.#old.findLast((one) => one.side === side && leadingTo(one, open).length > 0)
      if (!kept) continue
      this.#old = [...this.#old.filter((one) => one !== kept), unused]
      if (side === 'out') this.#out = kept
      else this.#err = kept
    }
  }

  /** The shell has opened its new pipes by now (or never will); the launcher need not hold them any longer. */
  releasePipes(): void {
    for (const pipe of this.#switched.splice(0)) pipe.release()
  }

  drain(): void {
    for (const { reader } of this.#channels) reader.drainNow()
  }

  /** Whether a slow taker of the output holds the shell back: what the pipes hold is then read by `drain` only. */
  get held(): boolean {
    return !!this.#out?.reader.held || !!this.#err?.reader.held || this.#old.some(({ reader }) => reader.held)
  }

  get readers(): readonly PipeReader[] {
    return [this.#out, this.#err].flatMap((one) => (one ? [one.reader] : []))
  }

  close(): void {
    for (const { reader } of this.#channels) reader.close()
  }
}

function leadingTo({ file }: Channel, open: ReadonlyMap<number, OpenFile>): readonly number[] {
  return [...open].flatMap(([number, found]) => (found.file === file ? [number] : []))
}
