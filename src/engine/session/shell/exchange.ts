/** Asks an idle shell for its state, or gives it one: each a line of the session's own that has to be answered. */
import { feedPipe } from '../../../os/files/feed.js'
import { bindingPayload } from '../../../secrets/deliver/binding.js'
import { takePipe } from '../../services/pipes.js'
import type { Services } from '../../services/services.js'
import { within } from '../../services/within.js'
import { dumpLine, restoreLines } from '../lines/lines.js'
import type { Report } from './report.js'
import { restoreCode, type Present } from './restore.js'
import type { SessionShell } from './shell.js'
import type { ShellState } from './state.js'

/** An idle shell that takes longer than this for a line of the session's own is broken. */
const ANSWER_LIMIT_MS = 10_000

/** Has the shell write its state down. False when it did not answer in time, or is gone. */
export async function askForState(shell: SessionShell): Promise<boolean> {
  shell.files.ensure()
  const done = shell.heard('D', 0)
  shell.type(dumpLine(shell.marks))
  return inTime(shell, done)
}

/** What the shell has then; null when it did not answer. */
export function giveState(
  shell: SessionShell,
  services: Services,
  state: ShellState,
  present: Present,
): Promise<ShellState | null> {
  return runOwnCode(shell, services, restoreCode(state, present))
}

/** Runs code (latin1) that changes what the shell holds; gives the state afterwards, or null when it did not answer. */
export async function runOwnCode(shell: SessionShell, services: Services, text: string): Promise<ShellState | null> {
  shell.files.ensure()
  const code = Buffer.from(text, 'latin1')
  const pipe = await takePipe(services)
  const number = shell.nextNumber()
  const done = shell.heard('R', number)
  void feedPipe(pipe.writeEnd(), bindingPayload([{ variable: '', value: code }]))
  shell.type(restoreLines(number, shell.marks, code, pipe.readPath))
  try {
    return (await inTime(shell, done)) ? shell.readState() : null
  } finally {
    pipe.release()
  }
}

async function inTime(shell: SessionShell, done: Promise<Report | null>): Promise<boolean> {
  const isHeard = (await within(done, ANSWER_LIMIT_MS)) && (await done) !== null
  if (!isHeard && shell.alive) {
    // A shell that is idle and does not answer never will.
    shell.ward.kill({ signal: 9, graceMs: 0, why: 'close' })
    await shell.ward.exited
  }
  return isHeard
}
