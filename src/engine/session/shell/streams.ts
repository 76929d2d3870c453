/** The pipes behind a session's stdout and stderr: whose bytes they carry, and new ones when an earlier call still holds the old. */
import { fstatSync, statSync } from 'node:fs'
import type { Pipe } from '../../../os/helper/launcher.js'
import { readPipe, type PipeReader } from '../../../os/pipe-reader.js'
import { hasProc } from '../../../os/proc.js'
import { takePipe } from '../../services/pipes.js'
import type { Services } from '../../services/services.js'

/** Where the bytes of the running call go; nowhere between calls. */
export interface Sinks {
  out(chunk: Uint8Array): void
  err(chunk: Uint8Array): void
}

/** Paths that the shell has to open first; null where it keeps what it has. */
export interface Renewed {
  readonly stdout: string | null
  readonly stderr: string | null
}

interface Channel {
  readonly reader: PipeReader
  /** Which file it is for the kernel, to see whether the shell still has it. */
  readonly file: string
  owner: Sinks | null
}

export class SessionStreams {
  readonly #services: Services
  readonly #shell: number
  /** Null before the first call: what bash itself says at its start goes nowhere. */
  #out: Channel | null = null
  #err: Channel | null = null
  #old: Channel[] = []
  #switched: Pipe[] = []

  constructor(services: Services, shell: number) {
    this.#services = services
    this.#shell = shell
  }

  /** Whether a call has had them before. */
  get used(): boolean {
    return this.#out !== null
  }

  /**
   * Hands the streams to a new call. `shared`: a process of an earlier call may still write into the old pipes, so the shell gets new ones,
   * unless the agent pointed its stdout or stderr somewhere else itself (`moved`: it may have). A stream that it closed is opened again.
   */
  async attach(sinks: Sinks, shared: boolean, moved: boolean): Promise<Renewed> {
    const stdout = this.#out && !shared && !moved ? null : await this.#renew('out', 1, shared)
    const stderr = this.#err && !shared && !moved ? null : await this.#renew('err', 2, shared)
    this.give(sinks)
    return { stdout, stderr }
  }

  /** The same where nothing has to be renewed. */
  give(sinks: Sinks): void {
    if (this.#out) this.#out.owner = sinks
    if (this.#err) this.#err.owner = sinks
  }

  async #renew(side: keyof Sinks, fd: 1 | 2, shared: boolean): Promise<string | null> {
    const old = side === 'out' ? this.#out : this.#err
    if (old) {
      const now = openFile(this.#shell, fd)
      const closed = now === undefined && hasProc
      const elsewhere = now !== undefined && now !== old.file
      if (elsewhere || (!shared && !closed)) return null
      // Bytes that a process of an earlier call still writes are nobody's result; the reader only keeps it from blocking.
      old.owner = null
      this.#old.push(old)
    }
    const pipe = await takePipe(this.#services)
    this.#switched.push(pipe)
    const made = channel(pipe, this.#services, side)
    if (side === 'out') this.#out = made
    else this.#err = made
    return pipe.writePath
  }

  /** The call's last bytes have been read; nothing that comes later is the call's. */
  detach(): void {
    if (this.#out) this.#out.owner = null
    if (this.#err) this.#err.owner = null
    if (this.#old.length > 0) this.#old = this.#old.filter(({ reader }) => !reader.ended)
    this.releasePipes()
  }

  /** The shell has opened its new pipes by now (or never will); the launcher need not hold them any longer. */
  releasePipes(): void {
    for (const pipe of this.#switched.splice(0)) pipe.release()
  }

  drain(): void {
    this.#out?.reader.drainNow()
    this.#err?.reader.drainNow()
  }

  get readers(): readonly PipeReader[] {
    return [this.#out, this.#err].flatMap((one) => (one ? [one.reader] : []))
  }

  close(): void {
    for (const one of [this.#out, this.#err, ...this.#old]) one?.reader.close()
  }
}

function channel(pipe: Pipe, services: Services, side: keyof Sinks): Channel {
  const fd = pipe.readEnd()
  const made: { reader: PipeReader; file: string; owner: Sinks | null } = {
    file: fileName(fstatSync(fd)),
    owner: null,
    reader: null as unknown as PipeReader,
  }
  made.reader = readPipe(fd, services.scratch, (chunk) => made.owner?.[side](chunk))
  return made
}

export function fileName({ dev, ino }: { dev: number; ino: number }): string {
  return `${dev}:${ino}`
}

/** The file behind a descriptor of a process. */
export function openFile(pid: number, fd: number): string | undefined {
  try {
    return fileName(statSync(`/proc/${pid}/fd/${fd}`))
  } catch {
    return undefined
  }
}
