/** A child process with pipes, or an error: never one without them. */
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { ShellError } from '../../contract/errors.js'

/** The streams that the caller asked for by `pipe`; the others are null. */
export interface PipedChild extends ChildProcess {
  stdin: Writable
  stdout: Readable
  stderr: Readable
}

/**
 * Where this process has no descriptor left, Node answers with a child that has no streams at
 * all and tells why in the next tick: reaching for its stdout until then would crash the host.
 */
export function startChild(program: string, words: readonly string[], options: SpawnOptions): PipedChild {
  const child = spawn(program, words, options)
  if ((child.stdio as unknown) !== undefined) return child as PipedChild
  child.once('error', () => {})
  throw new ShellError(
    'SPAWN_FAILED',
    `${program} could not be started: no file descriptor is left (EMFILE)`,
    'Raise the limit (`ulimit -n`), or close files that are no longer needed.',
  )
}

/** The machine has no room for one more process just now; nothing is wrong with the program. */
export function isShortage({ code }: { readonly code?: unknown }): boolean {
  return code === 'EAGAIN' || code === 'ENOMEM' || code === 'EMFILE' || code === 'ENFILE'
}
