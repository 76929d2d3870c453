/**
 * Ends a job: its group, what left the group, and a look afterwards whether that is true. A job
 * that has ended is left alone.
 */
import { stillThere, type Note } from '../../contract/note.js'
import { badRequest } from '../../contract/errors.js'
import type { KillOptions, KillResult } from '../../contract/job.js'
import { endStrays, orderKeeper, processesUnder, strayProcesses } from '../../os/job/control.js'
import { listenersOn, portsOf } from '../../os/job/ports.js'
import { shownProcesses } from '../../os/process/proc.js'
import { whereIs } from '../../os/process/world.js'
import { signalName, signalNumber } from '../../os/process/signals.js'
import { elsewhereNotes, infoOf, type JobState } from './look/info.js'

const SIGTERM = 15
const SIGKILL = 9
/** The keeper gives up on processes that cannot be ended after 5 s. */
const PATIENCE_MS = 6_000
/** A process in its last breath may hold a port a moment longer. */
const PORT_PATIENCE_MS = 500

export interface Killable {
  readonly id: string
  readonly dir: string
  state(): JobState
  next(ms: number): Promise<void>
}

export async function killJob(job: Killable, options: KillOptions, defaultGraceMs: number): Promise<KillResult> {
  const signal = options.signal === undefined ? SIGTERM : signalNumber(String(options.signal))
  if (signal === null)
    throw badRequest(
      `Bad request: no such signal ${JSON.stringify(String(options.signal).slice(0, 60))}`,
      'Use TERM, KILL, INT, HUP, USR1 ... or a number.',
    )
  const graceMs = options.graceMs ?? defaultGraceMs
  let state = job.state()
  for (
    const until = performance.now() + PATIENCE_MS;
    !state.started && !state.ended && state.lost === null && performance.now() < until;
    state = job.state()
  )
    await job.next(10)
  const { started } = state
  const elsewhere = state.ended ? [] : elsewhereNotes(job.dir, state.record)
  if (elsewhere.length > 0) return result(job, state, { notes: elsewhere })
  if (state.lost !== null) return killLost(job, state, graceMs)
  if (!started) {
    const text = 'It could not be ended: it has not started yet. Try again.'
    return result(job, state, { notes: [{ code: 'not-started', text }] })
  }
  const alreadyStopped = state.ended !== null
  if (alreadyStopped && !state.busy) return result(job, state, { alreadyStopped })
  if (signal !== SIGTERM && signal !== SIGKILL) return sendSignal(job, state, signal, graceMs)

  const before = processesUnder(job.id, started)
  const ports = portsOf(before)
  orderKeeper(
    job.dir,
    started,
    `kill ${signal} ${Math.min(Math.ceil(graceMs), 600_000)} ` +
      `${options.why === 'timeout' ? 'timeout' : 'caller'} ${oneLine(options.by)}`,
  )
  const until = performance.now() + graceMs + PATIENCE_MS
  while (((state = job.state()).busy || (!state.ended && state.lost === null)) && performance.now() < until)
    await job.next(10)
  const notes: Note[] = []
  if (alreadyStopped)
    notes.push({
      code: 'ended-with-it',
      text:
        `It had ended before; ${before.length === 1 ? 'a process' : `${before.length} processes`} that it had ` +
        `left running ${before.length === 1 ? 'was' : 'were'} ended.`,
    })
  const left = processesUnder(job.id, started)
  if (left.length > 0) notes.push(stillThere(shownProcesses(left)))
  notes.push(...(await portsStillUsed(ports, job)))
  return result(job, state, { alreadyStopped, forced: state.ended?.forced ?? false, notes })
}

function result(job: Killable, state: JobState, about: Partial<KillResult>): KillResult {
  return { info: infoOf(job.dir, state), alreadyStopped: false, forced: false, notes: [], ...about }
}

/** Any other signal is only delivered, to the whole group: many programs reload, dump or pause on one. */
async function sendSignal(job: Killable, state: JobState, signal: number, graceMs: number): Promise<KillResult> {
  const { started } = state
  if (state.ended || !started) return result(job, state, { alreadyStopped: true })
  orderKeeper(job.dir, started, `signal ${signal}`)
  const until = performance.now() + Math.min(graceMs, 2_000)
  let now = state
  while (!now.ended && now.lost === null && performance.now() < until && ENDING.has(signal)) {
    await job.next(10)
    now = job.state()
  }
  const sent = result(job, now, {})
  const text = sent.info.isRunning
    ? `${signalName(signal)} was sent; the job is still running. To end it, kill it without naming a signal.`
    : `${signalName(signal)} was sent and it ended.`
  return { ...sent, notes: [{ code: 'signal-sent', text }] }
}

async function killLost(job: Killable, state: JobState, graceMs: number): Promise<KillResult> {
  // Pids of another boot are other processes.
  const find = (): { pid: number; start: string }[] =>
    whereIs(state.record) === 'here' ? strayProcesses(job.id, state.started) : []
  const strays = find()
  if (strays.length === 0) return result(job, state, { alreadyStopped: true })
  const { forced, left } = await endStrays(find, graceMs)
  const notes: Note[] = [
    {
      code: 'ended-with-it',
      text:
        `Its keeper was gone; ${strays.length} ${strays.length === 1 ? 'process' : 'processes'} of it ` +
        `${strays.length === 1 ? 'was' : 'were'} found and ended.`,
    },
  ]
  if (left.length > 0) notes.push(stillThere(shownProcesses(left)))
  return result(job, job.state(), { forced, notes })
}

async function portsStillUsed(ports: readonly number[], job: Killable): Promise<Note[]> {
  const until = performance.now() + PORT_PATIENCE_MS
  const used = (): number[] => ports.filter((port) => listenersOn(port).length > 0)
  while (used().length > 0 && performance.now() < until) await job.next(25)
  return used().map((port) => ({
    code: 'port-in-use',
    text: `Port ${port} is still in use by ${shownProcesses(listenersOn(port))}.`,
  }))
}

/** One line of the keeper's orders, and short enough for its record. */
function oneLine(by = ''): string {
  return Buffer.from(by.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim())
    .subarray(0, 120)
    .toString()
    .replace(/\uFFFD$/u, '')
}

/** Signals that most programs end on: worth waiting for. */
const ENDING = new Set([1, 2, 3, 6])
