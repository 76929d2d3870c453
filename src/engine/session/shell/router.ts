/** Where the reports of a session's shell are handed out: to the command that waits for its end, or to who asked for something else. */
import type { Answered } from './answer.js'
import type { Way } from './way.js'
import type { Report } from './report.js'

export class ReportDesk {
  /** Whether the shell has loaded the builtin of ours. */
  loaded = false
  /** How to do what the builtin may decline. */
  otherwise: (() => Way) | null = null
  /** The number that a report of the running command's end may carry, where it was asked for one. */
  asked = 0
  /** A report that nobody waited for came since the command was given. */
  crowded = false
  readonly #declined: () => void
  readonly #waiters = new Map<string, (report: Report | null) => void>()
  /** What is owed to the running command, or was to the last one. */
  #answer: Answered | null = null

  constructor(declined: () => void) {
    this.#declined = declined
  }

  /** Whom the next report of a command's end concerns. */
  answerTo(who: Answered): void {
    this.asked = 0
    this.crowded = false
    this.#answer = who
  }

  /** The running command could not be given to the shell. */
  fail(error: unknown): void {
    this.#answer?.fail(error)
  }

  /** The report of this kind and number; null when the shell ends first. */
  heard(kind: Report['kind'], number: number): Promise<Report | null> {
    return new Promise((resolve) => this.#waiters.set(`${kind}${number}`, resolve))
  }

  hear(report: Report): void {
    // One with a number may come behind the report that made it needless.
    if (report.kind === 'E' && report.number !== 0 && report.number !== this.asked) {
      this.crowded = true
      return
    }
    if (report.kind === 'T' || report.kind === 'F' || report.kind === 'E') {
      // Nothing but a name that is not known keeps the builtin from telling the end itself.
      if (report.kind === 'E' && report.fields[0] === '127' && this.otherwise) this.loaded = false
      this.otherwise = null
      return this.#answer?.give(report)
    }
    if (report.kind === 'N') return this.#declined()
    if (report.kind === 'G') this.loaded = true
    const key = `${report.kind}${report.number}`
    const waiter = this.#waiters.get(key)
    this.#waiters.delete(key)
    this.crowded ||= !waiter
    waiter?.(report)
  }

  /** The shell has ended. */
  close(): void {
    this.#answer?.give(null)
    for (const [key, waiter] of this.#waiters) {
      this.#waiters.delete(key)
      waiter(null)
    }
  }
}
