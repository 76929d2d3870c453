/** Changes the size of a job's terminal, from any process, and notes when: the screen of a later reader then comes out the same. */
import { ShellError } from '../../contract/errors.js'
import type { PtySize } from '../../contract/request.js'
import { storedSize } from '../../os/job/output.js'
import { noteInput, resizeInKeeper } from '../../os/job/terminal.js'
import { endOfJob, type JobState } from '../job/info.js'

const LARGEST = 10_000

export function checkSize(size: unknown): PtySize {
  const { cols, rows } = (typeof size === 'object' && size !== null ? size : {}) as Partial<PtySize>
  for (const value of [cols, rows]) {
    if (!Number.isInteger(value) || (value as number) < 1 || (value as number) > LARGEST)
      throw new ShellError(
        'BAD_REQUEST',
        `Bad request: not a terminal size: ${JSON.stringify(size)?.slice(0, 80)}`,
        `Pass { cols, rows }, whole numbers from 1 to ${LARGEST}.`,
      )
  }
  return { cols: cols as number, rows: rows as number }
}

export async function resizeTerminal(dir: string, state: JobState, size: PtySize, by = 'agent'): Promise<void> {
  const { cols, rows } = checkSize(size)
  const { record, started } = state
  if (!record.pty)
    throw new ShellError('BAD_REQUEST', `The job ${record.id} has no terminal`, 'Start it with pty: true.')
  const gone = new ShellError('NOT_RUNNING', `The job ${record.id} is not running`, 'Start it again.')
  if (!started || endOfJob(state)) throw gone
  // Noted first: whatever the program draws for the new size comes after this offset.
  noteInput(dir, { by, size: [cols, rows], offset: storedSize(dir, 'output.log').total })
  if (!(await resizeInKeeper(dir, started, { cols, rows }))) throw gone
}
