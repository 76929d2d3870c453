/** Runs one command in a shell of its own: start, follow, stop when told, settle exactly once. */
import { stillThere, type Note } from '../../contract/note.js'
import { ShellError } from '../../contract/errors.js'
import type { StreamName } from '../../contract/output.js'
import { writeFileSync } from 'node:fs'
import { feedPipe } from '../../os/files/feed.js'
import {
  LOST_AT_START,
  NOT_BEGUN,
  PLAIN_TIER_CAVEAT,
  STOPPED_NOTE,
  type LaunchSpec,
  type Ward,
} from '../../os/helper/launcher.js'
import { closeQuietly, removeQuietly } from '../../os/files/quietly.js'
import { readPipe, type Held, type PipeReader } from '../../os/files/pipe-reader.js'
import { processesOf } from '../../os/helper/processes.js'
import { shownProcesses } from '../../os/process/proc.js'
import type { Call } from '../call/call.js'
import { endWard, Supervision, type Promote } from '../call/supervision.js'
import { clippedTexts, textFields, type Capture } from '../call/capture.js'
import { deliverCommand, isRefusal, type DeliveredCommand } from '../plan/delivery.js'
import { bootstrapFor, commandNeverArrived, neverArrivedError, SCRIPT_FD, scriptHead } from '../plan/bootstrap.js'
import { adviceFor } from '../call/advice.js'
import { abortedOutcome, endedOutcome, lostOutcome, LOST_NOTE, refusedOutcome } from '../services/outcomes.js'
import type { Plan } from '../plan/plan.js'
import { endOf } from '../services/ends.js'
import { takePipes } from '../services/pipes.js'
import { within } from '../services/within.js'
import { quoteWord } from '../../contract/quote.js'
import { overNote } from '../plan/resources.js'
import type { Services } from '../services/services.js'
import { hasStages, readStages } from '../terminal/script.js'

const SETTLE_LIMIT_MS = 10_000
/** What a pipe holds at most: a command that fills it prints a flood. */
const FLOOD_BYTES = 65_536

export async function runFresh(plan: Plan, call: Call, services: Services, promote: Promote | null): Promise<void> {
  if (call.isCalledOff) return call.settle(abortedOutcome(plan))
  const delivered = await deliverCommand(plan, services)
  if (isRefusal(delivered)) return call.settle(refusedOutcome(delivered, plan))
  await supervise(plan, delivered, call, services, promote)
}

async function supervise(
  plan: Plan,
  delivered: DeliveredCommand,
  call: Call,
  services: Services,
  promote: Promote | null,
): Promise<void> {
  const { request } = plan
  const { launcher, limits } = services
  const merged = request.streams === 'merged'
  const statusFile = hasStages(plan) ? services.runFile('p') : null

  const script = freshScript(delivered, statusFile, services.id)
  const { scriptPipe, outPipe, errPipe, inPipe } = await takePipes(services, {
    scriptPipe: 'write',
    outPipe: 'read',
    errPipe: merged ? null : 'read',
    inPipe: request.input === undefined ? null : 'write',
  })
  const { line, fed, file } = bootstrapFor(script, delivered, services.id, () => services.runFile('c'))
  if (file) writeFileSync(file.path, file.bytes, { mode: 0o600, flag: 'wx' })
  const input = inPipe?.writeEnd()

  const spec: LaunchSpec = {
    path: services.bash.path,
    argv: ['bash', '--norc', '--noprofile', '-c', line],
    env: markedEnvironment(plan.env, services.id),
    cwd: plan.cwd,
    stdout: outPipe,
    ...(errPipe ? { stderr: errPipe } : { merge: true }),
    ...(inPipe ? { stdin: inPipe } : {}),
    extraIn: { fd: SCRIPT_FD, pipe: scriptPipe },
    oomScore: 300,
    ...(plan.limits ? { limits: plan.limits } : {}),
    graceMs: plan.graceMs,
  }
  const startedAt = performance.now()
  let ward: Ward
  const starting = launcher.start(spec)
  // The rest is made while bash starts: all ends of the pipes are open, and nothing is read
  // before this turn of the event loop is over.
  void feedPipe(scriptPipe.writeEnd(), fed)
  const out = call.capture(merged ? 'output' : 'stdout', plan, services)
  const err = merged ? null : call.capture('stderr', plan, services)
  let wide = false
  const into =
    (capture: Capture) =>
    (chunk: Uint8Array): Held => {
      if (!wide && chunk.length >= FLOOD_BYTES) {
        wide = true
        void starting.then(
          (started) => started.widen(),
          () => {},
        )
      }
      return capture.push(chunk)
    }
  const readers: PipeReader[] = [readPipe(outPipe.readEnd(), services.scratch, into(out))]
  if (err && errPipe) readers.push(readPipe(errPipe.readEnd(), services.scratch, into(err)))
  // Known to the engine from here on: its output may be seen, and the engine be closed, before
  // the launcher says that it started.
  const life = {
    end: async () => {
      const started = await starting.catch(() => null)
      if (!started) return
      run.stop('close')
      await started.gone
    },
  }
  services.live.add(life)
  try {
    ward = await starting
  } catch (error) {
    services.live.delete(life)
    for (const reader of readers) reader.close()
    if (input !== undefined) closeQuietly(input)
    if (file) removeQuietly(file.path)
    if ((error as ShellError).cause === NOT_BEGUN) return supervise(plan, delivered, call, services, promote)
    if ((error as ShellError).cause === LOST_AT_START)
      return call.settle(lostOutcome(plan, performance.now() - startedAt))
    throw error
  }
  call.pid = ward.pid
  if (input !== undefined && request.input !== undefined)
    void feedPipe(input, typeof request.input === 'string' ? Buffer.from(request.input) : request.input)

  // ---- from here on it runs ----
  let unread = false
  /** While stdout goes into the reader's own pipe by itself. */
  let passing: Promise<void> | null = null
  let mayPass = true
  const passOn = (path: string): void => {
    const [reader] = readers
    if (!reader || !mayPass || passing || run.moved || run.stopped || unread || ward.state.exited || !out.maySkip)
      return
    reader.pause()
    passing = ward.passOn(path).then(({ bytes, why }) => {
      passing = null
      out.skip(bytes)
      // What the reader is shown of a stream that has a follower now, or that cannot go that way, comes through here.
      mayPass = why === 'asked' && mayPass
      if (why === 'closed') call.readerLeft(out.stream)
      else reader.resume()
    })
  }
  const run = new Supervision(call, plan, {
    stop: (why) => endWard(ward, why, plan),
    busy: () => {
      if (passing) ward.takeBack()
      return passing
    },
    // A stream that was closed cannot be kept from there on.
    mayMove: () => !unread && !ward.state.exited,
    move:
      promote &&
      (async (reason) => {
        const outcome = await promote({ plan, ward, out, err, readers, startedAt, stay: services.stay, reason })
        // The jobs part of the engine ends a job, or leaves it alone.
        if (outcome.status === 'running') services.live.delete(life)
        return outcome
      }),
  })
  run.begin()
  call.takeControl({
    ...run.control,
    passOn,
    takeBack: () => {
      if (passing) ward.takeBack()
    },
    closeOutput: (stream: StreamName) => {
      const side = stream === 'stderr' ? 1 : 0
      readers[side]?.close()
      ward.closeOutput(side === 1 ? 'err' : 'out')
      unread = true
    },
  })

  const exit = await ward.exited
  // (The types do not see that it is set elsewhere.)
  await (passing as Promise<void> | null)
  if (file) removeQuietly(file.path)
  if (run.moved) {
    services.live.delete(life)
    return
  }
  run.release()
  // After a kill nothing may be left: wait until the last process is gone. Otherwise a
  // background child may hold the pipe for ever, so the drain has a window of its own.
  if (run.stopped) await within(ward.gone, plan.graceMs + SETTLE_LIMIT_MS)
  for (const reader of readers) if (reader.held) reader.drainNow()
  await within(Promise.all(readers.map((reader) => reader.end)), limits.drainMs)
  for (const reader of readers) reader.drainNow()
  const durationMs = Math.round(performance.now() - startedAt)

  if (!run.stopped && commandNeverArrived(exit.code, () => textOf(err ?? out), services.id)) {
    services.live.delete(life)
    for (const reader of readers) reader.close()
    throw neverArrivedError(textOf(err ?? out))
  }
  const notes: Note[] = [...delivered.notes]
  const held = readers.some((reader) => !reader.ended)
  const leftovers = ward.state.gone ? [] : processesOf(ward)
  if (exit.lost) notes.push(LOST_NOTE)
  if (exit.over) notes.push(overNote(exit.over, plan.limits))
  if (ward.state.wasStopped) notes.push({ code: 'weak-kill', text: STOPPED_NOTE })
  if (leftovers.length > 0) notes.push(leftoverNote(leftovers, held))
  if (run.stopped && !ward.state.gone) notes.push(stillThere(leftovers.join(', ')))
  if (run.stopped && launcher.tier === 'plain') notes.push({ code: 'weak-kill', text: PLAIN_TIER_CAVEAT })
  const end = endOf(exit, run.stopped, plan)
  const pipeStatus = statusFile ? readStages(statusFile) : null
  if (!held) {
    out.end()
    err?.end()
  }
  const clipped = clippedTexts(out, err, plan.clip, held)
  if (held) {
    // Output that comes later is kept with this run, in its file, and never reaches another run's result.
    void Promise.all(readers.map((reader) => reader.end)).then(() => {
      out.end()
      err?.end()
    })
  }
  for (const capture of [out, err]) if (capture?.spillNote) notes.push(capture.spillNote)
  notes.push(...adviceFor({ end, plan, stderr: (clipped.err ?? clipped.out).text, pipeStatus }))
  void ward.gone.then(() => {
    services.live.delete(life)
    for (const reader of readers) reader.close()
  })
  call.settle(
    endedOutcome({
      end,
      ...textFields(clipped.out, clipped.err),
      outputFile: out.spillPath ?? err?.spillPath ?? null,
      durationMs,
      usage: exit.usage,
      cwd: plan.cwd,
      pid: ward.pid,
      pgid: ward.pgid,
      pipeStatus,
      notes,
    }),
  )
}

const marked = new WeakMap<Plan['env'], Plan['env']>()

/**
 * With the mark by which what is left of a dead engine is found; the same object for the same
 * environment, so that it is encoded once.
 */
function markedEnvironment(env: Plan['env'], engine: string): Plan['env'] {
  const known = marked.get(env)
  if (known) return known
  const made = { ...env, CERITH_ENGINE: engine }
  marked.set(env, made)
  return made
}

function freshScript(delivered: DeliveredCommand, statusFile: string | null, engine: string): string {
  const head = scriptHead(delivered, engine)
  if (!statusFile) return `${head}${delivered.script}`
  // The stages' statuses go to a file of the engine, then the shell leaves with the status it had.
  return (
    `${head}${delivered.script}\n{ __cerith_p=("$?" "\${PIPESTATUS[@]}"); \\builtin printf '%s ' ` +
    `"\${__cerith_p[@]:1}" >${quoteWord(statusFile)}; } 2>/dev/null; \\builtin exit "\${__cerith_p[0]}"`
  )
}

function textOf(capture: Capture): string {
  return Buffer.from(capture.transcript.readLast(4_096).bytes).toString()
}

function leftoverNote(pids: readonly number[], held: boolean): Note {
  return {
    code: 'still-there',
    text:
      `Still running in the background: ${shownProcesses(pids)}.${held ? ' It still holds the output.' : ''} It ` +
      'ends with the engine; use a background job to keep it.',
  }
}
