/**
 * The answer that a session's shell owes to one call: given once, by a report, by the end of
 * the shell, or by a call that no longer waits.
 */
import type { EndReport } from './report.js'

export interface ReportReceiver {
  /** Null: the shell ended first, or the call no longer waits. Only the first one counts. */
  give(report: EndReport | null): void
  /** The command could not be given to the shell. */
  fail(error: unknown): void
}

export class Answer implements ReportReceiver {
  given = false
  failure: unknown = null
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
}
