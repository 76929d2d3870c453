/**
 * A started command as the engine sees it, fed by the frames of its launcher; and the errors of a launcher that fails.
 */
import { getSystemErrorName } from 'node:util'
import { ShellError } from '../../contract/errors.js'
import type { OverLimit, Usage } from '../../contract/outcome.js'
import { descendantsOf, processFacts, signalProcess } from '../process/proc.js'
import type { Send } from './frames.js'
import { hex, limitFields, maskField } from './start.js'
import { NOT_BEGUN, startHint, type LeaderExit, type Passed, type Ward } from './launcher.js'
import { attempt } from '../../contract/attempt.js'

export interface LiveWard extends Ward {
  endAsked: boolean
  settleExit(exit: LeaderExit): void
  settleGone(): void
  settleRecorded(): void
  settleMoved(error: ShellError | null): void
  settlePassed(passed: Passed): void
  settleUsage(usage: Usage | null, over: OverLimit | null): void
}

export function createWard(
  id: number,
  fields: Readonly<Record<string, string>>,
  send: Send,
  wakeIfStopped: (pid: number) => boolean,
): LiveWard {
  let settleExit!: (exit: LeaderExit) => void
  let settleGone!: () => void
  let settleRecorded!: () => void
  let settleMoved: (error: ShellError | null) => void = () => {}
  let settleUsage: (usage: Usage | null) => void = () => {}
  let settlePassed: (passed: Passed) => void = () => {}
  let onOver: (over: OverLimit) => void = () => {}
  const state: Ward['state'] = { exited: null, gone: false, wasStopped: false }
  const exited = new Promise<LeaderExit>((resolve) => (settleExit = resolve))
  const gone = new Promise<void>((resolve) => (settleGone = resolve))
  const recorded = new Promise<void>((resolve) => (settleRecorded = resolve))
  const order = (kind: string, about: Readonly<Record<string, string | number>> = {}): void =>
    send(kind, [['id', id], ...Object.entries(about)])
  return {
    pid: Number(fields['pid']),
    pgid: Number(fields['pid']),
    wardenPid: Number(fields['warden']),
    mark: fields['mark'] ?? null,
    initPid: Number(fields['init'] ?? 0) || null,
    wardenStart: fields['warden_start'] ?? '',
    leaderStart: fields['leader_start'] ?? '',
    exited,
    gone,
    recorded,
    state,
    onOutput: null,
    endAsked: false,
    settleExit(exit) {
      state.exited ??= exit
      settleUsage(null)
      settlePassed({ bytes: 0, why: 'exit' })
      settleExit(exit)
    },
    settleGone() {
      state.gone = true
      settleGone()
    },
    settleRecorded: () => settleRecorded(),
    settleMoved: (error) => settleMoved(error),
    settlePassed: (passed) => settlePassed(passed),
    settleUsage(usage, over) {
      if (over) onOver(over)
      else settleUsage(usage)
    },
    kill({ signal = 15, graceMs, why }) {
      this.endAsked = true
      // An order to a watcher that was stopped would lie in its pipe for ever.
      if (wakeIfStopped(this.wardenPid)) state.wasStopped = true
      order('K', { sig: signal, grace: Math.ceil(graceMs), why })
    },
    moveToBackground(spec) {
      return new Promise((resolve, reject) => {
        settleMoved = (error) => (error ? reject(error) : resolve())
        const fields = {
          id,
          dir: spec.dir,
          head: spec.headBytes,
          tail: spec.tailBytes,
          out_at: spec.outAt,
          err_at: spec.errAt,
          detached: spec.detached ? 1 : 0,
          ...(spec.outPath ? { out_path: spec.outPath } : {}),
          ...(spec.errPath ? { err_path: spec.errPath } : {}),
          out_held: hex(spec.outHeld),
          err_held: hex(spec.errHeld),
        }
        send('B', [...Object.entries(fields), ...(spec.masks ?? []).map(maskField)])
      })
    },
    closeOutput: (which) => order('U', { err: which === 'err' ? 1 : 0 }),
    widen: () => order('W'),
    passOn(path) {
      if (state.exited) return Promise.resolve({ bytes: 0, why: 'exit' })
      return new Promise((resolve) => {
        settlePassed = resolve
        order('T', { path })
      })
    },
    takeBack: () => order('T'),
    holdBack: (held) => order('H', { held: held ? 1 : 0 }),
    watch(limits, whenOver) {
      onOver = whenOver
      send('L', [['id', id], ...limitFields(limits)])
    },
    unwatch() {
      onOver = () => {}
      if (state.exited) return Promise.resolve(null)
      return new Promise((resolve) => {
        settleUsage = resolve
        order('L', { end: 1 })
      })
    },
  }
}

export function errnoName(errno: number): string {
  return attempt(() => getSystemErrorName(-errno), `error ${errno}`)
}

export function pipeError(errno: string): ShellError {
  return new ShellError('SPAWN_FAILED', `No pipe could be made for the command (${errno})`, startHint(errno), {
    cause: errno,
  })
}

export function helperError({ code = '' }: NodeJS.ErrnoException): ShellError {
  return new ShellError(
    'SPAWN_FAILED',
    `The helper that starts commands could not be started (${code})`,
    startHint(code),
  )
}

/** It had not said a word yet: nothing has been given to it. */
export function killedError(): ShellError {
  return new ShellError(
    'SPAWN_FAILED',
    'The helper that starts commands was killed as it started',
    'Look for what ends processes on this machine (memory, limits), then try again.',
    { cause: NOT_BEGUN },
  )
}

export function moveError(errno: string, what: string): ShellError {
  return new ShellError(
    errno === 'ENOSPC' || errno === 'EDQUOT' ? 'STATE_UNWRITABLE' : 'SPAWN_FAILED',
    `The command could not go on as a job: ${what} failed with ${errno}`,
    startHint(errno),
  )
}

/** At its start, a Node that may not make its threads waits for them for ever. */
export function silentError(atStart = false): ShellError {
  const threads = atStart ? ', or there are too few processes for its threads (`ulimit -u`)' : ''
  return new ShellError(
    'SPAWN_FAILED',
    'The helper that starts commands does not answer',
    `It may have been stopped, or the machine is overloaded${threads}; create a new engine, or try again later.`,
  )
}

/**
 * True when it was seen stopped. The signal is sent in any case: it also takes back a stop that is still on its way.
 */
export function wake(pid: number): boolean {
  const wasStopped = processFacts(pid)?.state === 'T'
  return signalProcess(pid, 'SIGCONT') && wasStopped
}

/** With everything below it: its own children would become orphans. */
export function destroy(pid: number): void {
  for (const one of [...descendantsOf(pid), pid]) signalProcess(one, 'SIGKILL')
}

export function closedError(): ShellError {
  return new ShellError('CLOSED', 'The engine is closed', 'Create a new engine.')
}

/** A launcher that answers nothing for so long is looked at: it may have been stopped. */
export const LOOK_AFTER_MS = 1_000

/**
 * A launcher that answers nothing is continued if it was stopped, and given up if that does not help. One that answers
 * others is busy: it takes orders one after the other, and a thousand of them may take longer than the limit.
 */
export function unlessSilent(
  pid: number,
  answeredAt: () => number,
  limitMs: number,
  giveUp: (error: Error) => void,
): () => void {
  const askedAt = performance.now()
  const look = setTimeout(() => wake(pid), LOOK_AFTER_MS).unref()
  const limitIn = (ms: number): NodeJS.Timeout => setTimeout(() => setImmediate(judge), ms).unref()
  let limit: NodeJS.Timeout | null = limitIn(limitMs)
  // After the pipe was read: answers may have waited for this process, not for the launcher.
  const judge = (): void => {
    if (!limit) return
    const rest = limitMs - (performance.now() - Math.max(askedAt, answeredAt()))
    if (rest <= 0) giveUp(silentError())
    else limit = limitIn(rest)
  }
  return () => {
    clearTimeout(look)
    if (limit) clearTimeout(limit)
    limit = null
  }
}
