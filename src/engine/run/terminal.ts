/**
 * Runs a command on a terminal and waits for it: a job from its first moment, so that people
 * can watch it and it can go on alone at any time.
 */
import type { Note } from '../../contract/note.js'
import { join } from 'node:path'
import type { Outcome } from '../../contract/outcome.js'
import { writeFifo } from '../../os/job/control.js'
import { removeJobDirectory } from '../../os/job/directory.js'
import { processesOf } from '../../os/helper/processes.js'
import { shownProcesses } from '../../os/process/proc.js'
import { createRecording, type Recording } from '../../os/job/recording.js'
import { commandNeverArrived, neverArrivedError } from '../plan/bootstrap.js'
import { adviceFor } from '../call/advice.js'
import type { Call } from '../call/call.js'
import { endWard, goesOnNote, Supervision } from '../call/supervision.js'
import { deliverCommand, isRefusal } from '../plan/delivery.js'
import { endOf } from '../services/ends.js'
import { within } from '../services/within.js'
import { waitingNote, type Waiting } from '../job/input/prompt.js'
import { watchInput } from '../job/input/watch.js'
import { startJob, type Restore, type StartedJob } from '../job/start.js'
import type { Jobs } from '../job/jobs.js'
import { abortedOutcome, endedOutcome, refusedOutcome, runningOutcome } from '../services/outcomes.js'
import type { Plan } from '../plan/plan.js'
import { overNote } from '../plan/resources.js'
import { createLineEnds, OutputFollower } from '../terminal/follow.js'
import { recordBytes } from '../terminal/recorder.js'
import { hasStages, readStages, withAfterwards } from '../terminal/script.js'
import { terminalSize, withTerminal } from '../terminal/start.js'
import type { Services } from '../services/services.js'
import { pause } from '../../os/process/clock.js'

const SETTLE_LIMIT_MS = 10_000
const SHOWN_AFTER_MS = 100
const GONE_LIMIT_MS = 1_000
/** So far may the reader of the output be behind what is stored before the command is held back. */
const BEHIND_BYTES = 4 * 1024 * 1024
const END_OF_INPUT = '\x04'

export interface TerminalExtras {
  /** What gives the shell a session's state. */
  readonly restore?: Restore
  /** Bash code that is run in the command's shell when the command has come to its end. */
  readonly after?: string
  /** Its shell and all that it started are gone, also when no call waits for it any more. */
  readonly over?: () => void
  /** What the ended run changes in its Outcome. */
  readonly finish?: (outcome: Outcome) => Promise<Outcome>
}

export async function runOnTerminal(
  plan: Plan,
  call: Call,
  services: Services,
  jobs: Jobs,
  extras: TerminalExtras = {},
): Promise<void> {
  const ready = withTerminal(plan, services)
  if (call.isCalledOff) return call.settle(abortedOutcome(plan))
  const delivered = await deliverCommand(plan, services)
  if (isRefusal(delivered)) return call.settle(refusedOutcome(delivered, plan))
  const recording =
    plan.request.record === undefined
      ? null
      : createRecording(plan.request.record, {
          ...terminalSize(plan, services),
          command: services.secrets.mask(plan.command),
          env: ready.env,
        })
  const stagesFile = hasStages(plan) ? services.runFile('p') : null
  const release = services.launcher.hold()
  try {
    // The time limit is kept here, not by the keeper: on time-out the command may go on as a job.
    const started = await startJob(
      { ...ready, timeoutMs: null },
      withAfterwards(delivered, stagesFile, extras.after ?? ''),
      extras.restore ?? null,
      services,
    )
    await supervise(ready, started, call, services, jobs, { ...extras, recording, stagesFile })
  } catch (error) {
    recording?.close()
    throw error
  } finally {
    release()
  }
}

async function supervise(
  plan: Plan,
  started: StartedJob,
  call: Call,
  services: Services,
  jobs: Jobs,
  extras: TerminalExtras & { recording: Recording | null; stagesFile: string | null },
): Promise<void> {
  const { request } = plan
  const { ward, dir, record } = started
  const startedAt = performance.now()
  const out = call.capture('output', plan, services)
  const cast = extras.recording ? recordBytes(extras.recording, dir, services.secrets.activeMasker) : null
  const lineEnds = request.ansi === 'strip' ? createLineEnds() : null
  let quiet: NodeJS.Timeout | null = null
  const follower = new OutputFollower(dir, (bytes) => {
    // A prompt may end like a secret begins: it is shown when nothing follows.
    if (quiet) quiet.refresh()
    else quiet = setTimeout(() => out.release(), SHOWN_AFTER_MS).unref()
    const held = call.settled ? undefined : out.push(lineEnds ? lineEnds.push(bytes) : bytes)
    cast?.push(bytes)
    // A command that was stopped waits for no reader.
    return run.stopped || run.moved ? undefined : held
  })
  if (extras.over) void ward.gone.then(extras.over)
  call.pid = ward.pid
  let heldBack = false
  ward.onOutput = (total) => {
    const pulled = follower.pull()
    if (heldBack || total - follower.offset < BEHIND_BYTES) return
    // A slow reader: the command waits for it, because the store would have to forget the middle.
    heldBack = true
    ward.holdBack(true)
    void pulled.then(() => {
      heldBack = false
      ward.holdBack(false)
    })
  }
  if (request.input !== undefined) void typeAhead(dir, Buffer.from(request.input as Uint8Array))

  let hasLeft!: (nothing: null) => void
  const leaving = new Promise<null>((resolve) => (hasLeft = resolve))
  let waiting: Waiting | null = null
  const run = new Supervision(call, plan, {
    stop: (why) => endWard(ward, why, plan),
    mayMove: () => !ward.state.exited && !call.settled,
    /** A run on a terminal is a job from its first moment: it goes on as that. */
    async move(reason) {
      if (quiet) clearTimeout(quiet)
      await follower.pull()
      out.release()
      const text = out.text(plan.clip)
      jobs.adopt(started)
      const told = ward.onOutput
      if (cast)
        ward.onOutput = (outTotal, errTotal) => {
          told?.(outTotal, errTotal)
          void follower.pull()
        }
      services.live.delete(life)
      hasLeft(null)
      const note = waiting
        ? waitingNote(waiting, record.id)
        : goesOnNote(reason, record.id, 'Read its output, type into it, wait for it or stop it by that id.')
      return runningOutcome({
        stdout: '',
        stderr: '',
        output: text.text,
        truncated: text.truncated,
        omittedBytes: text.omittedBytes + follower.missed,
        outputFile: join(dir, 'output.log'),
        durationMs: Math.round(performance.now() - startedAt),
        cwd: plan.cwd,
        pid: ward.pid,
        pgid: ward.pgid,
        id: record.id,
        session: plan.session,
        pipeStatus: null,
        notes: [note],
        waitingForInput: waiting ? { prompt: waiting.prompt } : null,
      })
    },
  })
  const life = {
    end: async () => {
      run.stop('close')
      await ward.gone
    },
  }
  services.live.add(life)
  void follower.pull()
  run.begin()
  call.takeControl(run.control)
  if (request.reportInput)
    void watchInput(
      {
        dir,
        pty: true,
        openStdin: true,
        isOver: () => run.moved || run.stopped !== null || ward.state.exited !== null || call.settled,
        mask: (text) => services.secrets.mask(text),
      },
      (found) => {
        waiting = found
        void run.move('input')
      },
    )

  const exit = await Promise.race([ward.exited.then((end) => (run.moved ? leaving : end)), leaving])
  if (exit === null) {
    // The call has ended before the command did; a recording goes on to the command's end.
    if (cast) void ward.recorded.then(() => follower.pull()).then(() => cast.end())
    return
  }
  await within(ward.recorded, SETTLE_LIMIT_MS)
  if (quiet) clearTimeout(quiet)
  run.release()
  if (run.stopped) await within(ward.gone, plan.graceMs + SETTLE_LIMIT_MS)
  ward.onOutput = null
  await follower.pull()
  cast?.end()
  if (lineEnds) void out.push(lineEnds.flush())
  out.end()
  const text = out.text(plan.clip)
  if (!run.stopped && commandNeverArrived(exit.code, () => text.text.replaceAll('\r', ''), services.id)) {
    services.live.delete(life)
    removeJobDirectory(dir)
    throw neverArrivedError('')
  }
  const pipeStatus = extras.stagesFile ? readStages(extras.stagesFile) : null
  const end = endOf(exit, run.stopped, plan)
  const notes: Note[] = exit.over ? [overNote(exit.over, plan.limits)] : []
  const leftovers = ward.state.gone ? [] : processesOf(ward)
  // When no process is left its keeper ends in a moment and removes the directory.
  if (leftovers.length === 0) await within(ward.gone, GONE_LIMIT_MS)
  if (leftovers.length > 0)
    notes.push({
      code: 'still-there',
      text:
        `${run.stopped ? 'Could not end every process; still there' : 'Still running in the background'}: ` +
        `${shownProcesses(leftovers)}. It ends with the engine.`,
    })
  if (follower.missed > 0)
    notes.push({
      code: 'output-lost',
      text: `${follower.missed} bytes of output came faster than they could be kept.`,
    })
  notes.push(...adviceFor({ end, plan, stderr: text.text, pipeStatus }))
  const outcome = endedOutcome({
    end,
    stdout: '',
    stderr: '',
    output: text.text,
    truncated: text.truncated || follower.missed > 0,
    omittedBytes: text.omittedBytes + follower.missed,
    outputFile: out.spillPath,
    durationMs: Math.round(performance.now() - startedAt),
    cwd: plan.cwd,
    pid: ward.pid,
    pgid: ward.pgid,
    id: null,
    session: plan.session,
    pipeStatus,
    notes,
    usage: exit.usage,
  })
  const finished = extras.finish ? await extras.finish(outcome) : outcome
  // Its directory was for watchers; whatever it left behind still needs it.
  const clean = ward.gone.then(() => {
    services.live.delete(life)
    removeJobDirectory(dir)
  })
  if (ward.state.gone) await clean
  call.settle(finished)
}

/** Input that was given beforehand is typed, then the input is ended. */
async function typeAhead(dir: string, input: Buffer): Promise<void> {
  const open = input.length > 0 && input.at(-1) !== 10
  const bytes = Buffer.concat([input, Buffer.from(END_OF_INPUT.repeat(open ? 2 : 1))])
  for (let at = 0; at < bytes.length;) {
    const took = writeFifo(join(dir, 'stdin'), bytes.subarray(at))
    if (took === null) return
    at += took
    if (took === 0) await pause(10)
  }
}
