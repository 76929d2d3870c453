/**
 * A shell that remembers. Calls run in order; whatever a command does to the shell, the session goes on with its state.
 */
import type { Note } from '../../contract/note.js'
import { resolve } from 'node:path'
import type { RunHandle, Session, SessionInfo } from '../../contract/engine.js'
import { ShellError } from '../../contract/errors.js'
import type { Outcome } from '../../contract/outcome.js'
import type { RunRequest } from '../../contract/request.js'
import { pause } from '../../os/process/clock.js'
import { shownName } from '../../os/process/proc.js'
import { auditOutcome } from '../call/audit.js'
import { Call } from '../call/call.js'
import { deliverCommand, isRefusal } from '../plan/delivery.js'
import { notStarted } from '../services/ends.js'
import type { Promote } from '../call/supervision.js'
import { abortedOutcome, refusedOutcome } from '../services/outcomes.js'
import type { Plan, Surroundings } from '../plan/plan.js'
import type { Services } from '../services/services.js'
import { NEVER_BEGUN, runInShell, type CallSite } from './call/call.js'
import { leaveGoneDirectory } from './call/directory.js'
import { SessionDirectoryEnv } from './call/directory-env.js'
import { SessionMemory } from './call/memory.js'
import { ReadyCommands, type ReadyCommand } from './call/at-once.js'
import { NativeCall } from './call/native-call.js'
import { Shells, shellsDie } from './shells.js'
import { giveState } from './shell/exchange.js'
import { admit, checkSandbox } from './admit.js'
import { IdleDump } from './idle-dump.js'
import { firstNews, savedState } from './news.js'
import { Turns } from './turns.js'
import { madeInText } from '../../confine/made-in.js'
import { snapshotText, utf8, type ShellState } from './shell/state.js'

/** A short command is waited for, because its state is newer. */
const LAST_KNOWN_AFTER_MS = 150

/** So many shells may die one after the other before they have read a command. */
const MOST_TRIES = 3

export interface SessionParts {
  readonly name: string
  readonly services: Services
  readonly promote: Promote | null
  /** A dump of an earlier life, e.g. of another process. */
  readonly saved: string | null
  readonly onTerminal: (plan: Plan, call: Call, session: LiveSession) => Promise<void>
  /** Opens a session that begins with this dump. */
  readonly copyTo: (name: string, dump: string | null) => Session
  /** Called by the first `close`: from then on the name is free for another session. */
  readonly onClose: () => void
}

export class LiveSession implements Session {
  readonly name: string
  readonly #parts: SessionParts
  readonly #services: Services
  readonly #startedAt = Date.now()
  readonly #memory: SessionMemory
  readonly #shells: Shells
  readonly #turns = new Turns()
  readonly #readyCommands = new ReadyCommands()
  /** The call that has the turn since it was given at once. */
  #nativeCall: Call | null = null
  readonly #life = {
    end: async (): Promise<void> => {
      const call = this.#nativeCall
      call?.control?.kill('close')
      await call?.outcome.catch(() => {})
    },
  }
  /** The same for every call. */
  readonly #site: CallSite
  #calls = 0
  /** The state was brought back by a command that ran on a terminal, and no shell of the session holds it yet. */
  #adopted = false
  /** To be said by the next call. */
  readonly #news: Note[]
  readonly #directoryEnv = new SessionDirectoryEnv()
  readonly #idleDump: IdleDump
  #busy = false
  #closed = false

  constructor(parts: SessionParts) {
    this.#parts = parts
    this.name = parts.name
    const { services } = parts
    this.#memory = new SessionMemory(services.cwd, savedState(parts.saved, parts.name, services.sandbox))
    this.#shells = new Shells(services, this.#memory)
    this.#services = this.#shells.services
    this.#idleDump = new IdleDump(this.#shells, this.#memory, (work) => this.#inTurn(work))
    this.#news = firstNews(parts.saved, this.#memory.state, services.succeeds)
    this.#site = {
      name: this.name,
      services: this.#services,
      memory: this.#memory,
      promote: parts.promote,
      initialNames: () => this.initialNames,
      again: (request, call) => {
        this.#calls -= 1
        return this.#take(request, call, () => {})
      },
      letGo: () => this.#shells.letGo(),
    }
    // Once for all calls that are given at once.
    services.live.add(this.#life)
  }

  get cwd(): string {
    return this.#memory.cwd
  }

  run(request: RunRequest): Promise<Outcome> {
    return this.stream(request).outcome
  }

  stream(request: RunRequest): RunHandle {
    // The shell never leaves its room: what asks to be let out could have prepared it.
    if (request?.outside !== undefined && this.#services.outside && this.#services.sandbox)
      return this.#services.outside({ ...request, cwd: resolve(this.cwd, request.cwd ?? '.') })
    // Before anything else: the rest is made while bash is at work.
    const ready = this.#giveAtOnce(request)
    const call = new Call(request, this.name, this.#services)
    if (this.#services.sandbox) call.adorn = (outcome) => this.#services.stay?.adorn(outcome) ?? outcome
    // From the first moment: the call may have to wait for a state dump, which alone would not keep the host alive.
    const release = this.#services.launcher.hold()
    if (ready) this.#follow(ready, request, call, release)
    else {
      call.outcome.then(release, release)
      const begins = this.#turns.isFree ? null : this.#hearWhileItWaits(call)
      const work = (leave: () => void): Promise<void> => {
        begins?.()
        return call.settled ? Promise.resolve() : this.#take(request, call, leave)
      }
      this.#inTurn(work).catch((error: unknown) => call.fail(notStarted(error)))
    }
    auditOutcome(this.#services, request, 'session', this.name, call.outcome, this.cwd)
    return call
  }

  /** What has not begun needs no turn to be called off. The result ends this. */
  #hearWhileItWaits(call: Call): () => void {
    const signal: unknown = call.request?.signal
    if (!(signal instanceof AbortSignal)) return () => {}
    const settle = (): void => call.settle(abortedOutcome({ cwd: this.cwd, session: this.name }))
    signal.addEventListener('abort', settle, { once: true })
    if (signal.aborted) settle()
    return () => signal.removeEventListener('abort', settle)
  }

  /** `now`: files that its commands wrote are looked at again. */
  surroundings(now = false): Surroundings {
    if (now) this.#memory.readFilesAgain()
    return { session: this.name, cwd: this.#memory.cwd, ...this.#memory.knownWithLast }
  }

  async info(): Promise<SessionInfo> {
    return {
      name: this.name,
      pid: this.#shells.current?.alive ? this.#shells.current.pid : null,
      cwd: this.cwd,
      busy: this.#busy,
      startedAt: this.#startedAt,
      calls: this.#calls,
      restarts: this.#shells.restarts,
      leftovers: this.#shells
        .leftovers(this.#busy)
        .map((pid) => ({ pid, command: this.#services.secrets.mask(shownName(pid)) })),
    }
  }

  restart(): Promise<void> {
    return this.#inTurn(async () => {
      this.#idleDump.cancel()
      await this.#shells.end()
      this.#memory.forget(this.#services.cwd)
    })
  }

  /** Its room is about to end: the shell goes, and its state stays for the next one. */
  leaveRoom(): Promise<void> {
    return this.#inTurn(async () => {
      if (!this.#services.stay) return
      await this.stateInTurn()
      this.#idleDump.cancel()
      await this.#shells.end()
      this.#shells.leaveRoom()
    })
  }

  async fork(name: string): Promise<Session> {
    return this.#parts.copyTo(name, await this.snapshot())
  }

  /** The state as text, for a later process; null when nothing is worth saving. */
  snapshot(): Promise<string | null> {
    return this.#inTurn(async () => {
      if (!this.#shells.current && !this.#adopted) return this.#parts.saved
      const state = await this.stateInTurn()
      const { secrets, sandbox } = this.#services
      return state && snapshotText(state, (text) => secrets.mask(text), this.initialNames, madeInText(sandbox))
    })
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#parts.onClose()
    this.#services.live.delete(this.#life)
    this.#idleDump.cancel()
    const release = this.#services.launcher.hold()
    // A shell with an EXIT trap of the agent's gets the time to run it.
    await this.#shells.end(this.#memory.traps.exit !== null).finally(release)
    this.#shells.leaveRoom()
  }

  /**
   * The state for another shell. A command that runs on does not hold it up: then it is the
   * state from before that command.
   */
  async currentState(): Promise<ShellState | null> {
    const { isFree } = this.#turns
    const now = this.#inTurn(() => this.stateInTurn())
    if (isFree) return now
    now.catch(() => {})
    const before = pause(LAST_KNOWN_AFTER_MS).then(() => this.#shells.current?.readState() ?? this.#memory.state)
    return Promise.race([now, before])
  }

  /** The state for another shell, asked for by a caller that has the session's turn (a command on a terminal). */
  async stateInTurn(): Promise<ShellState | null> {
    return this.#shells.state()
  }

  get initialNames(): readonly string[] {
    return this.#shells.initialNames
  }

  /**
   * A command that ran elsewhere with this session's state (on a terminal) brings its changes back. Null: it ended
   * with this status without saying what it changed.
   */
  async adopt(state: ShellState | null, status: number): Promise<void> {
    const memory = this.#memory
    if (!state) return memory.noteStatus(status)
    const before = memory.state
    this.#adopted = true
    memory.learn(state)
    memory.cwd = utf8(state.cwd)
    if (state.last) memory.last = state.last
    // A session whose shell has not been started, or is gone, gets the state with its next shell.
    if (!this.#shells.current?.alive) return
    await giveState(this.#shells.current, this.#services, state, {
      variables: [],
      ...(before ? { state: before } : {}),
    })
    memory.noteDump(this.#shells.current)
  }

  #inTurn<T>(work: (leave: () => void) => Promise<T>): Promise<T> {
    // Nothing else keeps the host alive while a restart, a dump or a snapshot is waited for.
    const release = this.#services.launcher.hold()
    return this.#turns.wait(work).finally(release)
  }

  /**
   * Null: the request has to wait, or more has to be done for it. What is wrong with it, its outcome says in its turn.
   */
  #giveAtOnce(request: RunRequest): ReadyCommand | null {
    const memory = this.#memory
    try {
      const shell = this.#shells.current
      const { services } = this.#parts
      if (!this.#turns.isFree || this.#closed || services.state.closed || this.#news.length > 0) return null
      if (!shell?.alive || shell.hasOtherProcesses || services.roots || services.directories) return null
      // The shell may need no care any more: what it wrote down says so.
      if (memory.unread && !memory.dirty && !memory.isPlain) memory.learn(shell.readState())
      const ready = this.#readyCommands.for(request, shell, memory, this.#services)
      if (!ready) return null
      shell.give(ready)
      memory.beginCommand(ready.needs.inert)
      return ready
    } catch {
      return null
    }
  }

  /** The shell has been given the command already. */
  #follow(ready: ReadyCommand, request: RunRequest, call: Call, release: () => void): void {
    const leave = this.#turns.take()
    this.#nativeCall = call
    this.#begin()
    void new NativeCall(ready, request, call, this.#site, () => {
      this.#nativeCall = null
      this.#end()
      release()
      leave()
    })
  }

  async #take(request: RunRequest, call: Call, leave: () => void): Promise<void> {
    try {
      await this.#do(request, call, leave)
    } catch (error) {
      // The call fails without an outcome: the next call tells its notes.
      this.#news.push(...call.notes.splice(0))
      throw error
    }
  }

  async #do(request: RunRequest, call: Call, leave: () => void): Promise<void> {
    if (this.#closed)
      throw new ShellError('SESSION_LOST', `Session ${this.name} is closed`, 'Open a session and try again.')
    const memory = this.#memory
    checkSandbox(request)
    if (call.isCalledOff) return call.settle(abortedOutcome({ cwd: memory.cwd, session: this.name }))
    // A directory that only the try holds is found in its room.
    if (this.#services.sandbox?.options.try) await this.#services.sandbox.prepared()
    const { notes } = call
    const moved = leaveGoneDirectory(memory, this.#shells.living(), this.#services.seen)
    notes.push(...this.#news.splice(0), ...moved)
    await this.#enterDirectory(notes)
    const admitted = await admit(request, () => this.surroundings(), this.#services, this.#shells, memory)
    if ('outcome' in admitted) return call.settle(admitted.outcome)
    const { plan } = admitted
    if (request.pty) return this.#parts.onTerminal(plan, call, this)
    const delivered = await deliverCommand(plan, this.#services)
    if (isRefusal(delivered)) return call.settle(refusedOutcome(delivered, plan))
    notes.push(...delivered.notes)
    this.#begin()
    try {
      let outcome: Outcome | null | typeof NEVER_BEGUN = NEVER_BEGUN
      for (let tries = 0; outcome === NEVER_BEGUN && tries < MOST_TRIES; tries++)
        outcome = await runInShell(await this.#shells.ready(notes), plan, delivered, call, this.#site)
      if (outcome === NEVER_BEGUN) throw shellsDie(this.name)
      if (!outcome) return
      leave()
      call.settle(outcome)
    } finally {
      this.#end()
    }
  }

  #begin(): void {
    this.#idleDump.cancel()
    this.#busy = true
    this.#calls += 1
  }

  #end(): void {
    this.#busy = false
    if (!this.#closed) this.#idleDump.plan()
  }

  /** Gives the shell the variables of the directory that it is in, and takes those of the last directory away. */
  async #enterDirectory(notes: Note[]): Promise<void> {
    const { directories } = this.#services
    if (!directories || !this.#directoryEnv.isDue(directories, this.cwd)) return
    const shell = await this.#shells.ready(notes)
    const state = await this.stateInTurn()
    const code = await this.#directoryEnv.enter(directories, this.cwd, state, this.#shells.initialEnv, notes)
    if (code !== '') await this.#shells.change(shell, code)
  }
}
