/** Which processes beside its own there are below a session's shell. */
import type { Ward } from '../../../os/helper/launcher.js'
import { watchChildren, type ChildrenWatch } from '../../../os/process/children.js'

export class Company {
  readonly #ofShell: ChildrenWatch
  readonly #adopted: ChildrenWatch
  /** The shell itself is a child of the warden, and none of the init. */
  readonly #alone: number
  /** On the lower tier nothing is known of what left the shell. */
  readonly #isKnown: boolean
  /** Whether something that was started by an earlier call may still be there. */
  #isThere = false

  constructor(ward: Ward, isKnown: boolean) {
    this.#isKnown = isKnown
    this.#ofShell = watchChildren(ward.pid)
    // The warden adopts what the shell's children leave behind; in a room its init does.
    this.#adopted = watchChildren(ward.initPid ?? (ward.mark === null ? ward.wardenPid : ward.pid))
    this.#alone = ward.initPid === null ? 1 : 0
  }

  /** Whether there were other processes when the last call ended. */
  get wasThere(): boolean {
    return this.#isThere || !this.#isKnown
  }

  /** Whether what an earlier call started may still write. */
  isThereStill(): boolean {
    if (!this.#isKnown) return true
    return this.#isThere && (this.#isThere = this.isThere())
  }

  isThere(): boolean {
    return this.#ofShell.count() > 0 || this.#hasAdopted()
  }

  /** At the end of a call. `childless`: it started none. `waits`: bash has waited for those that it started. */
  note({ childless, waits }: { readonly childless: boolean; readonly waits: boolean }): boolean {
    // None before and none started: none now. Of those that bash has waited for, only the warden can have got any.
    this.#isThere = this.#isThere ? this.isThere() : !childless && (waits ? this.#hasAdopted() : this.isThere())
    return this.#isThere
  }

  close(): void {
    this.#ofShell.close()
    this.#adopted.close()
  }

  #hasAdopted(): boolean {
    return this.#adopted.count() > this.#alone
  }
}
