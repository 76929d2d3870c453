/** What one verdict may cost: steps and depth are counted, and whatever goes beyond is refused. */
import { GUARD_LIMITS, GuardLimit } from '../words/limits.js'

export class Budget {
  private steps = 0
  private depth = 0

  step(): void {
    if (++this.steps > GUARD_LIMITS.maxSteps) throw new GuardLimit('steps', 'the command has too many parts to check')
  }

  /** Refuses a long list before walking into it. */
  affordable(parts: number): void {
    if (this.steps + parts > GUARD_LIMITS.maxSteps)
      throw new GuardLimit('steps', 'the command has too many parts to check')
  }

  deeper<T>(work: () => T): T {
    if (++this.depth > GUARD_LIMITS.maxDepth)
      throw new GuardLimit('depth', 'shells, wrappers or functions are nested too deeply')
    try {
      return work()
    } finally {
      this.depth--
    }
  }
}
