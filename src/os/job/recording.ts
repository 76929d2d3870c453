/** Writes what happens on a terminal as an asciicast v2 file, which every player of such files can show. */
import { closeSync, constants, openSync, writeSync } from 'node:fs'
import { ShellError } from '../../contract/errors.js'

export interface Recording {
  output(text: string): void
  resize(size: { cols: number; rows: number }): void
  /** A command begins here, which was asked for at `askedAt`. */
  mark(command: string, askedAt: number): void
  /** So much was written. */
  readonly bytes: number
  close(): void
}

/** The file is private and new, or a regular file that is replaced; never something behind a link. */
export function createRecording(
  path: string,
  about: {
    readonly cols: number
    readonly rows: number
    readonly command: string
    readonly env: Readonly<Record<string, string | undefined>>
  },
): Recording {
  let fd: number
  try {
    fd = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW, 0o600)
  } catch (error) {
    throw new ShellError(
      'BAD_REQUEST',
      `Cannot write the recording to ${path} (${(error as NodeJS.ErrnoException).code})`,
      'Pass a path in a directory that exists and that you may write to.',
      { cause: error },
    )
  }
  const began = performance.now()
  const startedAt = Date.now()
  let bytes = 0
  const header = {
    version: 2,
    width: about.cols,
    height: about.rows,
    timestamp: Math.floor(startedAt / 1000),
    startedAt,
    command: about.command,
    env: { TERM: about.env['TERM'] ?? '', SHELL: about.env['SHELL'] ?? '' },
  }
  let open = true
  const line = (value: unknown): void => {
    if (!open) return
    try {
      const written = Buffer.from(`${JSON.stringify(value)}\n`)
      for (let at = 0; at < written.length;) at += writeSync(fd, written, at)
      bytes += written.length
    } catch {
      // A full disk ends the recording, not the command.
      finish()
    }
  }
  const finish = (): void => {
    if (!open) return
    open = false
    closeSync(fd)
  }
  const event = (kind: 'o' | 'r' | 'm' | 'x', data: string): void =>
    line([Math.round((performance.now() - began) * 1_000) / 1_000_000, kind, data])
  line(header)
  return {
    output: (text) => text !== '' && event('o', text),
    resize: ({ cols, rows }) => event('r', `${cols}x${rows}`),
    mark(command, askedAt) {
      event('m', command)
      event('x', String(askedAt))
    },
    get bytes() {
      return bytes
    },
    close: finish,
  }
}
