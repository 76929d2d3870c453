/**
 * Supervises one running command: ends it once, keeps its deadlines, hears the caller's signal, lets it go on as a job.
 */
import type { Note } from '../../contract/note.js'
import type { Outcome } from '../../contract/outcome.js'
import type { PipeReader } from '../../os/files/pipe-reader.js'
import type { Ward } from '../../os/helper/launcher.js'
import type { Plan } from '../plan/plan.js'
import type { Stay } from '../services/sandbox/sandbox.js'
import type { Call, CallControl } from './call.js'
import type { Capture } from './capture.js'
import { Deadlines } from './deadlines.js'

export type StopReason = 'timeout' | 'caller' | 'close' | 'interrupt' | 'limit'
/** Why a command goes on as a job; `input`: it waits for an answer. */
export type MoveReason = 'timeout' | 'yield' | 'asked' | 'input'

/** How a foreground run becomes a job, and what it hands over; the jobs part of the engine provides it. */
export type Promote = (run: {
  plan: Plan
  ward: Ward
  out: Capture
  err: Capture | null
  readers: readonly PipeReader[]
  startedAt: number
  stay: Stay | null
  reason: MoveReason
}) => Promise<Outcome>

/** What a kind of run does when it is told to. */
export interface Supervised {
  /** False for a command that has ended: a signal would hit the next one, a move would find nothing. */
  mayStop?(): boolean
  /** Ends it. Called a second time only when a kill follows an interrupt. */
  stop(why: StopReason): void
  mayMove(): boolean
  /** What has to be over before it can be moved. */
  busy?(): Promise<void> | null
  /** Makes a job of it. Null: there is nothing that could keep one. */
  readonly move: ((reason: MoveReason) => Promise<Outcome>) | null
}

export class Supervision {
  /** Why it is being ended; null while it is not. */
  stopped: StopReason | null = null
  /** It goes on as a job, or is on its way there. */
  moved = false
  readonly #call: Call
  readonly #plan: Pick<Plan, 'request' | 'timeoutMs'>
  readonly #run: Supervised
  readonly #deadlines = new Deadlines()
  readonly #onAbort = (): void => this.stop('caller')

  constructor(call: Call, plan: Pick<Plan, 'request' | 'timeoutMs'>, run: Supervised) {
    this.#call = call
    this.#plan = plan
    this.#run = run
  }

  /** The first reason counts; only a kill after an interrupt is one more. */
  stop(why: StopReason): void {
    if (this.stopped !== null && (this.stopped !== 'interrupt' || why === 'interrupt')) return
    if (this.#run.mayStop && !this.#run.mayStop()) return
    this.stopped = why
    this.#run.stop(why)
  }

  move(reason: MoveReason): Promise<Outcome> {
    const busy = this.#run.busy?.()
    if (busy) return busy.then(() => this.move(reason))
    const { move } = this.#run
    if (this.moved || this.stopped !== null || !move || !this.#run.mayMove()) return this.#call.outcome
    this.moved = true
    this.release()
    void move(reason).then(
      (outcome) => this.#call.settle(outcome),
      (error: unknown) => this.#call.fail(error),
    )
    return this.#call.outcome
  }

  /** From here on the deadlines count and the caller's signal is heard. */
  begin(): void {
    this.setDeadlines(0)
    this.listen()
  }

  /** `passedMs`: how long the command has been running. */
  setDeadlines(passedMs: number): void {
    const { timeoutMs, request } = this.#plan
    const mayMove = this.#run.move !== null
    if (timeoutMs !== null)
      this.#deadlines.after(timeoutMs - passedMs, () =>
        request.onTimeout === 'background' && mayMove ? void this.move('timeout') : this.stop('timeout'),
      )
    if (request.yieldMs !== undefined && mayMove)
      this.#deadlines.after(request.yieldMs - passedMs, () => void this.move('yield'))
  }

  listen(): void {
    const { signal } = this.#plan.request
    if (!signal || this.stopped !== null || this.moved) return
    signal.addEventListener('abort', this.#onAbort, { once: true })
    if (signal.aborted) this.#onAbort()
  }

  /** It has ended or goes on as a job: no deadline and no signal of the caller counts any more. */
  release(): void {
    this.#deadlines.clear()
    this.#plan.request.signal?.removeEventListener('abort', this.#onAbort)
  }

  /** For the caller's handle. */
  get control(): CallControl {
    return {
      interrupt: () => this.stop('interrupt'),
      kill: (by) => this.stop(by),
      toBackground: () => this.move('asked'),
    }
  }
}

/** Ends everything below a warden. */
export function endWard(ward: Ward, why: StopReason, { graceMs }: Pick<Plan, 'graceMs'>): void {
  ward.kill(why === 'interrupt' ? { signal: SIGINT, graceMs, why: 'caller' } : { graceMs, why })
}

const SIGINT = 2

const WHY: Readonly<Record<MoveReason, string>> = {
  timeout: 'its time limit passed',
  yield: 'it takes longer than a call should block',
  asked: 'it was moved to the background',
  input: 'it waits for input',
}

/** `how`: what can be done with the job, e.g. `Read its output or stop it by that id.` */
export function goesOnNote(reason: MoveReason, id: string, how: string): Note {
  return {
    code: 'goes-on',
    text: `Still running, NOT killed: ${WHY[reason]}; it goes on as background job ${id}. ${how}`,
  }
}
