/** Pipes of the helper, whose ends can be opened by path: descriptors of the launcher, or a FIFO. */
import { constants, openSync } from 'node:fs'
import type { Pipe } from './launcher.js'

export class PathPipe implements Pipe {
  #read = -1
  #write = -1
  #released = false

  constructor(
    readonly slot: number,
    readonly launcher: number,
    readonly readPath: string,
    readonly writePath: string,
    private readonly onRelease: () => void,
    private readonly open: (path: string, flags: number) => number = openSync,
  ) {}

  readEnd(): number {
    // O_NONBLOCK on our own open file description only: the command's end stays an ordinary blocking pipe.
    if (this.#read < 0) this.#read = this.open(this.readPath, constants.O_RDONLY | constants.O_NONBLOCK)
    return this.#read
  }

  writeEnd(): number {
    if (this.#write < 0) this.#write = this.open(this.writePath, constants.O_WRONLY | constants.O_NONBLOCK)
    return this.#write
  }

  release(): void {
    // A second time would free a slot that another shell's pipe has by now.
    if (this.#released) return
    this.#released = true
    this.onRelease()
  }
}

export interface Waiter<T> {
  resolve(value: T): void
  reject(error: Error): void
}

/** What stood under the key, which stands there no more. */
export function takeFrom<K, V>(all: Map<K, V>, key: K): V | undefined {
  const taken = all.get(key)
  all.delete(key)
  return taken
}

/** Pipes that a launcher has made ahead of need, and those that wait for one. */
export class PipeSupply {
  readonly #ready: PathPipe[] = []
  readonly #waiters: Waiter<Pipe>[] = []

  get waiting(): boolean {
    return this.#waiters.length > 0
  }

  take(): Pipe | null {
    return this.#ready.shift() ?? null
  }

  wait(waiter: Waiter<Pipe>): void {
    this.#waiters.push(waiter)
  }

  giveUp(waiter: Waiter<Pipe>): void {
    this.#waiters.splice(this.#waiters.indexOf(waiter), 1)
  }

  add(pipe: PathPipe): void {
    const waiter = this.#waiters.shift()
    if (waiter) waiter.resolve(pipe)
    else this.#ready.push(pipe)
  }

  /** One for each pipe that was asked for and cannot be made. */
  refuseOne(error: Error): void {
    this.#waiters.shift()?.reject(error)
  }

  refuseAll(error: Error): void {
    for (const waiter of this.#waiters.splice(0)) waiter.reject(error)
  }

  /** The pipes that no call has taken yet, out of the supply: no later call gets them. */
  takeAll(): readonly PathPipe[] {
    return this.#ready.splice(0)
  }
}
