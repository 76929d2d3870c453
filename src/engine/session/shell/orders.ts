/** The pipe into which lines for a session's shell are typed, and what can be seen of it from outside. */
import { fstatSync, readSync, writeSync } from 'node:fs'
import { closeQuietly } from '../../../os/files/quietly.js'
import type { Pipe } from '../../../os/helper/launcher.js'
import { fileName, openFile } from './streams.js'

const NEWLINE = 0x0a

export class Orders {
  readonly #typed: number
  /** Our own reading end shows what a shell that died had not read. */
  readonly #unread: number
  readonly #file: string
  #closed = false

  constructor(pipe: Pipe) {
    this.#typed = pipe.writeEnd()
    this.#unread = pipe.readEnd()
    this.#file = fileName(fstatSync(this.#typed))
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Where the shell finds our reading end. */
  get unreadPath(): string {
    return `/proc/${process.pid}/fd/${this.#unread}`
  }

  /** Lines are short (commands travel by file), so a pipe always takes them at once. */
  type(text: string | Uint8Array): void {
    // Once it is closed, its number may belong to another open file.
    if (this.#closed) return
    try {
      // Two calls, each of one kind: the types have one for each.
      if (typeof text === 'string') writeSync(this.#typed, text)
      else writeSync(this.#typed, text)
    } catch {
      // The shell just died; its exit tells the rest.
    }
  }

  /** Whether a shell that is gone has not read the first line of what was typed last: nothing of it has happened. */
  neverRead(last: Uint8Array): boolean {
    // A question may stand behind it: what is left unread is compared, not counted.
    const left = Buffer.alloc(last.length + 1)
    try {
      const length = readSync(this.#unread, left, 0, left.length, null)
      return left.subarray(0, length).includes(Buffer.from(last.subarray(last.indexOf(NEWLINE))))
    } catch {
      return false // Empty: bash has read it.
    }
  }

  /** Whether the process reads our lines: its stdin is this pipe. */
  isReadBy(pid: number): boolean {
    const now = openFile(pid, 0)
    return now !== undefined && now === this.#file
  }

  close(): void {
    this.#closed = true
    closeQuietly(this.#typed)
    closeQuietly(this.#unread)
  }
}
