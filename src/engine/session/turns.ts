/** One after the other has a session's shell, in the order in which they came. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve()
  /** How many have the turn or wait for it. */
  #count = 0
  /** The turn was taken without a promise. */
  #isTaken = false
  /** Lets those behind such a turn have theirs. */
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

  /** `leave` may be called before the end: when there is nothing left to do but to tell. */
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
    // A turn that finds none before it begins at once. (The error of the one before belongs to its caller.)
    const turn = (isFree ? begin() : this.#last.then(begin, begin)).finally(leave)
    this.#last = turn
    return turn
  }
}
