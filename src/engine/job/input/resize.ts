/**
 * Changes the size of a job's terminal, from any process, and notes when: the screen of a later
 * reader comes out the same.
 */
import { badRequest, ShellError } from '../../../contract/errors.js'
import type { PtySize } from '../../../contract/request.js'
import { storedSize } from '../../../os/job/output.js'
import { noteInput, resizeInKeeper } from '../../../os/job/terminal.js'
import { checkSize } from '../../terminal/size.js'
import { endOfJob, type JobState } from '../look/info.js'

export async function resizeTerminal(dir: string, state: JobState, size: PtySize): Promise<void> {
  const { cols, rows } = checkSize(size)
  const { record, started } = state
  if (!record.pty) throw badRequest(`The job ${record.id} has no terminal`, 'Start it with pty: true.')
  const gone = new ShellError('NOT_RUNNING', `The job ${record.id} is not running`, 'Start it again.')
  if (!started || endOfJob(state)) throw gone
  // Noted first: whatever the program draws for the new size comes after this offset.
  noteInput(dir, { by: 'agent', size: [cols, rows], offset: storedSize(dir, 'output.log').total })
  if (!(await resizeInKeeper(dir, started, { cols, rows }))) throw gone
}
