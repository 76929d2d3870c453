/**
 * A command that was given to its shell again. Most are answered before anything but the answer is needed, so nothing else is made for them;
 * one that takes longer, is to be stopped, or ends in another way is followed like every other call from there on.
 */
import type { Outcome } from '../contract/outcome.js'
import type { RunRequest } from '../contract/request.js'
import type { Call, CallControl } from './call.js'
import { notStarted } from './fresh.js'
import { environmentOf, planOf, type Plan } from './plan.js'
import type { Answer } from './session-answer.js'
import { followInShell, isUrgent, NOBODY, type CallSite } from './session-call.js'
import { endedCall, leftoverNotes, rememberLast } from './session-end.js'
import { CallOutput } from './session-output.js'
import type { QuickCommand } from './session-quick.js'
import type { Report } from './session-report.js'
import type { SilentCall } from './session-silence.js'
import type { Sinks } from './session-streams.js'

export class QuickCall implements CallControl, Sinks {
  readonly #known: QuickCommand
  readonly #request: RunRequest
  readonly #call: Call
  readonly #site: CallSite
  /** The session's turn is over. */
  readonly #over: () => void
  readonly #startedAt = performance.now()
  readonly #answer: Answer
  readonly #silence: SilentCall
  #plan: Plan | null = null
  #output: CallOutput | null = null
  #followed = false

  constructor(known: QuickCommand, request: RunRequest, call: Call, site: CallSite, over: () => void) {
    const { shell } = known
    this.#known = known
    this.#request = request
    this.#call = call
    this.#site = site
    this.#over = over
    this.#answer = shell.answer()
    shell.streams.give(this)
    site.services.live.add(this)
    call.pid = shell.pid
    call.takeControl(this)
    this.#silence = shell.silence.begin(this.#answer.giveUp, this.#follow)
    this.#answer.whenGiven(this.#heard)
    if (isUrgent(request, site)) this.#follow()
  }

  // ---- what it prints ----

  out(chunk: Uint8Array): void {
    this.#captured.out(chunk)
  }

  err(chunk: Uint8Array): void {
    this.#captured.err(chunk)
  }

  get #captured(): CallOutput {
    if (this.#output) return this.#output
    this.#output = new CallOutput(this.#call, this.#planned, this.#site.services)
    this.#output.begun = true
    return this.#output
  }

  get #planned(): Plan {
    const { services, name } = this.#site
    const { command, cwd, verdict } = this.#known
    return (this.#plan ??= planOf(this.#request, { command, cwd, verdict, environment: environmentOf(this.#request, services), session: name, background: false }, services.limits))
  }

  // ---- the short way ----

  readonly #heard = (report: Report | null): void => {
    if (this.#followed) return
    if (report?.kind !== 'F' || !this.#known.shell.alive) return this.#follow()
    // A command that cannot have printed anything has nothing left to be read.
    if (this.#known.care.silent && report.fields[0] === '0') this.#settle(report)
    else void this.#known.shell.caughtUp().then(() => this.#settle(report))
  }

  #settle(report: Report): void {
    if (this.#followed) return
    const { shell, care } = this.#known
    if (!shell.alive) return this.#follow()
    const { memory, name } = this.#site
    this.#leave()
    const { held } = shell.detach(care)
    this.#output?.end()
    const end = { kind: 'exit', code: Number(report.fields[0]) } as const
    rememberLast(report, end, memory)
    const notes = held ? leftoverNotes(shell, NOBODY) : []
    const outcome = endedCall({ shell, command: this.#known, output: this.#output, report, end, notes, startedAt: this.#startedAt, memory, session: name })
    this.#over()
    this.#call.settle(outcome)
  }

  #leave(): void {
    this.#silence.end()
    this.#site.services.live.delete(this)
  }

  // ---- the long way ----

  readonly #follow = (): void => {
    if (this.#followed) return
    this.#followed = true
    this.#leave()
    const { shell, care, file } = this.#known
    const begun = {
      output: this.#captured,
      answer: this.#answer,
      startedAt: this.#startedAt,
      care,
      before: NOBODY,
      askForEnd: () => shell.askForEnd(file === null),
      isSlow: true,
      dumpFirst: null,
      traps: () => null,
      inputFile: null,
      secretPipe: null,
    }
    followInShell(shell, this.#planned, this.#call, this.#site, begun).then(
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

  interrupt(): void {
    this.#follow()
    this.#next?.interrupt()
  }

  kill(by: 'caller' | 'close'): void {
    this.#follow()
    this.#next?.kill(by)
  }

  toBackground(): Promise<Outcome> {
    this.#follow()
    return this.#next?.toBackground() ?? this.#call.outcome
  }

  /** Who has taken over. */
  get #next(): CallControl | null {
    return this.#call.control === this ? null : this.#call.control
  }

  /** The engine closes. */
  async end(): Promise<void> {
    this.kill('close')
    await this.#call.outcome.catch(() => {})
  }
}
