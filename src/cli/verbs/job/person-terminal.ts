/** A person's terminal on the terminal of a job: raw keys go in, the screen comes out, C-] leaves. */
import type { Engine } from '../../../contract/engine.js'
import { badRequest } from '../../../contract/errors.js'
import type { JobInfo } from '../../../contract/job.js'
import type { Taken } from '../../../contract/output.js'
import type { Sink } from '../../io/io.js'

/** What attach needs of a terminal. */
interface PersonInput {
  readonly isTTY?: boolean
  setRawMode?(raw: boolean): unknown
  on(event: string, listener: (bytes: Buffer) => void): unknown
  off(event: string, listener: (bytes: Buffer) => void): unknown
  resume(): unknown
  pause(): unknown
}

interface Screen {
  readonly columns?: number
  readonly rows?: number
  on(event: 'resize', listener: () => void): unknown
  off(event: 'resize', listener: () => void): unknown
}

interface AttachSettings {
  readonly input: PersonInput
  readonly output: Pick<Sink, 'isTTY' | 'write' | 'taken'>
  /** Our own sink waits for a slow terminal; only Node's stream knows when its size changes. */
  readonly screen: Screen
  /** Who types, as the job's notes will say, e.g. `ann`. */
  readonly by: string
  readonly readOnly?: boolean
}

/** C-], as telnet has it: no shell, editor or pager needs it. */
const LEAVE_KEY = 0x1d
/**
 * Leaves no trace of a full-screen program: normal screen, cursor, colours, keypad, mouse and
 * pasting as a shell expects them.
 */
const RESTORE =
  '\x1b[?1049l\x1b[?1l\x1b>\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[0m\x1b[r'

export async function attach(
  engine: Engine,
  id: string,
  { input, output, screen, by, readOnly = false }: AttachSettings,
): Promise<{ readonly reason: 'left' | 'ended'; readonly info: JobInfo }> {
  const job = await engine.job(id)
  let info = await job.info()
  if (!info.pty)
    throw badRequest(
      `${id} has no terminal to attach to`,
      `Follow its output with \`cerith read ${id} --follow\`, or start it with --pty.`,
    )
  const sizeNow = (): { cols: number; rows: number } => ({ cols: screen.columns || 80, rows: screen.rows || 24 })
  const size = output.isTTY ? sizeNow() : null
  // Before the first output, and not when there is nothing to attach to.
  let greeting = `[cerith: attached to ${id}${readOnly ? ', watching only' : ''}; C-] leaves, the job goes on]\r\n`
  const show = (text: string): Taken | Promise<Taken> => {
    output.write(greeting + text)
    greeting = ''
    return output.taken()
  }
  const attachment = await job.attach({ by, readOnly, size, show })
  if (greeting !== '') void show('')

  const onKeys = (bytes: Buffer): void => {
    const at = bytes.indexOf(LEAVE_KEY)
    attachment.type(at < 0 ? bytes : bytes.subarray(0, at))
    if (at >= 0) void attachment.leave()
  }
  const onEnd = (): void => void attachment.leave()
  const onResize = (): void => void attachment.resize(sizeNow())
  const raw = input.isTTY === true
  if (raw) input.setRawMode?.(true)
  input.on('data', onKeys)
  input.on('end', onEnd)
  if (size) screen.on('resize', onResize)
  input.resume()
  try {
    const reason = await attachment.done
    // A foreground run takes its directory with it.
    info = await job.info().catch(() => info)
    return { reason, info }
  } finally {
    input.off('data', onKeys)
    input.off('end', onEnd)
    screen.off('resize', onResize)
    if (raw) input.setRawMode?.(false)
    input.pause()
    output.write(`${RESTORE}\r\n`)
  }
}
