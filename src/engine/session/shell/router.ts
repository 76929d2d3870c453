/**
 * Hands out the reports of a session's shell: to the command that waits for its end, or to the
 * line that asked for something else.
 */
import type { EndReport, Report } from './report.js'
import type { CommandLine } from '../lines/way.js'

export interface ReportReceiver {
  /** Null: the shell ended first, or the call no longer waits. Only the first one counts. */
  give(report: EndReport | null): void
  /** The command could not be given to the shell. */
  fail(error: unknown): void
  /**
   * The directory of the shell is gone; nothing of the command has happened. Without it bash does the command there.
   */
  displaced?(): void
}

/** Why the builtin declines, beside that bash has to do it itself: the directory of the shell is gone. */
const NO_DIRECTORY = 1

export class ReportRouter {
  hasBuiltin = false
  /** Settles when the shell has said whether it has the builtin, or is gone. */
  readonly builtinKnown: Promise<void>
  #tellBuiltin!: () => void
  /** How to do what the builtin may decline. */
  fallback: (() => CommandLine) | null = null
  /** A report that no line waited for came since the command was given. */
  outputMayBeUnread = false
  readonly #declined: () => void
  readonly #waiters = new Map<string, (report: Report | null) => void>()
  /** Of the running command, or of the last one. */
  #receiver: ReportReceiver | null = null

  constructor(declined: () => void) {
    this.#declined = declined
    this.builtinKnown = new Promise((resolve) => (this.#tellBuiltin = resolve))
  }

  /** Registers the receiver of the next end report. */
  answerTo(receiver: ReportReceiver): void {
    this.outputMayBeUnread = false
    this.#receiver = receiver
  }

  /** The running command could not be given to the shell. */
  fail(error: unknown): void {
    this.#receiver?.fail(error)
  }

  /** The report of this kind and number; null when the shell ends first. */
  heard(kind: Report['kind'], number: number): Promise<Report | null> {
    return new Promise((resolve) => this.#waiters.set(`${kind}${number}`, resolve))
  }

  hear(report: Report): void {
    switch (report.kind) {
      case 'T':
      case 'F':
      case 'E':
        this.fallback = null
        return this.#receiver?.give(report)
      case 'N':
        if (report.number !== NO_DIRECTORY || !this.#receiver?.displaced) return this.#declined()
        this.fallback = null
        return this.#receiver.displaced()
      case 'G':
        this.hasBuiltin = report.number === 0
        return this.#tellBuiltin()
      default:
    }
    const key = `${report.kind}${report.number}`
    const waiter = this.#waiters.get(key)
    this.#waiters.delete(key)
    this.outputMayBeUnread ||= !waiter
    waiter?.(report)
  }

  /** The shell has ended. */
  close(): void {
    this.#tellBuiltin()
    this.#receiver?.give(null)
    for (const [key, waiter] of this.#waiters) {
      this.#waiters.delete(key)
      waiter(null)
    }
  }
}

/** The answer that a shell owes to one call: a report, the end of the shell, or a call that no longer waits. */
export class Answer implements ReportReceiver {
  given = false
  failure: unknown = null
  /** Nothing of the command has happened. */
  neverBegun = false
  displaced?: () => void
  readonly report: Promise<EndReport | null>
  #tell!: (report: EndReport | null) => void

  constructor() {
    this.report = new Promise((resolve) => (this.#tell = resolve))
  }

  give(report: EndReport | null): void {
    this.given = true
    this.#tell(report)
  }

  fail(error: unknown): void {
    if (!this.given) this.failure = error
    this.give(null)
  }

  /** The call ends as one that never began: the session looks at the directory and gives the command again. */
  giveBack(): void {
    this.neverBegun = !this.given
    this.give(null)
  }
}
