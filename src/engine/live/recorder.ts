/**
 * Records what the sessions of an engine print, masked, one file per session, with a mark per
 * command. On only where the person wants it.
 */
import { join } from 'node:path'
import { attempt } from '../../contract/attempt.js'
import type { Outcome } from '../../contract/outcome.js'
import { createRecording, type Recording } from '../../os/job/recording.js'
import { recordingName, recordingsDirectory, sweepRecordings } from '../../os/job/recordings.js'
import { ensurePrivateDirectory } from '../../os/files/state-dir.js'
import type { LiveCall } from '../services/live-calls.js'
import type { Services } from '../services/services.js'
import { callFacts } from './facts.js'

const MAX_RECORDING = 16 * 1024 * 1024
/** A flood must not take the room of what comes after it. */
const MAX_PER_COMMAND = 1024 * 1024
const SIZE = { cols: 120, rows: 30 }
/** Of the space that jobs may take. */
const SHARE = 8

/** One command on its way into a recording. */
interface Take {
  readonly stop: () => void
  written: number
  left: number
  hasBegun: boolean
  atLineStart: boolean
}

/** Gives what ends it. A full disk ends a recording, never a command. */
export function recordSessions(services: Services): () => void {
  const { stateDir, limits, calls } = services
  const tapes = new Map<string, Recording | null>()
  const takes = new Map<LiveCall, Take>()
  sweepRecordings(stateDir, { keepMs: limits.keepFinishedMs, totalBytes: limits.totalStoredBytes / SHARE })

  const tapeOf = (session: string): Recording | null => {
    const known = tapes.get(session)
    if (known !== undefined) return known
    const tape = openTape(services, session)
    tapes.set(session, tape)
    return tape
  }
  /** At the first output, or the end: a call that waits for its turn must not cut into the call that has the shell. */
  const begin = (call: LiveCall, take: Take): Recording | null => {
    const tape = tapeOf(call.session as string)
    if (!tape || tape.bytes > MAX_RECORDING) return null
    if (!take.hasBegun) {
      const { command } = callFacts(call, services)
      tape.mark(command, call.at)
      tape.output(`\u001B[1m$ ${asLines(command)}\u001B[0m\r\n`)
    }
    take.hasBegun = true
    return tape
  }
  const write = (call: LiveCall, take: Take, text: string): void => {
    const tape = begin(call, take)
    if (!tape || text === '') return
    const room = Math.max(0, MAX_PER_COMMAND - take.written)
    take.written += text.length
    take.left += Math.max(0, text.length - room)
    if (room === 0) return
    take.atLineStart = text.slice(0, room).endsWith('\n')
    tape.output(asLines(text.slice(0, room)))
  }
  const watcher = {
    began(call: LiveCall): void {
      if (call.session === null) return
      const take: Take = {
        stop: call.follow(({ text }) => write(call, take, text)),
        written: 0,
        left: 0,
        hasBegun: false,
        atLineStart: true,
      }
      takes.set(call, take)
    },
    ended(call: LiveCall, outcome: Outcome | null): void {
      const take = takes.get(call)
      if (!take) return
      takes.delete(call)
      take.stop()
      const tape = begin(call, take)
      const notes = [
        ...(take.left > 0 ? [`${take.left} characters more were not recorded`] : []),
        ...(outcome?.exitCode === 0 ? [] : [endOf(outcome)]),
      ]
      if (!take.atLineStart) tape?.output('\r\n')
      if (notes.length > 0) tape?.output(`\u001B[2m[${notes.join('; ')}]\u001B[0m\r\n`)
    },
  }
  calls.watchers.add(watcher)
  return () => {
    calls.watchers.delete(watcher)
    for (const tape of tapes.values()) tape?.close()
  }
}

function openTape({ stateDir, id, baseEnv }: Services, session: string): Recording | null {
  return attempt(() => {
    const dir = ensurePrivateDirectory(recordingsDirectory(stateDir))
    const path = join(dir, recordingName({ engine: id, session }))
    return createRecording(path, { ...SIZE, command: `session ${session}`, env: baseEnv })
  }, null)
}

function endOf(outcome: Outcome | null): string {
  if (outcome?.refused) return `refused: ${outcome.refused.rule}`
  if (outcome?.status === 'running') return 'goes on as a job'
  if (!outcome) return 'error'
  return outcome.signal ?? (outcome.exitCode === null ? outcome.status : `exit ${outcome.exitCode}`)
}

/** There was no terminal that would have gone back to the first column. */
function asLines(text: string): string {
  return text.replaceAll(/\r?\n/g, '\r\n')
}
