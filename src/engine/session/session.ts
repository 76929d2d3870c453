/**
 * A shell that remembers. Calls run in order; whatever a command does to the shell, the session goes on with its state.
 */
import type { Note } from '../../contract/note.js'
import { resolve } from 'node:path'
import type { RunHandle, Session, SessionInfo } from '../../contract/engine.js'
import { ShellError } from '../../contract/errors.js'
import type { Outcome } from '../../contract/outcome.js'
import type { RunRequest } from '../../contract/request.js'
import { buildEnvironment } from '../../env/filter.js'
import { nearestExisting } from '../../os/files/paths.js'
import { processesOf } from '../../os/helper/processes.js'
import { commandLine, isAlive } from '../../os/process/proc.js'
import { prepared } from '../services/pipes.js'
import { within } from '../services/within.js'
import { auditOutcome } from '../call/audit.js'
import { Call } from '../call/call.js'
import { deliverCommand, isRefusal } from '../plan/delivery.js'
import { notStarted } from '../services/ends.js'
import { type Promote } from '../call/promote.js'
import { passGate } from '../plan/gate.js'
import { abortedOutcome, refusedOutcome } from '../services/outcomes.js'
import { planRun, type Plan, type Surroundings } from '../plan/plan.js'
import type { Stay } from '../services/sandbox/sandbox.js'
import type { Services } from '../services/services.js'
import { checkRequest } from '../plan/request.js'
import { NEVER_BEGUN, runInShell, type CallSite } from './call/call.js'
import { isThere, SessionDirectory } from './call/directory.js'
import { SessionDirectoryEnv } from './call/directory-env.js'
import { withoutReturnTrap } from './shell/lines.js'
import { SessionMemory } from './call/memory.js'
import { QuickCall } from './call/quick-call.js'
import { QuickCommands, type QuickCommand } from './call/quick.js'
import { SessionShell } from './shell/shell.js'
import { deadShellNote } from './call/end.js'
import { notRestored } from './shell/restore.js'
import { AFTER } from './shell/dump.js'
import { bytesOf, parseSnapshot, snapshotText, utf8, type ShellState } from './shell/state.js'
import { keepVerdicts } from './call/verdicts.js'

/**
 * An idle shell writes its state down after this long, off every answer's path. A command that
 * comes sooner has to wait for it.
 */
/** A short command is waited for, because its state is newer. */
const LAST_KNOWN_AFTER_MS = 150
const DUMP_AFTER_IDLE_MS = 2

/** How long the news of a shell's end may take. */
const DEATH_LIMIT_MS = 2_000
/** So many shells may die one after the other before they have read a command. */
const MOST_TRIES = 3

const startedAgain = (how: 'killed' | 'ended'): string =>
  `The server was ${how === 'killed' ? 'killed' : 'ended by its host'} and has been started again: this shell is new. Variables, functions, the directory and background commands of the earlier one are gone.`

export interface SessionParts {
  readonly name: string
  readonly services: Services
  readonly promote: Promote | null
  /** A dump of an earlier life, e.g. of another process. */
  readonly saved: string | null
  readonly onTerminal: (plan: Plan, call: Call, session: LiveSession) => Promise<void>
  /** Opens a session that begins with this dump. */
  readonly copyTo: (name: string, dump: string | null) => Session
}

export class LiveSession implements Session {
  readonly name: string
  readonly #parts: SessionParts
  readonly #services: Services
  readonly #initialEnv: Readonly<Record<string, string>>
  readonly #startedAt = Date.now()
  readonly #memory: SessionMemory
  #shell: SessionShell | null = null
  /** Shells that were replaced but whose children still run. */
  readonly #former = new Set<SessionShell>()
  #queue: Promise<unknown> = Promise.resolve()
  /** How many have the turn or wait for it. */
  #turns = 0
  readonly #quick = new QuickCommands()
  /** The quick call that has the turn, and what lets those behind it have theirs. */
  #quickCall: Call | null = null
  #pass: (() => void) | null = null
  readonly #life = {
    end: async (): Promise<void> => {
      const call = this.#quickCall
      call?.control?.kill('close')
      await call?.outcome.catch(() => {})
    },
  }
  #sameSite: CallSite | null = null
  /** Where its shells live in a sandbox; null before the first of them, and where there is none. */
  #stay: Stay | null = null
  #calls = 0
  #restarts = 0
  /** The state was brought back by a command that ran on a terminal, and no shell of the session holds it yet. */
  #adopted = false
  /** To be said by the next call. */
  readonly #news: Note[] = []
  readonly #directory: SessionDirectory
  readonly #directoryEnv = new SessionDirectoryEnv()
  #busy = false
  #closed = false
  #idle: NodeJS.Timeout | null = null

  constructor(parts: SessionParts) {
    this.#parts = parts
    this.name = parts.name
    const { services } = parts
    const { options } = services
    this.#initialEnv = {
      ...buildEnvironment({
        base: services.baseEnv,
        ...(options.envDefaults === undefined ? {} : { defaults: options.envDefaults }),
        allowDangerous: options.allowDangerousEnv ?? false,
        keep: options.keepEnv ?? [],
        drop: options.dropEnv ?? [],
      }).env,
      ...services.ownEnv,
    }
    this.#directory = new SessionDirectory(services.seen)
    this.#memory = new SessionMemory(services.cwd, parts.saved ? parseSnapshot(parts.saved) : null)
    if (parts.saved !== null && !this.#memory.state)
      this.#news.push({
        code: 'state',
        text: 'The saved state of this session could not be read; it starts without it.',
      })
    if (services.succeeds) this.#news.push({ code: 'shell-restarted', text: startedAgain(services.succeeds) })
    this.#news.push(...missingNotes(this.#memory.state?.missing ?? []))
    // Once for all its quick calls.
    services.live.add(this.#life)
    this.#services = Object.create(services, {
      judge: { value: keepVerdicts((...about) => services.judge(...about), this.#memory) },
      ...(services.sandbox
        ? {
            launcher: { get: () => this.#stay?.launcher ?? services.launcher },
            runFile: { value: (kind: string) => (this.#stay ?? services).runFile(kind) },
            stay: { get: () => this.#stay },
          }
        : {}),
    }) as Services
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
    const quick = this.#turns === 0 ? this.#giveQuick(request) : null
    const call = new Call(request, this.name, this.#services.calls)
    if (this.#services.sandbox) call.adorn = (outcome) => this.#stay?.adorn(outcome) ?? outcome
    // From the first moment: the call may have to wait for a state dump, which alone would not keep the host alive.
    const release = this.#services.launcher.hold()
    if (quick) this.#takeQuick(quick, request, call, release)
    else {
      call.outcome.then(release, release)
      this.#inTurn((leave) => this.#take(request, call, leave)).catch((error: unknown) => call.fail(notStarted(error)))
    }
    auditOutcome(this.#services, request, 'session', this.name, call.outcome, this.cwd)
    return call
  }

  surroundings(): Surroundings {
    return { session: this.name, cwd: this.#memory.cwd, ...this.#memory.known }
  }

  async info(): Promise<SessionInfo> {
    return {
      name: this.name,
      pid: this.#shell?.alive ? this.#shell.pid : null,
      cwd: this.cwd,
      busy: this.#busy,
      startedAt: this.#startedAt,
      calls: this.#calls,
      restarts: this.#restarts,
      leftovers: this.#leftovers().map((pid) => ({ pid, command: commandLine(pid) })),
    }
  }

  restart(): Promise<void> {
    return this.#inTurn(async () => {
      this.#stopIdle()
      await Promise.all([...(this.#shell ? [this.#shell] : []), ...this.#former].map((shell) => shell.end(0, false)))
      this.#former.clear()
      this.#shell = null
      this.#memory.forget(this.#services.cwd)
    })
  }

  /** Its room is about to end: the shell goes, and its state stays for the next one. */
  leaveRoom(): Promise<void> {
    return this.#inTurn(async () => {
      if (!this.#stay) return
      await this.stateInTurn()
      this.#stopIdle()
      await Promise.all([...(this.#shell ? [this.#shell] : []), ...this.#former].map((shell) => shell.end(0, false)))
      this.#former.clear()
      this.#shell = null
      this.#stay.leave()
      this.#stay = null
    })
  }

  async fork(name: string): Promise<Session> {
    return this.#parts.copyTo(name, await this.snapshot())
  }

  /** The state as text, for a later process; null when nothing is worth saving. */
  snapshot(): Promise<string | null> {
    return this.#inTurn(async () => {
      if (!this.#shell && !this.#adopted) return this.#parts.saved
      const state = await this.stateInTurn()
      return state ? snapshotText(state, (text) => this.#services.secrets.mask(text), this.initialNames) : null
    })
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#services.live.delete(this.#life)
    this.#stopIdle()
    const release = this.#services.launcher.hold()
    const shells = [...(this.#shell ? [this.#shell] : []), ...this.#former]
    this.#shell = null
    this.#former.clear()
    // A shell with an EXIT trap of the agent's gets the time to run it.
    const polite = this.#memory.traps.exit !== null
    await Promise.all(shells.map((shell) => shell.end(polite ? 1_000 : 0, polite))).finally(release)
    this.#stay?.leave()
  }

  /**
   * The state for another shell. A command that runs on does not hold it up: then it is the
   * state from before that command.
   */
  async currentState(): Promise<ShellState | null> {
    const isFree = this.#turns === 0
    const now = this.#inTurn(() => this.stateInTurn())
    if (isFree) return now
    now.catch(() => {})
    const before = new Promise<ShellState | null>((resolve) => {
      setTimeout(() => resolve(this.#shell?.readState() ?? this.#memory.state), LAST_KNOWN_AFTER_MS)
    })
    return Promise.race([now, before])
  }

  /** The same for a caller that already has the session's turn (a command on a terminal). */
  async stateInTurn(): Promise<ShellState | null> {
    if (this.#shell?.alive) await this.#writeDown(this.#shell)
    return this.#memory.state
  }

  get initialNames(): readonly string[] {
    return Object.keys(this.#initialEnv)
  }

  /** A command that ran elsewhere with this session's state (on a terminal) brings its changes back. */
  async adopt(state: ShellState): Promise<void> {
    const memory = this.#memory
    const before = memory.state
    this.#adopted = true
    memory.learn(state)
    memory.cwd = utf8(state.cwd)
    if (state.last) memory.last = state.last
    // A session whose shell has not been started, or is gone, gets the state with its next shell.
    if (!this.#shell?.alive) return
    await this.#shell.restore(state, { variables: [], ...(before ? { state: before } : {}) })
    memory.noteDump(this.#shell, AFTER)
  }

  /** A command that ran elsewhere ended without saying what it changed. */
  noteStatus(status: number): void {
    this.#memory.last = { status, argument: '', stages: [status] }
  }

  // ---- one call ----

  /** `leave` may be called before the end: when there is nothing left to do but to tell. */
  #inTurn<T>(work: (leave: () => void) => Promise<T>): Promise<T> {
    const isFree = this.#turns === 0
    this.#turns += 1
    if (this.#quickCall && !this.#pass) this.#queue = new Promise<void>((resolve) => (this.#pass = resolve))
    let left = false
    const leave = (): void => {
      if (!left) this.#turns -= 1
      left = true
    }
    const begin = (): Promise<T> => work(leave)
    // Nothing else keeps the host alive while a restart, a dump or a snapshot is waited for.
    const release = this.#services.launcher.hold()
    // A turn that finds none before it begins at once. (The error of the one before belongs to its caller.)
    const turn = (isFree ? begin() : this.#queue.then(begin, begin)).finally(() => {
      release()
      leave()
    })
    this.#queue = turn
    return turn
  }

  /**
   * What is wrong with a request, or keeps its command from being written down, is said in its
   * turn: by the promise, not to the one who calls.
   */
  #giveQuick(request: RunRequest): QuickCommand | null {
    try {
      const known = this.#findQuick(request)
      known?.shell.give(known)
      return known
    } catch {
      return null
    }
  }

  /** A command that the same shell has run before, when nothing has changed since. */
  #findQuick(request: RunRequest): QuickCommand | null {
    const shell = this.#shell
    if (
      this.#closed ||
      this.#services.state.closed ||
      !shell?.alive ||
      shell.hasOtherProcesses ||
      this.#services.roots ||
      this.#services.directories ||
      this.#news.length > 0
    )
      return null
    const known = this.#quick.find(request, shell, this.#memory)
    if (!known || (!known.care.placeless && !this.#directory.isUnchanged(shell))) return null
    // The command itself has been checked before.
    if (Object.keys(request).length > 1) checkRequest(request, this.#services.limits)
    return known
  }

  /** The shell has been given the command already. */
  #takeQuick(known: QuickCommand, request: RunRequest, call: Call, release: () => void): void {
    this.#turns += 1
    this.#quickCall = call
    this.#begin()
    void new QuickCall(known, request, call, this.#site, () => {
      this.#turns -= 1
      this.#quickCall = null
      this.#end()
      release()
      this.#pass?.()
      this.#pass = null
    })
  }

  async #take(request: RunRequest, call: Call, leave: () => void): Promise<void> {
    try {
      await this.#do(request, call, leave)
    } catch (error) {
      // It tells nothing, so the next call does.
      this.#news.push(...call.notes.splice(0))
      throw error
    }
  }

  async #do(request: RunRequest, call: Call, leave: () => void): Promise<void> {
    if (this.#closed)
      throw new ShellError('SESSION_LOST', `Session ${this.name} is closed`, 'Open a session and try again.')
    const memory = this.#memory
    // Not an object at all: the plan says so.
    if (request?.sandbox !== undefined) throw fixedSandbox()
    if (request?.signal?.aborted) return call.settle(abortedOutcome({ cwd: memory.cwd, session: this.name }))
    // A directory that only the try holds is found in its room.
    if (this.#services.sandbox?.options.try) await this.#services.sandbox.prepared()
    const { notes } = call
    notes.push(...this.#news.splice(0), ...this.#directory.check(memory, this.#shell?.alive ? this.#shell : null))
    await this.#enterDirectory(notes)
    const judged = (): Promise<Plan> =>
      planRun(
        request,
        { ...this.surroundings(), entered: this.#shell?.alive || isThere(memory, this.#services.seen) },
        this.#services,
      )
    let plan = await judged()
    // Refused for what the shell was thought to hold: ask the shell, and judge what it really holds.
    if (plan.verdict.decision !== 'allow' && this.#shell?.alive && (memory.dirty || memory.unread)) {
      await this.#writeDown(this.#shell)
      plan = await judged()
    }
    const stopped = await passGate(plan, this.#services)
    // Bash could not read it: that is a status too.
    if (stopped?.exitCode) this.noteStatus(stopped.exitCode)
    if (stopped) return call.settle(stopped)
    if (request.pty) return this.#parts.onTerminal(plan, call, this)
    const delivered = await deliverCommand(plan, this.#services)
    if (isRefusal(delivered)) return call.settle(refusedOutcome(delivered, plan))
    notes.push(...delivered.notes)
    this.#begin()
    try {
      let outcome: Outcome | null | typeof NEVER_BEGUN = NEVER_BEGUN
      for (let tries = 0; outcome === NEVER_BEGUN && tries < MOST_TRIES; tries++)
        outcome = await runInShell(await this.#ready(notes), plan, delivered, call, this.#site)
      if (outcome === NEVER_BEGUN)
        throw new ShellError(
          'SPAWN_FAILED',
          `Every new shell of session ${this.name} died before it read the command`,
          'Nothing of the command ran. Look for what ends processes on this machine (memory, limits), then try again.',
        )
      if (!outcome) return
      leave()
      call.settle(outcome)
    } finally {
      this.#end()
    }
  }

  #begin(): void {
    this.#stopIdle()
    this.#busy = true
    this.#calls += 1
  }

  #end(): void {
    this.#busy = false
    this.#planDump()
  }

  get #site(): CallSite {
    return (this.#sameSite ??= {
      name: this.name,
      services: this.#services,
      memory: this.#memory,
      promote: this.#parts.promote,
      initialNames: () => this.initialNames,
      again: (request, call) => this.#take(request, call, () => {}),
      repeatable: (plan, given) => this.#quick.learn(plan, given, this.#memory),
      letGo: () => {
        this.#shell = null
        this.#restarts += 1
      },
    })
  }

  /** The live shell, or its successor with the last state. */
  async #ready(notes: Note[]): Promise<SessionShell> {
    if (this.#shell?.alive) {
      if (!this.#shell.isDoomed) return this.#shell
      // The launcher says so in a moment.
      await within(this.#shell.ward.exited, DEATH_LIMIT_MS)
      if (this.#shell.alive) return this.#shell
    }
    const memory = this.#memory
    if (this.#shell) {
      if (!this.#shell.endIsTold) {
        memory.learn(this.#shell.readState())
        notes.push(deadShellNote(this.#shell, memory, this.initialNames))
      }
      this.#retire(this.#shell)
      this.#restarts += 1
    }
    const { state } = memory
    const cwd = nearestExisting(memory.cwd, this.#services.seen)
    if (this.#services.sandbox && !this.#stay?.room.alive) {
      this.#stay?.leave()
      this.#stay = await this.#services.sandbox.enter(undefined, true)
    }
    const shell = await prepared(this.#services, () => SessionShell.start(this.#services, this.#initialEnv, cwd))
    this.#shell = shell
    memory.forNewShell()
    memory.holdings.begin()
    if (!state) {
      const { setUp } = this.#services
      if (setUp !== null) this.#learn(shell, await shell.take(setUp))
      return shell
    }
    const wanted = { ...state, cwd: isThere(memory, this.#services.seen) ? state.cwd : bytesOf(cwd) }
    const found = await shell.restore(wanted, { variables: this.initialNames })
    memory.noteDump(shell, AFTER)
    const missing = found ? notRestored(wanted, found) : ['its state']
    if (missing.length > 0)
      notes.push({ code: 'state', text: `Not restored in the new shell: ${missing.slice(0, 20).join(', ')}.` })
    return shell
  }

  #learn(shell: SessionShell, found: ShellState | null): void {
    this.#memory.noteDump(shell, AFTER)
    if (found) this.#memory.learn(found)
  }

  /** Gives the shell the variables of the directory that it is in, and takes those of the one before away. */
  async #enterDirectory(notes: Note[]): Promise<void> {
    const { directories } = this.#services
    if (!directories || !this.#directoryEnv.isDue(directories, this.cwd)) return
    const shell = await this.#ready(notes)
    const state = await this.stateInTurn()
    const code = await this.#directoryEnv.enter(directories, this.cwd, state, this.#initialEnv, notes)
    if (code !== '') this.#learn(shell, await shell.take(code))
  }

  #retire(shell: SessionShell): void {
    if (shell.ward.state.gone) return shell.dispose()
    this.#former.add(shell)
    void shell.ward.gone.then(() => {
      this.#former.delete(shell)
      shell.dispose()
    })
  }

  #planDump(): void {
    const shell = this.#shell
    if (this.#closed || !shell?.alive || !(this.#memory.dirty || this.#memory.unread || shell.hasOtherProcesses)) return
    this.#idle = setTimeout(() => {
      void this.#inTurn(async () => {
        if (this.#shell !== shell || !shell.alive || this.#closed) return
        await this.#writeDown(shell)
        this.#memory.holdings.look(shell, this.#services.runDir)
      }).catch(() => {})
    }, DUMP_AFTER_IDLE_MS)
    this.#idle.unref()
  }

  async #writeDown(shell: SessionShell): Promise<void> {
    const memory = this.#memory
    if (!(memory.dirty || memory.unread) || (memory.dirty && !(await shell.dump()))) return
    memory.noteDump(shell, AFTER)
    memory.learn(shell.readState())
    if (!memory.strayReturn) return
    shell.type(withoutReturnTrap)
    memory.strayReturn = false
  }

  #stopIdle(): void {
    if (this.#idle) clearTimeout(this.#idle)
    this.#idle = null
  }

  #leftovers(): number[] {
    const found: number[] = []
    if (this.#shell?.alive && !this.#busy)
      found.push(...processesOf(this.#shell.ward).filter((pid) => pid !== this.#shell?.pid))
    for (const shell of this.#former) if (!shell.ward.state.gone) found.push(...processesOf(shell.ward))
    return found.filter((pid) => isAlive(pid))
  }
}

function fixedSandbox(): ShellError {
  return new ShellError(
    'BAD_REQUEST',
    'Bad request: a session keeps the sandbox of its engine',
    'Run the command without a session to give it a stricter one.',
  )
}

/** What a snapshot could not hold, or must not. */
function missingNotes(missing: readonly string[]): Note[] {
  const of = (kind: string): string =>
    missing
      .filter((line) => line.startsWith(`${kind} `))
      .map((line) => line.slice(kind.length + 1))
      .join(', ')
  return [
    ...(of('secret') ? [`Not kept from one process to the next, because it held a secret: ${of('secret')}.`] : []),
    ...(of('hook') ? [`Not kept: ${of('hook')} (loader and start-up hooks stay out of new shells).`] : []),
  ].map((text) => ({ code: 'state', text }))
}
