/** The answer that a session's shell owes to one call: given once, by a report, by the end of the shell, or by who waits no longer. */
import type { Report } from './session-report.js'

export class Answer {
  given = false
  #heard: Report | null = null
  #tell: ((report: Report | null) => void) | null = null

  /** Null: the shell ended first, or nobody waits any longer. */
  give(report: Report | null): void {
    if (this.given) return
    this.given = true
    this.#heard = report
    this.#tell?.(report)
  }

  readonly giveUp = (): void => this.give(null)

  /** Tells one listener, at once when there is something to tell; the last one counts. */
  whenGiven(tell: (report: Report | null) => void): void {
    this.#tell = tell
    if (this.given) tell(this.#heard)
  }

  get report(): Promise<Report | null> {
    return new Promise((resolve) => this.whenGiven(resolve))
  }
}
