/**
 * Watches for a shell that will not report: limits or missing builtins can keep it from doing so, and then it waits for the next line, and
 * nobody would ever know. One timer serves all calls of a shell, so that a quick call costs none.
 */
export const SOON_MS = 25
/** A shell is at its prompt for a moment before and after every command; three times in a row this far apart means that it has nothing more to say. */
const LOOK_EVERY_MS = 400
const LOOKS = 3

export interface Watched {
  /** Whether the shell has read all our lines and waits for more. */
  isIdle(): boolean
}

export interface SilentCall {
  /** The shell finished the command and will never say so. */
  readonly noticed: boolean
  end(): void
}

class Watching implements SilentCall {
  readonly began = performance.now()
  looks = 0
  noticed = false

  constructor(
    readonly watch: SilenceWatch,
    readonly tell: () => void,
    public slow: (() => void) | null,
  ) {}

  end(): void {
    this.watch.forget(this)
  }
}

export class SilenceWatch {
  readonly #shell: Watched
  #call: Watching | null = null
  #timer: NodeJS.Timeout | null = null
  #slow = false

  constructor(shell: Watched) {
    this.#shell = shell
  }

  /** `slow` is called once, when the call takes longer than `SOON_MS`: what only such a call needs is made then. */
  begin(tell: () => void, slow: () => void): SilentCall {
    const call = new Watching(this, tell, slow)
    this.#call = call
    this.#timer ??= setTimeout(this.#look, SOON_MS).unref()
    return call
  }

  forget(call: SilentCall): void {
    if (this.#call === call) this.#call = null
    // The next call must not wait for a look that is far away.
    if (this.#slow) this.stop()
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    this.#slow = false
  }

  readonly #look = (): void => {
    const call = this.#call
    this.#timer = null
    if (!call) return
    const young = performance.now() - call.began < SOON_MS - 5
    this.#slow = !young
    // A slow call may be handed on, and then has a timer already.
    if (!young) this.#attend(call)
    this.#timer ??= setTimeout(this.#look, young ? SOON_MS : LOOK_EVERY_MS).unref()
  }

  #attend(call: Watching): void {
    if (call.slow) {
      call.slow()
      call.slow = null
      return
    }
    call.looks = this.#shell.isIdle() ? call.looks + 1 : 0
    if (call.looks < LOOKS) return
    call.noticed = true
    call.tell()
  }
}
