/** Gives a session's shell to one piece of work after the other, in the order in which they came. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve()
  /** How many pieces of work have the turn or wait for it. */
  #count = 0
  /** The turn was taken without a promise. */
  #isTaken = false
  /** Begins the work that waits for the end of such a turn. */
  #pass: (() => void) | null = null

  get isFree(): boolean {
    return this.#count === 0
  }

  /** Takes the turn, which is free; the result ends it. */
  take(): () => void {
    this.#count += 1
    this.#isTaken = true
    return () => {
      this.#count -= 1
      this.#isTaken = false
      this.#pass?.()
      this.#pass = null
    }
  }

  /** `leave` frees the turn before the work has ended: when only its outcome is left to be told. */
  wait<T>(work: (leave: () => void) => Promise<T>): Promise<T> {
    const { isFree } = this
    this.#count += 1
    if (this.#isTaken && !this.#pass) this.#last = new Promise<void>((resolve) => (this.#pass = resolve))
    let left = false
    const leave = (): void => {
      if (!left) this.#count -= 1
      left = true
    }
    const begin = (): Promise<T> => work(leave)
    // A free turn begins at once. (An error of the last turn is for the caller of that one.)
    const turn = (isFree ? begin() : this.#last.then(begin, begin)).finally(leave)
    this.#last = turn
    return turn
  }
}
