/**
 * Turns a running foreground command into a job: what was read so far goes to the job's files,
 * the keeper goes on from exactly there.
 */
import { constants, copyFileSync, renameSync, statSync, truncateSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Outcome } from '../../contract/outcome.js'
import { LOST_EXIT } from '../../os/helper/launcher.js'
import { makeJobDirectory, removeJobDirectory, writeNew } from '../../os/job/directory.js'
import { writeJobRecord } from '../../os/job/record.js'
import { waitingAdvice } from '../call/advice.js'
import { clippedTexts, textFields, type Capture } from '../call/capture.js'
import { overNote } from '../plan/resources.js'
import { endOf } from '../services/ends.js'
import { within } from '../services/within.js'
import { goesOnNote, type Promote } from '../call/supervision.js'
import { keptBytes, newShellId, recordOf, unwritable, type StartedJob } from './start.js'
import { endedOutcome, runningOutcome } from '../services/outcomes.js'
import type { Services } from '../services/services.js'

type Running = Parameters<Promote>[0]

export async function promoteRun(run: Running, services: Services, adopt: (job: StartedJob) => void): Promise<Outcome> {
  const { plan, ward, out, err, readers } = run
  const owner = plan.request.owner ?? 'manager'
  // This process stops reading; output waits in the pipes until the job's keeper reads it from
  // its own copies of their ends.
  for (const reader of readers) reader.pause()
  const held = { out: out.takeHeld(), err: err?.takeHeld() ?? new Uint8Array(0) }
  let made: string | null = null
  try {
    const { id, dir } = makeJobDirectory(services.stateDir, plan.request.newId ?? newShellId)
    made = dir
    const record = {
      ...recordOf(id, plan, services, {
        owner,
        openStdin: false,
        pty: false,
        streams: err ? 'separate' : 'merged',
        notes: [],
      }),
      createdAt: Math.round(Date.now() - (performance.now() - run.startedAt)),
      timeoutMs: null,
      sandbox: run.stay?.place ?? null,
    }
    writeJobRecord(dir, record)
    const outAt = storeSoFar(out, join(dir, 'output.log'), services.limits.storedBytes / (err ? 2 : 1))
    const errAt = err ? storeSoFar(err, join(dir, 'stderr.log'), services.limits.storedBytes / 2) : 0
    const moved = ward.moveToBackground({
      dir,
      ...keptBytes(services.limits.storedBytes, record.streams),
      outAt,
      errAt,
      ...(readers[0] ? { outPath: readers[0].path } : {}),
      ...(err && readers[1] ? { errPath: readers[1].path } : {}),
      outHeld: held.out,
      errHeld: held.err,
      masks: services.secrets.masker.needles(),
      detached: owner === 'detached',
    })
    // The keeper cannot record a leader that has ended meanwhile: that is an ordinary end, and no failure.
    const taken = moved.then(
      () => true,
      (error: unknown) => {
        if (ward.state.exited) return false
        throw error
      },
    )
    if (!(await Promise.race([taken, ward.gone.then(() => false)]))) {
      removeJobDirectory(dir)
      return await settleEnded(run, held)
    }
    for (const reader of readers) reader.close()
    adopt({ record, dir, ward })
    return stillRunning(run, id, join(dir, 'output.log'))
  } catch (error) {
    // The command did not become a job, and its call ends with this error: the command is ended too.
    for (const reader of readers) reader.close()
    ward.kill({ graceMs: plan.graceMs, why: 'close' })
    if (made === null) throw error
    removeJobDirectory(made)
    throw unwritable(error, made)
  }
}

/** The whole of what was printed so far, where a keeper would have put it. Gives the offset of the next byte. */
function storeSoFar(capture: Capture, file: string, maxBytes: number): number {
  const kept = capture.transcript.snapshot()
  const total = kept.totalBytes
  const spill = capture.spillPath
  if (spill) {
    moveFile(spill, file)
    capture.movedTo(file)
    const headBytes = Math.min(total, Math.floor(maxBytes), statSync(file).size)
    truncateSync(file, headBytes)
    if (headBytes < total) {
      const start = Math.max(headBytes, total - kept.tail.length)
      writeNew(`${file}.${start}`, kept.tail.subarray(kept.tail.length - (total - start)))
    }
  } else if (kept.omittedBytes === 0) writeNew(file, kept.head, kept.tail)
  else {
    writeNew(file, kept.head)
    // An empty one would have the name of the keeper's first.
    if (kept.tail.length > 0) writeNew(`${file}.${total - kept.tail.length}`, kept.tail)
  }
  return total
}

function moveFile(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch {
    copyFileSync(from, to, constants.COPYFILE_EXCL)
    unlinkSync(from)
  }
}

/** What every outcome of the run says. */
function ranSoFar({
  plan,
  ward,
  startedAt,
}: Running): Pick<Outcome, 'durationMs' | 'cwd' | 'pid' | 'pgid' | 'session'> {
  const durationMs = Math.round(performance.now() - startedAt)
  return { durationMs, cwd: plan.cwd, pid: ward.pid, pgid: ward.pgid, session: plan.session }
}

function stillRunning(run: Running, id: string, outputFile: string): Outcome {
  const { plan, out, err, reason } = run
  const { out: stdout, err: stderr } = clippedTexts(out, err, plan.clip)
  return runningOutcome({
    ...ranSoFar(run),
    ...textFields(stdout, stderr),
    outputFile,
    id,
    notes: [
      ...waitingAdvice(plan.verdict, stderr?.text ?? stdout.text),
      goesOnNote(reason, id, 'Read its output, wait for it or stop it by that id.'),
    ],
  })
}

/** The command ended before its keeper could take over: nothing was moved, so this is an ordinary end. */
async function settleEnded(run: Running, held: { out: Uint8Array; err: Uint8Array }): Promise<Outcome> {
  const { plan, ward, out, err, readers } = run
  void out.push(held.out)
  void err?.push(held.err)
  for (const reader of readers) reader.resume()
  await within(Promise.all(readers.map((reader) => reader.end)), 1_000)
  for (const reader of readers) reader.close()
  out.end()
  err?.end()
  const { out: stdout, err: stderr } = clippedTexts(out, err, plan.clip)
  const exit = ward.state.exited ?? LOST_EXIT
  return endedOutcome({
    ...ranSoFar(run),
    end: endOf(exit, null, plan),
    ...textFields(stdout, stderr),
    outputFile: out.spillPath ?? err?.spillPath ?? null,
    notes: exit.over ? [overNote(exit.over, plan.limits)] : [],
    usage: exit.usage,
  })
}
