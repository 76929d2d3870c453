/**
 * A command that its shell was given at once. Most are answered before anything but the answer
 * is needed, so nothing else is made for them; one that takes longer, is to be stopped, or ends
 * in another way is followed like every other call from there on.
 */
import type { Outcome } from '../../../contract/outcome.js'
import type { RunRequest } from '../../../contract/request.js'
import type { Held } from '../../../os/files/pipe-reader.js'
import type { Call, CallControl } from '../../call/call.js'
import { notStarted } from '../../services/ends.js'
import { quietOutcome } from '../../services/outcomes.js'
import { environmentOf, planOf, type Plan } from '../../plan/plan.js'
import type { Answer, ReportReceiver } from '../shell/router.js'
import { followInShell, FORGED, isUrgent, NEVER_BEGUN, NO_PROCESSES, type CallSite } from './call.js'
import { endedCall, leftoverNotes, remember } from './end.js'
import { CallOutput } from './output.js'
import type { ReadyCommand } from './at-once.js'
import type { EndReport } from '../shell/report.js'
import type { Waiting } from '../shell/stall.js'
import type { Sinks } from '../shell/streams.js'

export class NativeCall implements CallControl, Sinks, ReportReceiver, Waiting {
  readonly #known: ReadyCommand
  readonly #request: RunRequest
  readonly #call: Call
  readonly #site: CallSite
  /** The session's turn is over. */
  readonly #over: () => void
  #plan: Plan | null = null
  #output: CallOutput | null = null
  #given: EndReport | null | undefined = undefined
  #followed = false
  /** Of the call that it has become. */
  #answer: Answer | null = null

  constructor(known: ReadyCommand, request: RunRequest, call: Call, site: CallSite, over: () => void) {
    const { shell } = known
    this.#known = known
    this.#request = request
    this.#call = call
    this.#site = site
    this.#over = over
    call.pid = shell.pid
    call.takeControl(this)
    shell.streams.give(this)
    shell.stall.begin(this, call.startedAt)
    shell.answerTo(this)
    if (isUrgent(request, site)) this.slow()
  }

  // ---- what it prints ----

  out(chunk: Uint8Array): Held {
    return this.#captured.out(chunk)
  }

  err(chunk: Uint8Array): Held {
    return this.#captured.err(chunk)
  }

  get #captured(): CallOutput {
    if (this.#output) return this.#output
    this.#output = new CallOutput(this.#call, this.#planned, this.#site.services)
    this.#output.own = this.#known.shell.ownWords
    return this.#output
  }

  get #planned(): Plan {
    const { services, name } = this.#site
    const { command, cwd, verdict } = this.#known
    return (this.#plan ??= planOf(
      this.#request,
      { command, cwd, verdict, environment: environmentOf(this.#request, services), session: name, background: false },
      services,
    ))
  }

  // ---- the short way ----

  give(report: EndReport | null): void {
    if (this.#given !== undefined || this.#followed) return
    this.#given = report
    const { shell, needs } = this.#known
    if (!report || report.kind === 'E' || !shell.alive) this.slow()
    // A command that cannot have printed anything has nothing left to be read.
    else if (needs.silent && report.status === 0) this.#settle(report)
    else setImmediate(goOn, this, report)
  }

  /** See `SessionShell.caughtUp`. */
  caughtUp(report: EndReport): void {
    if (this.#followed) return
    const { shell } = this.#known
    if (!shell.alive) return this.slow()
    shell.readUnread()
    this.#settle(report)
  }

  #settle(report: EndReport): void {
    // The command has ended: a stop from here on comes too late.
    this.#followed = true
    const { shell, needs } = this.#known
    const { memory, name: session } = this.#site
    shell.stall.end(this)
    const { held } = shell.detach(needs)
    const end = { kind: 'exit', code: report.status } as const
    remember(report, shell, this.#known, end, memory, needs.inert)
    const notes = [...(shell.dumps.takeForged() ? [FORGED] : []), ...(held ? leftoverNotes(shell, NO_PROCESSES) : [])]
    const isQuiet = this.#output === null && report.status === 0 && report.stages.length <= 1 && notes.length === 0
    const { cwd } = memory
    this.#output?.end()
    const outcome = isQuiet
      ? quietOutcome({ durationMs: this.#call.age, cwd, pid: shell.pid, pgid: shell.ward.pgid, session })
      : endedCall({
          shell,
          command: this.#known,
          output: this.#output,
          report,
          end,
          notes,
          startedAt: this.#call.startedAt,
          memory,
          session,
        })
    this.#over()
    this.#call.settle(outcome)
  }

  fail(error: unknown): void {
    this.slow()
    this.#answer?.fail(error)
  }

  // ---- the long way ----

  /** The session takes the shell to another directory, and begins again. */
  displaced(): void {
    if (this.#followed) return
    this.#followed = true
    const { shell, needs } = this.#known
    shell.stall.end(this)
    shell.detach(needs)
    this.#conclude(this.#again())
  }

  /** From here on it is a call like every other. */
  slow(): void {
    if (this.#followed) return
    this.#followed = true
    const { shell, needs } = this.#known
    shell.stall.end(this)
    const answer = (this.#answer = shell.answer())
    answer.displaced = () => answer.giveBack()
    if (this.#given !== undefined) answer.give(this.#given)
    const begun = {
      output: this.#captured,
      answer,
      startedAt: this.#call.startedAt,
      needs,
      before: NO_PROCESSES,
      isSlow: true,
      dumpFirst: null,
      notesTraps: false,
      notes: [],
      inputFile: null,
      secretPipe: null,
    }
    const follow = async (): Promise<Outcome | null> => {
      const outcome = await followInShell(shell, this.#planned, this.#call, this.#site, begun)
      return outcome === NEVER_BEGUN ? this.#again() : outcome
    }
    this.#conclude(follow())
  }

  readonly #again = (): Promise<null> => this.#site.again(this.#request, this.#call).then(() => null)

  #conclude(outcome: Promise<Outcome | null>): void {
    outcome.then(
      (outcome) => {
        this.#over()
        if (outcome) this.#call.settle(outcome)
      },
      (error: unknown) => {
        this.#over()
        this.#call.fail(notStarted(error))
      },
    )
  }

  unanswered(): void {
    this.slow()
  }

  interrupt(): void {
    this.slow()
    this.#next?.interrupt()
  }

  kill(by: 'caller' | 'close'): void {
    this.slow()
    this.#next?.kill(by)
  }

  toBackground(): Promise<Outcome> {
    this.slow()
    return this.#next?.toBackground() ?? this.#call.outcome
  }

  /** What controls the call after the long way took it over; null while this one does. */
  get #next(): CallControl | null {
    return this.#call.control === this ? null : this.#call.control
  }
}

const goOn = (call: NativeCall, report: EndReport): void => call.caughtUp(report)
