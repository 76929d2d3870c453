/** Folders that commands in rooms have for their files and named pipes; the next session's are made ahead of need. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Launcher, Pipe } from '../../../os/helper/launcher.js'

/** Orders, reports, state, stdout and stderr of a session's shell. */
const READY_PIPES = 5

/** A folder for the files of one stay, with pipes that have names. */
interface Prepared {
  readonly folder: string
  readonly pipes: readonly Pipe[]
  /** Pipes go with their launcher. */
  readonly madeBy: number
}

export class StayFolders {
  readonly #launcher: Launcher
  readonly #inner: () => string
  #count = 0
  #prepared: Promise<Prepared> | null = null
  #closed = false

  constructor(launcher: Launcher, inner: () => string) {
    this.#launcher = launcher
    this.#inner = inner
  }

  name(): string {
    return `f${++this.#count}`
  }

  make(folder: string): string {
    const path = join(this.#inner(), folder)
    mkdirSync(path, { recursive: true, mode: 0o700 })
    return path
  }

  /** Made while the shell before started: a start waits for no way to the launcher and back. */
  async takePrepared(): Promise<Prepared> {
    const waiting = this.#prepared
    this.#prepared = null
    const prepared = await waiting?.catch(() => null)
    return prepared?.madeBy === this.#launcher.pid ? prepared : this.#prepare()
  }

  prepareNext(): void {
    if (this.#prepared || this.#closed) return
    this.#prepared = this.#prepare()
    this.#prepared.catch(() => {}) // The next session makes its own.
  }

  close(): void {
    this.#closed = true
  }

  async #prepare(): Promise<Prepared> {
    const folder = this.name()
    const path = this.make(folder)
    // All at once: each alone would be a way to the launcher and back.
    const asked = Array.from({ length: READY_PIPES }, (_, at) => this.#launcher.namedPipe(join(path, `p${at + 1}`)))
    return { folder, pipes: await Promise.all(asked), madeBy: this.#launcher.pid }
  }
}
