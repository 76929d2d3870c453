/** An idle shell writes its state down a moment after a call, off every answer's path. */
import type { SessionMemory } from './call/memory.js'
import type { Shells } from './shells.js'

/** A command that comes while the shell writes has to wait: so the dump begins only after this pause. */
const AFTER_IDLE_MS = 2

export class IdleDump {
  readonly #shells: Shells
  readonly #memory: SessionMemory
  readonly #inTurn: (work: () => Promise<void>) => Promise<void>
  #timer: NodeJS.Timeout | null = null

  constructor(shells: Shells, memory: SessionMemory, inTurn: (work: () => Promise<void>) => Promise<void>) {
    this.#shells = shells
    this.#memory = memory
    this.#inTurn = inTurn
  }

  plan(): void {
    const shell = this.#shells.current
    if (!shell?.alive || !(this.#memory.dirty || this.#memory.unread || shell.hasOtherProcesses)) return
    const timer = setTimeout(() => {
      void this.#inTurn(async () => {
        // Another call came first, or the session was closed.
        if (this.#timer !== timer || this.#shells.current !== shell || !shell.alive) return
        await this.#shells.writeDown(shell)
        this.#memory.holdings.look(shell, this.#shells.services.runDir)
      }).catch(() => {})
    }, AFTER_IDLE_MS)
    this.#timer = timer.unref()
  }

  cancel(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
  }
}
