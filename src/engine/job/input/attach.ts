/**
 * Connects a person's terminal to the terminal of a job: shows what comes, types what is typed,
 * through the job's own files. The job does not notice.
 */
import { dirname, join } from 'node:path'
import { badRequest, ShellError } from '../../../contract/errors.js'
import type { Attachment, AttachOptions, Job, JobInfo } from '../../../contract/job.js'
import type { Taken } from '../../../contract/output.js'
import { watchDirectory } from '../../../os/files/watching.js'
import { writeFifo } from '../../../os/job/control.js'
import { storedSize } from '../../../os/job/output.js'
import { readJobRecord, readStartRecord } from '../../../os/job/record.js'
import { askKeeper, noteInput } from '../../../os/job/terminal.js'
import { alternateScreenAsked } from '../../terminal/modes.js'
import { checkHere } from '../look/info.js'
import { pause } from '../../../os/process/clock.js'

/** So much of the earlier output is shown first when a terminal is attached. */
const REPLAY_BYTES = 256 * 1024
const LOOK_EVERY_MS = 100
const NOTE_EVERY_MS = 1_000
const START_LIMIT_MS = 2_000

export async function attachTo(job: Job, options: AttachOptions): Promise<Attachment> {
  const dir = dirname(checkAttachable(await job.info()).outputFile)
  const record = readJobRecord(dir, job.id)
  if (record) checkHere(dir, record)
  let started = readStartRecord(dir)
  // A job that was started a moment ago has no record of its start yet.
  for (
    const end = performance.now() + START_LIMIT_MS;
    !started && performance.now() < end;
    started = readStartRecord(dir)
  )
    await pause(10)
  const before = started && (await askKeeper(dir, started))?.terminal
  if (!before)
    throw new ShellError(
      'NOT_RUNNING',
      `The job ${job.id} has just ended`,
      `Read what it printed: cerith read ${job.id}`,
    )
  let cursor = storedSize(dir, 'output.log').total
  // A terminal that is slow, or was stopped (C-s), is waited for before more is read: the job's
  // files hold what it has not seen.
  let shown: Taken | Promise<Taken>
  if (alternateScreenAsked(dir)) shown = options.show('\x1b[?1049h\x1b[H\x1b[2J')
  else {
    const { text, cursor: next } = await job.read({ since: Math.max(0, cursor - REPLAY_BYTES) })
    shown = options.show(withoutQuestions(text))
    cursor = next
  }

  let finished = false
  let settle!: (how: 'ended' | 'left') => void
  const done = new Promise<'ended' | 'left'>((resolve) => (settle = resolve))
  const finish = (how: 'ended' | 'left'): void => {
    if (finished) return
    finished = true
    unwatch()
    writeNote()
    settle(how)
  }
  let busy = false
  let again = false
  const look = async (): Promise<void> => {
    again = true
    if (busy) return
    busy = true
    try {
      while (again && !finished) {
        again = false
        // The state first: what is stored when it says "ended" is everything.
        const { isRunning } = await job.info()
        for (let more = true; more && !finished;) {
          if ((await shown) === 'closed') return finish('left')
          const { text, cursor: next } = await job.read({ since: cursor, maxBytes: REPLAY_BYTES })
          more = next > cursor
          cursor = next
          if (text !== '') shown = options.show(text)
        }
        if (!isRunning) finish('ended')
      }
    } catch {
      finish('ended') // Its directory was removed: it ended and was cleaned up.
    } finally {
      busy = false
    }
  }
  const unwatch = watchDirectory(dir, LOOK_EVERY_MS, () => void look())

  // What a person types is counted, not kept: passwords are typed here, too. The echo in the output shows the rest.
  let typed = 0
  let noteTimer: NodeJS.Timeout | null = null
  const writeNote = (): void => {
    if (noteTimer) clearTimeout(noteTimer)
    noteTimer = null
    if (typed > 0) noteInput(dir, { by: options.by, bytes: typed, offset: cursor })
    typed = 0
  }
  let unsent = Buffer.alloc(0)
  let sending = false
  const pump = async (): Promise<void> => {
    if (sending) return
    sending = true
    while (unsent.length > 0 && !finished) {
      const took = writeFifo(join(dir, 'stdin'), unsent)
      if (took === null) break
      unsent = unsent.subarray(took)
      if (took === 0) await pause(10)
    }
    sending = false
  }
  const attachment: Attachment = {
    done,
    type(bytes) {
      if (finished || options.readOnly || bytes.length === 0) return
      typed += bytes.length
      noteTimer ??= setTimeout(writeNote, NOTE_EVERY_MS)
      unsent = Buffer.concat([unsent, bytes])
      void pump()
    },
    resize: async (size) => {
      if (!finished && !options.readOnly) await job.resize(size).catch(() => {})
    },
    async leave() {
      if (finished) return
      await pump()
      finish('left')
      if (options.size && !options.readOnly) await job.resize({ cols: before.cols, rows: before.rows }).catch(() => {})
    },
  }
  if (options.size && !options.readOnly) {
    const { cols, rows } = options.size
    // A program that owns the screen draws it anew when the size changes: make sure that it does.
    if (cols === before.cols && rows === before.rows && rows > 1) await attachment.resize({ cols, rows: rows - 1 })
    await attachment.resize({ cols, rows })
  }
  void look()
  return attachment
}

function checkAttachable(info: JobInfo): JobInfo {
  if (!info.isRunning)
    throw new ShellError(
      'NOT_RUNNING',
      `The job ${info.id} is not running (${info.status})`,
      `Read what it printed: cerith read ${info.id}`,
    )
  if (!info.pty)
    throw badRequest(
      `The job ${info.id} has no terminal to attach to`,
      `Follow its output instead: cerith read ${info.id} --follow. Jobs started with pty have a terminal.`,
    )
  return info
}

/**
 * Old questions to the terminal (what are you, where is the cursor, which colours) must not be
 * answered again: the answers would be typed into the job.
 */
function withoutQuestions(text: string): string {
  return text.replaceAll(
    /\x1b\[[?>=]?[\d;]*(?:c|n|x|\$p|q)(?<!\x1b\[[\d;]* q)|\x1b\[1[4-9]t|\x1b\[2[01]t|\x1b\][\d;]*;\?(?:\x07|\x1b\\)|\x1bP[+$]q[^\x1b]*\x1b\\|\x1bZ|\x05/g,
    '',
  )
}
