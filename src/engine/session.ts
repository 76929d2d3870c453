/** A shell that remembers. Calls run in order; whatever a command does to the shell, the session goes on with its state. */
import { statSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunHandle, Session, SessionInfo } from '../contract/engine.js'
import { ShellError } from '../contract/errors.js'
import type { End, Outcome } from '../contract/outcome.js'
import type { RunRequest } from '../contract/request.js'
import { buildEnvironment } from '../env/filter.js'
import { nearestExisting } from '../os/paths.js'
import { commandLine, descendantsOf, linkOf } from '../os/proc.js'
import { adviceFor } from './advice.js'
import { auditOutcome } from './audit.js'
import { Call } from './call.js'
import { deliverCommand, isRefusal } from './delivery.js'
import { endOf, notStarted, takePipe, type Promote } from './fresh.js'
import { feedPipe } from '../os/feed.js'
import { passGate } from './gate.js'
import { abortedOutcome, endedOutcome, refusedOutcome } from './outcomes.js'
import { planRun, type Plan, type Surroundings } from './plan.js'
import type { Services } from './services.js'
import { callLine, installTraps, recoverLine, trailer, STOP_SIGNAL } from './session-lines.js'
import type { Report } from './session-report.js'
import { SessionShell } from './session-shell.js'
import { knowledge, parseState, trapCommand, type ShellState } from './session-state.js'
import { stopCommand } from './session-stop.js'

/** An idle shell writes its state down after this long, off every answer's path. */
const DUMP_AFTER_IDLE_MS = 20
/** Words after which the shell may be gone, so its state is written down first. */
const RISKY = /\b(?:exec|kill|pkill|killall|ulimit|exit|logout|suspend|bash|set|reboot)\b|\$\$/
const LOOKS_AT_STATUS = /\$(?:\?|\{\?|_\b|\{_)/
const RECOVER_LIMIT_MS = 1_500

export interface SessionParts {
  readonly name: string
  readonly services: Services
  readonly remembered: Set<string>
  readonly promote: Promote | null
  /** A dump of an earlier life, e.g. of another process. */
  readonly saved: string | null
  readonly onTerminal: (plan: Plan, call: Call, session: LiveSession) => Promise<void>
}

export class LiveSession implements Session {
  readonly name: string
  readonly #parts: SessionParts
  readonly #services: Services
  readonly #initialEnv: Readonly<Record<string, string>>
  readonly #startedAt = Date.now()
  #shell: SessionShell | null = null
  /** Shells that were replaced but whose children still run. */
  readonly #former = new Set<SessionShell>()
  #queue: Promise<unknown> = Promise.resolve()
  #cwd: string
  #calls = 0
  #restarts = 0
  #busy = false
  #closed = false
  #dirty = false
  #idle: NodeJS.Timeout | null = null
  #last = { status: 0, argument: '' }
  #userExit: string | null = null
  #evaluate = false
  #repair = false
  #state: ShellState | null
  #known: { variables: Record<string, string>; functions: Record<string, string>; aliases: Record<string, string> } = { variables: {}, functions: {}, aliases: {} }
  #notes: string[] = []

  constructor(parts: SessionParts) {
    this.#parts = parts
    this.name = parts.name
    this.#services = parts.services
    const { options } = parts.services
    this.#initialEnv = buildEnvironment({ base: parts.services.baseEnv, ...(options.envDefaults === undefined ? {} : { defaults: options.envDefaults }), allowDangerous: options.allowDangerousEnv ?? false, keep: options.keepEnv ?? [], drop: options.dropEnv ?? [] }).env
    this.#state = parts.saved ? parseState(parts.saved) : null
    if (this.#state) this.#known = knowledge(this.#state)
    this.#cwd = this.#state ? nearestExisting(this.#state.cwd) : parts.services.cwd
  }

  get cwd(): string {
    return this.#cwd
  }

  run(request: RunRequest): Promise<Outcome> {
    return this.stream(request).outcome
  }

  stream(request: RunRequest): RunHandle {
    const call = new Call()
    // From the first moment: the call may have to wait for a state dump, which alone would not keep the host alive.
    const release = this.#services.launcher.hold()
    call.outcome.then(release, release)
    const turn = this.#queue.then(() => this.#take(request, call))
    this.#queue = turn.catch(() => {})
    turn.catch((error: unknown) => call.fail(notStarted(error)))
    auditOutcome(this.#services, request, 'session', this.name, call.outcome)
    return call
  }

  surroundings(): Surroundings {
    return { session: this.name, cwd: this.#cwd, ...this.#known }
  }

  async info(): Promise<SessionInfo> {
    return { name: this.name, pid: this.#shell?.alive ? this.#shell.pid : null, cwd: this.#cwd, busy: this.#busy, startedAt: this.#startedAt, calls: this.#calls, restarts: this.#restarts, leftovers: this.#leftovers().map((pid) => ({ pid, command: commandLine(pid) })) }
  }

  restart(): Promise<void> {
    const turn = this.#queue.then(async () => {
      this.#stopIdle()
      await Promise.all([this.#shell, ...this.#former].map((shell) => shell?.end(0, false)))
      this.#former.clear()
      this.#shell = null
      this.#state = null
      this.#dirty = false
      this.#known = { variables: {}, functions: {}, aliases: {} }
      this.#cwd = this.#services.cwd
      this.#userExit = null
      this.#evaluate = this.#repair = false
    })
    this.#queue = turn.catch(() => {})
    return turn
  }

  /** The state as text, for a later process; null when nothing is worth saving. */
  snapshot(): Promise<string | null> {
    const turn = this.#queue.then(async () => {
      const shell = this.#shell
      if (shell?.alive && (await shell.dump())) return shell.readDump()
      return shell ? shell.readDump() || null : this.#parts.saved
    })
    this.#queue = turn.catch(() => {})
    return turn
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#stopIdle()
    const shells = [...(this.#shell ? [this.#shell] : []), ...this.#former]
    this.#shell = null
    this.#former.clear()
    // A shell with an EXIT trap of the agent's gets the time to run it.
    await Promise.all(shells.map((shell) => shell.end(this.#userExit === null ? 0 : 1_000, this.#userExit !== null)))
  }

  /** Code that gives a fresh shell this session's state. */
  async currentState(): Promise<ShellState | null> {
    const turn = this.#queue.then(async () => {
      if (this.#shell?.alive && this.#dirty && (await this.#shell.dump())) this.#learn(this.#shell.readState())
      return this.#state
    })
    this.#queue = turn.catch(() => {})
    return turn
  }

  get initialNames(): readonly string[] {
    return Object.keys(this.#initialEnv)
  }

  /** A command that ran elsewhere with this session's state (on a terminal) brings its changes back. */
  async adopt(dump: string): Promise<void> {
    const state = parseState(dump)
    if (!state || !this.#shell?.alive) return
    this.#learn(state)
    await this.#shell.restore(state, this.initialNames)
  }

  // ---- one call ----

  async #take(request: RunRequest, call: Call): Promise<void> {
    if (this.#closed) throw new ShellError('SESSION_LOST', `Session ${this.name} is closed`, 'Open a session and try again.')
    if (request.signal?.aborted) return call.settle(abortedOutcome({ cwd: this.#cwd, session: this.name }))
    this.#stopIdle()
    this.#notes = []
    this.#checkDirectory()
    const plan = await planRun(request, this.surroundings(), this.#services)
    const stopped = await passGate(plan, this.#services, this.#parts.remembered)
    if (stopped) return call.settle(stopped)
    if (request.pty) return this.#parts.onTerminal(plan, call, this)
    const delivered = await deliverCommand(plan.command, this.#services)
    if (isRefusal(delivered)) return call.settle(refusedOutcome(delivered, plan))
    this.#busy = true
    try {
      const shell = await this.#ready()
      await this.#execute(shell, plan, delivered, call)
    } finally {
      this.#busy = false
    }
  }

  /** The directory may have been deleted by the last command or by somebody else. */
  #checkDirectory(): void {
    try {
      if (statSync(this.#cwd).isDirectory()) return
    } catch {
      // Gone.
    }
    const lost = this.#cwd
    this.#cwd = nearestExisting(lost)
    this.#notes.push(`The session's directory ${lost} no longer exists; continuing in ${this.#cwd}.`)
    this.#shell?.type(`{ \\builtin cd -- '${this.#cwd.replaceAll("'", String.raw`'\''`)}'; } >/dev/null 2>&1\n`)
  }

  /** The live shell, or its successor with the last state. */
  async #ready(): Promise<SessionShell> {
    if (this.#shell?.alive) return this.#shell
    const former = this.#shell
    if (former) {
      this.#retire(former)
      this.#restarts += 1
    }
    const cwd = nearestExisting(this.#cwd)
    const shell = await SessionShell.start(this.#services, this.#initialEnv, cwd)
    this.#shell = shell
    this.#userExit = null
    this.#evaluate = this.#repair = false
    if (this.#state) await shell.restore({ ...this.#state, cwd }, this.initialNames)
    return shell
  }

  #retire(shell: SessionShell): void {
    if (shell.ward.state.gone) return shell.dispose()
    this.#former.add(shell)
    void shell.ward.gone.then(() => {
      this.#former.delete(shell)
      shell.dispose()
    })
  }

  async #execute(shell: SessionShell, plan: Plan, delivered: Exclude<Awaited<ReturnType<typeof deliverCommand>>, { rule: string }>, call: Call): Promise<void> {
    const { request } = plan
    const services = this.#services
    const merged = request.streams === 'merged'
    const text = plan.command
    const number = shell.nextNumber()
    const startedAt = performance.now()
    this.#calls += 1

    const out = call.capture(merged ? 'output' : 'stdout', plan, services)
    const err = merged ? null : call.capture('stderr', plan, services)
    const pipes = await shell.attach({ out: (chunk) => out.push(chunk), err: (chunk) => (err ?? out).push(chunk) })

    const looksAtTraps = /\btrap\b/.test(text)
    if (looksAtTraps && /\b(?:DEBUG|RETURN)\b/i.test(text)) this.#evaluate = true
    if (/\b(?:builtin|enable)\b/.test(text)) this.#repair = true
    const env: Record<string, string> = {}
    for (const name of Object.keys(request.env ?? {})) if (plan.env[name] !== undefined && /^[A-Za-z_]\w*$/.test(name)) env[name] = plan.env[name]

    let stdin = '/dev/null'
    if (request.input !== undefined) {
      stdin = join(services.runDir, `i${services.nextNumber()}`)
      writeFileSync(stdin, request.input, { mode: 0o600, flag: 'wx' })
    }
    const secretPipe = delivered.payload ? await takePipe(services) : null
    if (secretPipe && delivered.payload) feedPipe(secretPipe.writeEnd(), delivered.payload)
    // A whole command gets a line of ours behind it; what does not parse might swallow that line (a heredoc without an end).
    const ending = plan.verdict.facts.parsedOk && !this.#evaluate && hereDocumentsEnd(delivered.script) ? trailer(number, shell.marks) : '\n'
    writeFileSync(shell.commandFile, delivered.script + ending, { mode: 0o600 })

    const before = existingDescendants(shell)
    const ended = shell.heard('T', number)
    const lineEnded = shell.heard('E', number)
    const trapSeen = looksAtTraps ? shell.heard('X', number) : null
    shell.type(
      callLine(
        {
          number,
          file: shell.commandFile,
          stdin,
          merged,
          ...pipes,
          cwd: plan.cwd === this.#cwd ? null : plan.cwd,
          env,
          savedEnvFile: shell.savedEnvFile,
          secrets: secretPipe ? { prelude: delivered.prelude(secretPipe.readPath), epilogue: delivered.epilogue } : null,
          before: LOOKS_AT_STATUS.test(text) ? { status: this.#last.status, last: this.#last.argument } : null,
          traps: looksAtTraps ? { userExit: this.#userExit } : null,
          dumpFirst: this.#dirty && (looksAtTraps || RISKY.test(text) || request.yieldMs !== undefined || request.onTimeout === 'background'),
          evaluate: this.#evaluate,
          repairBuiltins: this.#repair,
        },
        shell.marks,
      ),
    )
    this.#dirty = true
    call.pid = shell.pid

    // ---- it runs ----
    let stop: 'timeout' | 'caller' | 'close' | 'interrupt' | null = null
    let stopping: Promise<{ forced: boolean; left: readonly number[] }> | null = null
    let promoted = false
    let interrupted!: (nothing: null) => void
    const interruption = new Promise<null>((resolve) => (interrupted = resolve))
    const begin = (why: 'timeout' | 'caller' | 'close' | 'interrupt'): void => {
      if (stop || promoted) return
      stop = why
      stopping = stopCommand({ shell: shell.pid, warden: shell.ward.wardenPid, spared: before, stopSignal: STOP_SIGNAL, polite: why === 'interrupt' ? 2 : 15, graceMs: plan.graceMs })
      interrupted(null)
    }
    const moveOut = (reason: string): Promise<Outcome> => {
      const { promote } = this.#parts
      if (stop || promoted || !promote || !shell.alive) return call.outcome
      promoted = true
      interrupted(null)
      stopTimers()
      shell.drain()
      // The shell goes with its command; the session continues in a new one with the state from before.
      this.#learn(shell.readState())
      this.#shell = null
      this.#restarts += 1
      shell.release()
      void promote({ plan, ward: shell.ward, out, err, readers: shell.readers, startedAt, reason }).then(
        (outcome) => call.settle({ ...outcome, session: this.name, cwd: this.#cwd, notes: [...outcome.notes, ...this.#notes] }),
        (error: unknown) => call.fail(error),
      )
      return call.outcome
    }
    const timers: NodeJS.Timeout[] = []
    if (plan.timeoutMs !== null) timers.push(setTimeout(() => (request.onTimeout === 'background' && this.#parts.promote ? void moveOut('timeout') : begin('timeout')), plan.timeoutMs))
    if (request.yieldMs !== undefined && this.#parts.promote) timers.push(setTimeout(() => void moveOut('yield'), request.yieldMs))
    const onAbort = (): void => begin('caller')
    request.signal?.addEventListener('abort', onAbort, { once: true })
    const stopTimers = (): void => {
      for (const timer of timers) clearTimeout(timer)
      request.signal?.removeEventListener('abort', onAbort)
    }
    const life = { end: async () => begin('close') }
    services.live.add(life)
    call.takeControl({ interrupt: () => begin('interrupt'), kill: (by) => begin(by), toBackground: () => moveOut('asked') })

    const first = await Promise.race([ended, lineEnded, shell.ward.exited.then(() => null), interruption])
    if (promoted) {
      services.live.delete(life)
      shell.forget('T', number)
      shell.forget('E', number)
      await call.outcome.catch(() => {})
      return
    }
    stopTimers()
    services.live.delete(life)
    shell.forget('T', number)
    shell.forget('E', number)
    secretPipe?.release()
    if (request.input !== undefined) removeQuietly(stdin)

    let forced = false
    const notes: string[] = []
    if (stopping) {
      const stopped = await (stopping as Promise<{ forced: boolean; left: readonly number[] }>)
      forced = stopped.forced
      if (stopped.left.length > 0) notes.push(`Could not end every process; still there: ${stopped.left.join(', ')}.`)
      if (shell.alive && !(await this.#recover(shell))) {
        shell.ward.kill({ signal: 9, graceMs: 0, why: 'timeout' })
        await shell.ward.exited
        notes.push('The shell did not answer and was restarted with the state it had before this command.')
      }
    }
    const report = first && 'kind' in first ? first : null
    if (!shell.alive) shell.drain()
    const { held } = shell.alive ? shell.detach() : { held: false }
    if (!shell.alive) {
      await drainWindow(shell, services.limits.drainMs)
      shell.detach()
    }
    out.end()
    err?.end()

    const end = this.#endOf(report, shell, stop, forced, plan)
    this.#remember(report, shell, plan, end)
    if (trapSeen && shell.alive) this.#noteTraps(await trapSeen, shell)
    if (!shell.alive) notes.push(this.#successorNote(end, stop))
    if (held) {
      const left = descendantsOf(shell.pid).filter((pid) => !before.has(pid))
      if (left.length > 0) notes.push(`Still running in the background: ${left.slice(0, 5).map((pid) => `${pid} (${commandLine(pid).slice(0, 60)})`).join(', ')}. It ends with the session; its output is not shown here.`)
    }
    const clipped = { out: out.text(plan.clip), err: err?.text(plan.clip) ?? null }
    const stages = report?.kind === 'T' ? report.fields.slice(4).map(Number) : []
    const pipeStatus = stages.length > 1 && plan.verdict.facts.lastPipelineStages > 1 ? stages : null
    notes.push(...this.#notes, ...adviceFor({ end, plan, stderr: merged ? clipped.out.text : (clipped.err?.text ?? ''), pipeStatus }))
    call.settle(
      endedOutcome({
        end,
        stdout: merged ? '' : clipped.out.text,
        stderr: clipped.err?.text ?? '',
        output: merged ? clipped.out.text : null,
        truncated: clipped.out.truncated || (clipped.err?.truncated ?? false),
        omittedBytes: clipped.out.omittedBytes + (clipped.err?.omittedBytes ?? 0),
        outputFile: out.spillPath ?? err?.spillPath ?? null,
        durationMs: Math.round(performance.now() - startedAt),
        cwd: this.#cwd,
        pid: shell.pid,
        pgid: shell.ward.pgid,
        id: null,
        session: this.name,
        pipeStatus,
        notes,
      }),
    )
    this.#planDump()
  }

  /** After an interrupt the shell is at its prompt again; hear it say so. */
  async #recover(shell: SessionShell): Promise<boolean> {
    const number = shell.nextNumber()
    const ready = shell.heard('R', number)
    shell.type(recoverLine(number, shell.marks, this.#userExit))
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<null>((resolve) => (timer = setTimeout(() => resolve(null), RECOVER_LIMIT_MS)))
    const heard = await Promise.race([ready, late])
    clearTimeout(timer)
    return heard !== null
  }

  #endOf(report: Report | null, shell: SessionShell, stop: string | null, forced: boolean, plan: Plan): End {
    if (stop === 'timeout') return { kind: 'timeout', afterMs: plan.timeoutMs ?? 0, forced }
    if (stop === 'caller' || stop === 'close') return { kind: 'kill', forced, by: stop }
    if (stop === 'interrupt') return { kind: 'signal', signal: 'SIGINT' }
    if (report) return { kind: 'exit', code: Number(report.fields[0]) }
    const { exited } = shell.ward.state
    return exited ? endOf(exited, null, plan) : { kind: 'lost', reason: 'the shell did not answer' }
  }

  #remember(report: Report | null, shell: SessionShell, plan: Plan, end: End): void {
    this.#last = { status: end.kind === 'exit' ? end.code : 130, argument: report?.kind === 'T' ? (report.fields[3] ?? '') : '' }
    const { mutations } = plan.verdict
    for (const kind of ['variables', 'functions', 'aliases'] as const) {
      for (const [name, value] of Object.entries(mutations[kind])) {
        if (value === null) delete this.#known[kind][name]
        else this.#known[kind][name] = value
      }
    }
    if (shell.alive) {
      this.#cwd = directoryOf(shell.pid, report?.fields[2]) ?? this.#cwd
      return
    }
    this.#learn(shell.readState())
    if (this.#state) this.#cwd = this.#state.cwd
  }

  #learn(state: ShellState | null): void {
    if (!state) return
    this.#state = state
    this.#known = knowledge(state)
    this.#dirty = false
  }

  /** The agent's own EXIT trap, so that it still runs once when the shell leaves, with our dump before it. */
  #noteTraps(report: Report | null, shell: SessionShell): void {
    if (!report) return
    const trap = trapCommand(report.fields[0] ?? '')
    this.#userExit = trap
    shell.type(`{ ${installTraps(shell.marks, trap)}; } 2>/dev/null\n`)
  }

  #successorNote(end: End, stop: string | null): string {
    const how = stop ? 'with the command' : end.kind === 'exit' ? `with exit code ${end.code}` : end.kind === 'signal' ? `by ${end.signal}` : ''
    return `The shell ended ${how}; the session goes on in a new shell with its state restored.`.replace('  ', ' ')
  }

  #planDump(): void {
    if (this.#closed || !this.#shell?.alive) return
    this.#idle = setTimeout(() => {
      const turn = this.#queue.then(async () => {
        const shell = this.#shell
        if (!shell?.alive || !this.#dirty || this.#closed) return
        if (await shell.dump()) this.#learn(shell.readState())
      })
      this.#queue = turn.catch(() => {})
    }, DUMP_AFTER_IDLE_MS)
    this.#idle.unref()
  }

  #stopIdle(): void {
    if (this.#idle) clearTimeout(this.#idle)
    this.#idle = null
  }

  #leftovers(): number[] {
    const found: number[] = []
    if (this.#shell?.alive && !this.#busy) found.push(...descendantsOf(this.#shell.ward.wardenPid).filter((pid) => pid !== this.#shell?.pid))
    for (const shell of this.#former) if (!shell.ward.state.gone) found.push(...descendantsOf(shell.ward.wardenPid))
    return found
  }
}

/** Whether every here-document has its end; one without would swallow a line of ours. */
function hereDocumentsEnd(text: string): boolean {
  if (!text.includes('<<')) return true
  const lines = new Set(text.split('\n').map((line) => line.replace(/^\t+/, '')))
  return [...text.matchAll(/(?<!<)<<(?!<)-?[ \t]*(?:'([^']*)'|"([^"]*)"|([^\s;&|<>()]+))/g)].every(([, single, double, bare]) => lines.has((single ?? double ?? bare ?? '').replaceAll('\\', '')))
}

/** What earlier calls left running: a stop of this call spares it. */
function existingDescendants(shell: SessionShell): Set<number> {
  return new Set(descendantsOf(shell.ward.wardenPid).filter((pid) => pid !== shell.pid))
}

/** `$PWD` when it names the directory the kernel says the shell is in (it keeps symbolic links), else the kernel's answer. */
function directoryOf(pid: number, claimed: string | undefined): string | null {
  const real = linkOf(pid, 'cwd')
  if (!real || !claimed || claimed === real) return real ?? claimed ?? null
  try {
    const a = statSync(claimed)
    const b = statSync(real)
    return a.ino === b.ino && a.dev === b.dev ? claimed : real
  } catch {
    return real
  }
}

async function drainWindow(shell: SessionShell, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  await Promise.race([Promise.all(shell.readers.map((reader) => reader.end)), new Promise((resolve) => (timer = setTimeout(resolve, ms)))])
  clearTimeout(timer)
}

function removeQuietly(file: string): void {
  try {
    unlinkSync(file)
  } catch {
    // Gone.
  }
}
