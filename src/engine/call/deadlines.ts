/**
 * Deadlines of one run. A host that was held up past one first hears what has already arrived:
 * a command that ended in time is not called late.
 */
export class Deadlines {
  #timers: NodeJS.Timeout[] = []
  #over = false

  /**
   * A turn of the event loop may come to its timers before it comes to its pipes, so the deed
   * waits until the pipes have been read once more.
   */
  after(ms: number, act: () => void): void {
    if (this.#over) return
    const timer = setTimeout(() => {
      setImmediate(() => {
        if (!this.#over) act()
      })
    }, ms)
    this.#timers.push(timer)
  }

  clear(): void {
    this.#over = true
    for (const timer of this.#timers) clearTimeout(timer)
  }
}
