/**
 * Watches for a shell that will not report: limits or missing builtins can keep it from doing
 * so, and then it waits for the next line, and the call would wait for ever. One timer serves
 * all calls of a shell, so that a quick call costs none.
 */
export const SOON_MS = 25
/**
 * A shell is at its prompt for a moment before and after every command; three times in a row
 * this far apart means that it has nothing more to say.
 */
const LOOK_EVERY_MS = 400
const LOOKS = 3

export interface Watched {
  /** Whether the shell has read all lines that it was given and waits for more. */
  isIdle(): boolean
}

/** A call that waits for the shell's report. */
export interface Waiting {
  /** It takes longer than `SOON_MS`: what only such a call needs is made now. */
  slow(): void
  /** The shell finished the command and will never say so. */
  unanswered(): void
}

export class StallWatch {
  readonly #shell: Watched
  #call: Waiting | null = null
  #began = 0
  #looks = 0
  #wasSlow = false
  #timer: NodeJS.Timeout | null = null
  #looksRarely = false

  constructor(shell: Watched) {
    this.#shell = shell
  }

  /** The call that has the shell, since `began`. */
  begin(call: Waiting, began: number): void {
    this.#call = call
    this.#began = began
    this.#looks = 0
    this.#wasSlow = false
    this.#timer ??= setTimeout(this.#look, SOON_MS).unref()
  }

  end(call: Waiting): void {
    if (this.#call === call) this.#call = null
    // The next call must not wait for a look that is far away.
    if (this.#looksRarely) this.stop()
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    this.#looksRarely = false
  }

  readonly #look = (): void => {
    const call = this.#call
    this.#timer = null
    if (!call) return
    const young = performance.now() - this.#began < SOON_MS - 5
    this.#looksRarely = !young
    // A slow call may be handed on, and then has a timer already.
    if (!young) this.#attend(call)
    this.#timer ??= setTimeout(this.#look, young ? SOON_MS : LOOK_EVERY_MS).unref()
  }

  #attend(call: Waiting): void {
    if (!this.#wasSlow) {
      this.#wasSlow = true
      return call.slow()
    }
    this.#looks = this.#shell.isIdle() ? this.#looks + 1 : 0
    if (this.#looks >= LOOKS) call.unanswered()
  }
}
