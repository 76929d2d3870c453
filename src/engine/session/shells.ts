/** The live shell of a session, those that it had before, and how one succeeds another with the same state. */
import { ShellError } from '../../contract/errors.js'
import type { Note } from '../../contract/note.js'
import { processesOf } from '../../os/helper/processes.js'
import { nearestExisting } from '../../os/files/paths.js'
import { isAlive } from '../../os/process/proc.js'
import type { Stay } from '../services/sandbox/sandbox.js'
import type { Services } from '../services/services.js'
import { environmentOf } from '../plan/plan.js'
import { prepared } from '../services/pipes.js'
import { within } from '../services/within.js'
import { isThere } from './call/directory.js'
import { deadShellNote } from './call/end.js'
import type { SessionMemory } from './call/memory.js'
import { keepVerdicts } from './call/at-once.js'
import { withoutReturnTrap } from './lines/lines.js'
import { notRestored } from './shell/restore.js'
import { askForState, giveState, runOwnCode } from './shell/exchange.js'
import type { SessionShell } from './shell/shell.js'
import { startShell } from './shell/start.js'
import { bytesOf, type ShellState } from './shell/state.js'

/** How long the news of a shell's end may take. */
const DEATH_LIMIT_MS = 2_000

export class Shells {
  /** The engine's services, with what belongs to this session: its verdicts, and its room in the sandbox. */
  readonly services: Services
  current: SessionShell | null = null
  restarts = 0
  readonly #memory: SessionMemory
  /** Shells that were replaced but whose children still run. */
  readonly #former = new Set<SessionShell>()
  /** The room of the sandbox in which the shells live; null before the first shell, and without a sandbox. */
  #stay: Stay | null = null

  constructor(services: Services, memory: SessionMemory) {
    this.#memory = memory
    this.services = Object.create(services, {
      judge: { value: keepVerdicts((...about) => services.judge(...about), memory) },
      ...(services.sandbox
        ? {
            launcher: { get: () => this.#stay?.launcher ?? services.launcher },
            runFile: { value: (kind: string) => (this.#stay ?? services).runFile(kind) },
            stay: { get: () => this.#stay },
          }
        : {}),
    }) as Services
  }

  get initialEnv(): Readonly<Record<string, string>> {
    return environmentOf({ command: ':' }, this.services).env
  }

  get initialNames(): readonly string[] {
    return Object.keys(this.initialEnv)
  }

  /** The live shell, or null. A shell that died between two calls has left a state, which is learned here. */
  living(): SessionShell | null {
    const { current } = this
    if (!current || current.alive) return current
    if (!current.endIsTold) {
      this.#memory.noteDump(current)
      this.#memory.learn(current.knownState)
    }
    return null
  }

  /** The live shell, or its successor with the last state. */
  async ready(notes: Note[]): Promise<SessionShell> {
    if (this.current?.alive) {
      if (!this.current.isDoomed) return this.current
      // The shell is about to end, and the launcher reports it in a moment.
      await within(this.current.ward.exited, DEATH_LIMIT_MS)
      if (this.current.alive) return this.current
    }
    const memory = this.#memory
    const { services } = this
    if (this.current) {
      if (!this.current.endIsTold) {
        this.living()
        notes.push(deadShellNote(this.current, memory, this.initialNames))
      }
      this.#retire(this.current)
      this.restarts += 1
    }
    const { state } = memory
    const cwd = nearestExisting(memory.cwd, services.seen)
    if (services.sandbox && !this.#stay?.room.alive) {
      this.#stay?.leave()
      this.#stay = await services.sandbox.enter(undefined, true)
    }
    const shell = await prepared(services, () => startShell(services, this.initialEnv, cwd))
    this.current = shell
    memory.forNewShell()
    memory.holdings.begin()
    if (!state) {
      if (services.setUp !== null) await this.change(shell, services.setUp)
      return shell
    }
    const wanted = { ...state, cwd: isThere(memory, services.seen) ? state.cwd : bytesOf(cwd) }
    const found = await giveState(shell, this.services, wanted, { variables: this.initialNames })
    memory.noteDump(shell)
    const missing = found ? notRestored(wanted, found) : ['its state']
    if (missing.length > 0)
      notes.push({ code: 'state', text: `Not restored in the new shell: ${missing.slice(0, 20).join(', ')}.` })
    return shell
  }

  /** Runs the engine's own code in a shell. */
  async change(shell: SessionShell, code: string): Promise<void> {
    const found = await runOwnCode(shell, this.services, code)
    this.#memory.noteDump(shell)
    if (found) this.#memory.learn(found)
  }

  /** What the shell holds, once it has written it down. */
  async state(): Promise<ShellState | null> {
    if (this.current?.alive) await this.writeDown(this.current)
    return this.#memory.state
  }

  async writeDown(shell: SessionShell): Promise<void> {
    const memory = this.#memory
    if (!(memory.dirty || memory.unread) || (memory.dirty && !(await askForState(shell)))) return
    memory.noteDump(shell)
    memory.learn(shell.knownState)
    if (!memory.strayReturn) return
    shell.type(withoutReturnTrap)
    memory.strayReturn = false
  }

  #retire(shell: SessionShell): void {
    if (shell.ward.state.gone) return shell.dispose()
    this.#former.add(shell)
    void shell.ward.gone.then(() => {
      this.#former.delete(shell)
      shell.dispose()
    })
  }

  /** The shell goes on with its command, without the session. */
  letGo(): void {
    this.current = null
    this.restarts += 1
  }

  async end(politely = false): Promise<void> {
    const shells = [...(this.current ? [this.current] : []), ...this.#former]
    this.current = null
    this.#former.clear()
    await Promise.all(shells.map((shell) => shell.end(politely ? 1_000 : 0, politely)))
  }

  leaveRoom(): void {
    this.#stay?.leave()
    this.#stay = null
  }

  /** Processes that earlier calls have left. */
  leftovers(busy: boolean): number[] {
    const { current } = this
    const found = current?.alive && !busy ? processesOf(current.ward).filter((pid) => pid !== current.pid) : []
    for (const shell of this.#former) if (!shell.ward.state.gone) found.push(...processesOf(shell.ward))
    return found.filter((pid) => isAlive(pid))
  }
}

export function shellsDie(session: string): ShellError {
  return new ShellError(
    'SPAWN_FAILED',
    `Every new shell of session ${session} died before it read the command`,
    'Nothing of the command ran. Look for what ends processes on this machine (memory, limits), then try again.',
  )
}
