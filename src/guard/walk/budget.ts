/** What one verdict may cost: steps and depth are counted, and whatever goes beyond is refused. */
import { GUARD_LIMITS, GuardLimit } from '../words/limits.js'

/** The verdict takes longer than its caller wants to wait; no verdict by itself. */
export class OutOfPatience extends Error {}

export class Budget {
  private steps = 0
  private depth = 0
  /** Shared with every shell state: a long script is read to its end, with fewer guesses about each word. */
  readonly effort = { alternatives: GUARD_LIMITS.maxAlternatives as number }

  /** `deadline`: when it is too late, by the clock. */
  constructor(private readonly deadline = Infinity) {}

  step(): void {
    if ((++this.steps & 31) === 0) {
      this.effort.alternatives = EFFORT.find(([until]) => this.steps < until)?.[1] ?? 2
      if (this.deadline < Infinity && Date.now() > this.deadline) throw new OutOfPatience()
    }
    if (this.steps > GUARD_LIMITS.maxSteps) throw new GuardLimit('steps', 'the command has too many parts to check')
  }

  /** A long script: loops go around once. */
  get isLong(): boolean {
    return this.steps > 900
  }

  /** How often one function is walked: in a long script only a few times, unless its words could do harm. */
  get often(): number {
    return this.steps > 1_500 ? 1 : this.isLong ? 3 : Infinity
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

/** Until so many steps, so many values of a word. */
const EFFORT: readonly (readonly [number, number])[] = [
  [400, GUARD_LIMITS.maxAlternatives],
  [700, 16],
  [1_000, 6],
  [1_400, 3],
]
