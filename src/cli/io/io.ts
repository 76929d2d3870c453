/** What a verb may touch of the outside world; tests pass their own. */
import type { Taken } from '../../contract/output.js'

/** Somewhere to write text or bytes. */
export interface Sink {
  /** Takes all of it; what the reader does not take yet waits in memory. Bytes are copied where they have to wait. */
  write(data: string | Uint8Array): void
  /** Resolves when the reader has taken what was written, at once when it has; `closed` when it is gone. */
  taken(): Taken | Promise<Taken>
  readonly isTTY: boolean
  readonly columns: number
  /** Where another process can open this pipe; null when it is none. */
  readonly pipePath: string | null
}

/** A person at a terminal, if there is one. */
export interface Person {
  /** One line, or null when the input ended. `hidden` keeps it off the screen; `signal` takes the question back. */
  ask(prompt: string, options?: { readonly hidden?: boolean; readonly signal?: AbortSignal }): Promise<string | null>
}

export function isYes(answer: string | null): boolean {
  return /^y(?:es)?$/i.test(answer?.trim() ?? '')
}

export interface Io {
  readonly out: Sink
  readonly err: Sink
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Null when input or output is not a terminal. */
  readonly person: Person | null
  /** True when an engine started this process for an agent: answers given here are not a person's. */
  readonly insideEngine: boolean
  /** Everything on standard input, to its end. */
  readStdin(): Promise<Uint8Array>
  /** Standard input line by line, as the lines come. */
  stdinLines(): AsyncIterable<string>
  /** Calls back for SIGINT, SIGTERM and SIGHUP until the returned function is called. */
  onSignal(listener: (signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') => void): () => void
  /**
   * The text is written to stderr at the end of the program if stdout could not be written or its reader has left.
   * `exitCode`: the answer on stdout decides something, so the program then ends with this code; an output that
   * nobody can read (/dev/null) counts as unread too.
   */
  orElse(text: string, exitCode?: number): void
  /** Calls back when the reader of the output has closed its end. */
  onOutputClosed(listener: () => void): () => void
}

/** A mistake in how cerith was called: shown with the way to the right one. */
export class UsageError extends Error {
  constructor(
    message: string,
    readonly hint: string | null = null,
  ) {
    super(message)
    this.name = 'UsageError'
  }
}

/** The exit codes of cerith itself; a command's own codes pass through. */
export const EXIT = { ok: 0, timeout: 124, error: 125, refused: 126, signal: 128 } as const
