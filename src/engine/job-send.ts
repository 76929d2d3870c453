/** Input for a job through its own FIFOs: works from any process, and says plainly when the job takes none. */
import { join } from 'node:path'
import { ShellError } from '../contract/errors.js'
import type { JobInfo, SendOptions } from '../contract/job.js'
import { orderKeeper, writeFifo } from '../os/job-control.js'
import { readStartRecord } from '../os/job-record.js'

/** A program that does not read its input fills the FIFO: say so instead of waiting for ever. */
const PATIENCE_MS = 5_000

/** What the keyboard would have made of these keys without a terminal. */
const SIGNALS: Readonly<Record<string, number>> = { 'C-c': 2, 'C-\\': 3 }

export async function sendToPipe(dir: string, info: JobInfo, openStdin: boolean, { text = '', keys = [], enter, eof }: SendOptions): Promise<void> {
  const started = readStartRecord(dir)
  if (!info.isRunning || !started) throw new ShellError('NOT_RUNNING', `The job ${info.id} is not running (${info.status})`, 'Start it again to send it input.')
  const order = (line: string): void => {
    if (!orderKeeper(dir, started, line)) throw new ShellError('NOT_RUNNING', `The job ${info.id} has just ended`, 'Read its output for the reason.')
  }
  for (const key of keys) {
    const signal = SIGNALS[key.replace(/^(?:ctrl|control)[-+]/i, 'C-')]
    if (signal !== undefined) order(`signal ${signal}`)
    else if (!/^(?:C-d|ctrl[-+]d|enter)$/i.test(key)) throw new ShellError('BAD_REQUEST', `Bad request: the key ${JSON.stringify(key.slice(0, 40))} means nothing without a terminal`, 'Start the command with pty: true, or send text.')
  }
  const typed = `${text}${enter || keys.some((key) => /^enter$/i.test(key)) ? '\n' : ''}`
  const ends = eof === true || keys.some((key) => /^(?:C-d|ctrl[-+]d)$/i.test(key))
  if (typed === '' && !ends) return
  if (!openStdin) throw new ShellError('BAD_REQUEST', `The job ${info.id} was started without an open stdin`, 'Start it with openStdin: true (or pty: true) to send it input.')
  await writeAll(dir, info.id, Buffer.from(typed))
  if (ends) order('eof')
}

async function writeAll(dir: string, id: string, bytes: Uint8Array): Promise<void> {
  const until = performance.now() + PATIENCE_MS
  for (let at = 0; at < bytes.length; ) {
    const took = writeFifo(join(dir, 'stdin'), bytes.subarray(at))
    if (took === null) throw new ShellError('NOT_RUNNING', `The job ${id} does not take input any more`, 'Read its output for the reason.')
    at += took
    if (took > 0 || at >= bytes.length) continue
    if (performance.now() > until) throw new ShellError('BAD_REQUEST', `The job ${id} does not read its input; ${bytes.length - at} of ${bytes.length} bytes were not taken`, 'Wait until it reads, then send the rest.')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
