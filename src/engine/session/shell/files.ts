/**
 * The files that a session's shell sources: its commands, and those of the session's own lines
 * that are too long to be typed every time.
 */
import { fstatSync, ftruncateSync, writeFileSync, writeSync } from 'node:fs'
import { closeQuietly, removeQuietly } from '../../../os/files/quietly.js'
import { openAnew, takeText } from '../../../os/files/shared-file.js'
import type { Services } from '../../services/services.js'
import { dumpFileText, endFileText, leaveFileText, settleFileText, setUpCode } from '../lines/lines.js'
import { fileOf, type Marks } from '../lines/marks.js'

/** Up to this size the rest of a longer file is overwritten rather than cut off, which is dearer. */
const SMALL_FILE = 4_096

/** Files that only the shell itself reads. */
const SOURCED = ['command', 'setUp', 'settle', 'end', 'dump', 'leave', 'interrupt', 'aside'] as const

/** What a command was given of the agent's RETURN and DEBUG traps before they were written down. */
const GIVEN = ['', 'RETURN', 'DEBUG', 'RETURNDEBUG'] as const

export interface NotedTraps {
  readonly text: string
  readonly given: (typeof GIVEN)[number]
}

export class SessionFiles {
  readonly #services: Services
  readonly #marks: Marks
  /** The file of commands stays open: writing it anew costs one system call instead of three. */
  #commands: number
  #written = 0
  #lastCommand: string | null = null

  constructor(services: Services, marks: Marks) {
    this.#services = services
    this.#marks = marks
    this.#commands = openAnew(fileOf.command(marks))
  }

  /**
   * Bash reads the whole file before it runs the first line of it; what follows the end of a
   * whole command is never reached. The builtin declines a command whose file was removed.
   */
  writeCommand(text: string, whole: boolean, forBuiltin: boolean): void {
    if (!forBuiltin) this.ensure()
    if (text === this.#lastCommand) return
    // Known again when it is written: a disk that is full may keep it from being so.
    this.#lastCommand = null
    const length = Buffer.byteLength(text)
    // In one line: bash counts lines where it finds that a command is not whole after all.
    const padded =
      whole && length < this.#written && this.#written <= SMALL_FILE
        ? Buffer.alloc(this.#written, ' ')
        : Buffer.allocUnsafe(length)
    padded.write(text)
    if (length < padded.length) padded.write('\n', length)
    if (padded.length < this.#written) ftruncateSync(this.#commands, padded.length)
    for (let at = 0; at < padded.length;) at += writeSync(this.#commands, padded, at, padded.length - at, at)
    this.#written = padded.length
    if (text.length <= SMALL_FILE) this.#lastCommand = text
  }

  /**
   * The agent's traps, as the command that was told to note them left them; null where it came
   * to no end that notes anything.
   */
  takeTraps(): NotedTraps | null {
    const text = takeText(fileOf.traps(this.#marks))
    let noted: NotedTraps | null = null
    for (const given of GIVEN)
      if (takeText(fileOf.noted(this.#marks) + given) !== null && text !== null) noted = { text, given }
    return noted
  }

  /** The files of a living shell may have been removed: they are written again, or it would look for them in vain. */
  ensure(): void {
    if (fstatSync(this.#commands).nlink > 0) return
    // Asking for a name makes the folder again.
    this.#services.runFile('s')
    writeHelpers(this.#marks)
    const commands = openAnew(fileOf.command(this.#marks))
    closeQuietly(this.#commands)
    this.#commands = commands
    this.#written = 0
    this.#lastCommand = null
  }

  close(): void {
    closeQuietly(this.#commands)
  }

  remove(): void {
    this.takeTraps()
    // Where the folder is gone, or another engine's by now, there is nothing left to be removed.
    for (const kind of SOURCED) removeQuietly(fileOf[kind](this.#marks))
  }
}

/** What the shell needs from its first line on. */
export function writeFirstFiles(marks: Marks): void {
  writeAnew(fileOf.setUp(marks), setUpCode(marks))
  writeHelpers(marks)
}

/** What the shell sources besides commands. */
function writeHelpers(marks: Marks): void {
  writeAnew(fileOf.settle(marks), settleFileText(marks))
  writeAnew(fileOf.end(marks), endFileText(marks))
  writeAnew(fileOf.dump(marks), dumpFileText(marks))
  writeAnew(fileOf.leave(marks), leaveFileText(marks))
}

function writeAnew(path: string, text: string): void {
  const fd = openAnew(path)
  try {
    writeFileSync(fd, text)
  } finally {
    closeQuietly(fd)
  }
}
