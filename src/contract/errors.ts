/**
 * The one error class of cerith: thrown only when something could not start or does not exist.
 * A failed command is never an error.
 */

export type ShellErrorCode =
  | 'CWD_NOT_FOUND'
  | 'CWD_NOT_DIRECTORY'
  | 'CWD_NOT_ACCESSIBLE'
  | 'CWD_OUTSIDE_ROOT'
  | 'SHELL_NOT_FOUND'
  | 'SPAWN_FAILED'
  | 'PTY_UNAVAILABLE'
  | 'SESSION_LOST'
  | 'JOB_NOT_FOUND'
  | 'NOT_RUNNING'
  | 'BAD_REQUEST'
  | 'BAD_FILTER'
  | 'BAD_CONFIG'
  | 'TOO_MANY_RUNS'
  | 'REFUSED'
  | 'STATE_UNWRITABLE'
  | 'SECRET_REFUSED'
  | 'SANDBOX_UNAVAILABLE'
  | 'TRY_NOT_FOUND'
  | 'TRY_BUSY'
  | 'TRY_FAILED'
  | 'VAULT'
  | 'CLOSED'
  | 'PLACE_UNREACHABLE'
  | 'PLACE_REFUSED'
  | 'PLACE_GONE'
  | 'PLACE_UNFIT'
  | 'PLACE_FULL'
  | 'LINK_DOWN'

const BRAND = Symbol.for('cerith.ShellError')

/**
 * Says what happened (with the value) and, in `hint`, what to try next; the reader is often a model with one try left.
 */
export class ShellError extends Error {
  readonly code: ShellErrorCode
  readonly hint: string
  readonly [BRAND] = true

  constructor(code: ShellErrorCode, message: string, hint: string, options?: { cause?: unknown }) {
    super(message)
    if (options && 'cause' in options) this.cause = options.cause
    this.name = 'ShellError'
    this.code = code
    this.hint = hint
  }

  /** True for a ShellError of any copy of this package in the process. */
  static is(value: unknown): value is ShellError {
    return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[BRAND] === true
  }
}

/** What an error says, whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** A caller asked for something that cannot be. */
export function badRequest(message: string, hint: string, options?: { cause?: unknown }): ShellError {
  return new ShellError('BAD_REQUEST', message, hint, options)
}

/** A setting, or a file that holds settings, cannot be used. */
export function badConfig(message: string, hint: string, options?: { cause?: unknown }): ShellError {
  return new ShellError('BAD_CONFIG', message, hint, options)
}
