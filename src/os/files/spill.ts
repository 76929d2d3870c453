/**
 * The whole of a long output in a file: bounded, private, never through a link. A full disk
 * costs the file, not the run.
 */
import { closeSync, constants, openSync, statfsSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { attempt } from '../../contract/attempt.js'
import { removeQuietly } from './quietly.js'

/** So much of a disk is left to everything else: the file of a long output gives way first. */
const RESERVE_BYTES = 16 * 1024 * 1024
const LOOK_EVERY_BYTES = 1024 * 1024

export class SpillFile {
  readonly path: string
  #fd: number
  #room: number
  /** What may be written before the disk is looked at again. */
  #unlooked = 0
  /** Bytes that did not fit or could not be written. */
  lost = 0

  constructor(path: string, maxBytes: number) {
    this.path = path
    this.#room = maxBytes
    this.#fd = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600)
  }

  write(bytes: Uint8Array): void {
    const part = bytes.length <= this.#room ? bytes : bytes.subarray(0, this.#room)
    this.lost += bytes.length - part.length
    let at = 0
    while (at < part.length && this.#fd >= 0) {
      try {
        if (this.#unlooked <= 0) this.#lookAtDisk()
        const wrote = writeSync(this.#fd, part, at, Math.min(part.length - at, this.#unlooked))
        this.#unlooked -= wrote
        at += wrote
      } catch {
        this.lost += part.length - at
        this.#room = 0
        return
      }
    }
    this.#room -= part.length
  }

  /** Throws when what is left of the disk is for others. A small disk keeps a quarter. */
  #lookAtDisk(): void {
    const { bavail, blocks, bsize } = statfsSync(dirname(this.path))
    const free = bavail * bsize - Math.min(RESERVE_BYTES, (blocks * bsize) / 4)
    if (free <= 0) throw new Error('the rest of the disk is kept free')
    this.#unlooked = Math.min(free, LOOK_EVERY_BYTES)
  }

  /** Ends the file; what was lost is said in it, followed by the last bytes that are known. */
  finish(tail: Uint8Array): void {
    if (this.#fd < 0) return
    if (this.lost > 0) {
      const shown = tail.subarray(Math.max(0, tail.length - this.lost))
      // On a full disk the file ends early, and `lost` says so.
      attempt(() => {
        writeSync(this.#fd, `\n[... ${this.lost - shown.length} bytes omitted ...]\n`)
        writeSync(this.#fd, shown)
      })
    }
    closeSync(this.#fd)
    this.#fd = -1
  }

  remove(): void {
    this.finish(new Uint8Array(0))
    removeQuietly(this.path)
  }
}
