/** Notices functions and scripts that start themselves again: endless copies of a process are a fork bomb. */
import { type Alternatives, ANYTHING } from '../words/text.js'

interface Frame {
  /** The body that runs: a function defined anew under an old name is another one. */
  readonly body: unknown
  readonly conditions: number
  readonly processes: number
  mayStop: boolean
}

export class Recursion {
  private readonly frames: Frame[] = []
  private conditions = 0
  private processes = 0

  /**
   * Runs a body once; a body that is running already is not walked again, and `bomb` is told when nothing can end it.
   */
  frame(body: unknown, bomb: () => void, work: () => Alternatives): Alternatives {
    const running = this.frames.find((frame) => frame.body === body)
    if (running) {
      const conditional = this.conditions > running.conditions || running.mayStop
      if (this.processes > running.processes && !conditional) bomb()
      return ANYTHING
    }
    this.frames.push({ body, conditions: this.conditions, processes: this.processes, mayStop: false })
    try {
      return work()
    } finally {
      this.frames.pop()
    }
  }

  /** `return` or `exit` behind a condition: the recursion has an end. */
  mayStop(): void {
    const frame = this.frames[this.frames.length - 1]
    if (frame && this.conditions > frame.conditions) frame.mayStop = true
  }

  /** What runs in a process of its own: a subshell, a stage of a pipeline, the background. */
  inProcess<T>(work: () => T): T {
    this.processes++
    try {
      return work()
    } finally {
      this.processes--
    }
  }

  /** What may or may not run. */
  guarded<T>(conditional: boolean, work: () => T): T {
    if (conditional) this.conditions++
    try {
      return work()
    } finally {
      if (conditional) this.conditions--
    }
  }
}
