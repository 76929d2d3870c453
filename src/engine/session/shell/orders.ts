/** The pipe into which lines for a session's shell are typed, and what can be seen of it from outside. */
import { fstatSync, readSync, writeSync } from 'node:fs'
import { attempt } from '../../../contract/attempt.js'
import { closeQuietly } from '../../../os/files/quietly.js'
import type { Pipe } from '../../../os/helper/launcher.js'
import { fileName, openFile } from '../../../os/process/open-files.js'

const NEWLINE = 0x0a
const NOTHING = Buffer.alloc(0)

export class Orders {
  readonly #typed: number
  /** Our own reading end shows what a shell that died had not read. */
  readonly #unread: number
  readonly #file: string
  /** What did not fit into the pipe. */
  #rest: Uint8Array = NOTHING
  closed = false

  constructor(pipe: Pipe) {
    this.#typed = pipe.writeEnd()
    this.#unread = pipe.readEnd()
    this.#file = fileName(fstatSync(this.#typed))
  }

  /** Where the shell finds our reading end. */
  get unreadPath(): string {
    return `/proc/${process.pid}/fd/${this.#unread}`
  }

  /**
   * Most lines are short, and the pipe takes them at once; one with a long variable or trap goes as the shell reads it.
   */
  type(text: string | Uint8Array): void {
    const bytes = typeof text === 'string' ? Buffer.from(text) : text
    if (this.#rest.length > 0) this.#rest = Buffer.concat([this.#rest, bytes])
    else this.#write(bytes)
  }

  #write(bytes: Uint8Array): void {
    // Once it is closed, its number may belong to another open file.
    if (this.closed) return
    let length = 0
    try {
      length = writeSync(this.#typed, bytes)
    } catch {
      // Full: a shell that just died reads no more, and its exit tells the rest.
    }
    this.#rest = length < bytes.length ? bytes.subarray(length) : NOTHING
    if (this.#rest !== NOTHING) setTimeout(() => this.#write(this.#rest), 1)
  }

  /** Whether a shell that is gone has not read the first line of what was typed last: nothing of it has happened. */
  neverRead(last: Uint8Array): boolean {
    // A question may stand behind it: what is left unread is compared, not counted.
    const left = Buffer.alloc(last.length + 1)
    // Empty: bash has read it.
    const length = attempt(() => readSync(this.#unread, left, 0, left.length, null), 0)
    const unread = Buffer.concat([left.subarray(0, length), this.#rest])
    return unread.includes(Buffer.from(last.subarray(last.indexOf(NEWLINE))))
  }

  /** Whether the process reads our lines: its stdin is this pipe. */
  isReadBy(pid: number): boolean {
    const now = openFile(pid, 0)
    return now !== undefined && now === this.#file
  }

  close(): void {
    this.closed = true
    closeQuietly(this.#typed)
    closeQuietly(this.#unread)
  }
}
