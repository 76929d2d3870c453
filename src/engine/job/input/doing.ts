/** One look at what a running job does beside printing: where it listens, and whether it waits for typed input. */
import type { Doing } from '../../../contract/job.js'
import { processesUnder } from '../../../os/job/control.js'
import { addressesOf } from '../../../os/job/ports.js'
import type { JobState } from '../look/info.js'
import { waitsForInput } from './prompt.js'

const NOTHING: Doing = { listening: [], waitingForInput: null }

export async function doingOf(
  dir: string,
  { record, started, ended }: JobState,
  mask: (text: string) => string,
): Promise<Doing> {
  if (!started || ended) return NOTHING
  const { pty, openStdin } = record
  const waiting = await waitsForInput({ dir, started, pty, openStdin, mask }).catch(() => null)
  return {
    listening: addressesOf(processesUnder(record.id, started)),
    waitingForInput: waiting && { prompt: waiting.prompt, hidden: waiting.hidden },
  }
}
