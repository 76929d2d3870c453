/**
 * Tells when a command waits for typed input. Silence alone never counts: the kernel must see
 * it wait for its input, or its terminal hide what is typed.
 */
import type { Note } from '../../../contract/note.js'
import { readStored, storedSize } from '../../../os/job/output.js'
import type { StartRecord } from '../../../os/job/record.js'
import { askKeeper } from '../../../os/job/terminal.js'
import { commandLine, isAlive } from '../../../os/process/proc.js'
import { inputWaitBelow } from '../../../os/process/wait-state.js'
import { join } from 'node:path'
import { looksLikePrompt, openLine, promptText } from '../../terminal/prompt.js'
import { wholeScreenAsked, lineEditorAsked } from '../../terminal/modes.js'

/** Silence before the first look, and the time between two that must agree. */
export const SILENCE_MS = 400
export const AGREE_MS = 250
const TAIL_BYTES = 4_096
const PAGER = /\(END\)|^:\s*$|--More--|press h|Manual page/

export interface Watched {
  readonly dir: string
  readonly started: StartRecord
  readonly pty: boolean
  readonly openStdin: boolean
  readonly mask: (text: string) => string
}

export interface Waiting {
  readonly prompt: string
  /** What is typed does not show: a password. */
  readonly hidden: boolean
  readonly fullScreen: boolean
  readonly program: string
}

/** One look. Two of them, a moment apart and with no output between, make it certain. */
export async function waitsForInput(job: Watched): Promise<Waiting | null> {
  const { dir, started, pty, openStdin } = job
  if ((!pty && !openStdin) || !isAlive(started.warden, started.wardenStart)) return null
  const answer = pty ? await askKeeper(dir, started) : null
  const terminal = answer?.terminal ?? null
  if (pty && !terminal) return null
  // What was typed has not been taken yet: it is busy, not waiting.
  if (answer && (answer.unsent > 0 || (terminal?.unread ?? 0) > 0)) return null
  const { wait, pid } = inputWaitBelow(started.warden, {
    terminal: terminal?.path ?? null,
    fifo: openStdin && !pty ? join(dir, 'stdin') : null,
    foreground: terminal?.foreground ?? 0,
  })
  if (wait === 'none') return null
  const { total } = storedSize(dir, 'output.log')
  const tail = new TextDecoder().decode(
    readStored(dir, 'output.log', Math.max(0, total - TAIL_BYTES), TAIL_BYTES).bytes,
  )
  const hidden = terminal !== null && terminal.canonical && !terminal.echo
  const fullScreen = terminal !== null && !terminal.canonical && wholeScreenAsked(dir)
  // The kernel's line editing without echo: a password. Without its line editing: a full screen
  // program, or one with a line editor of its own.
  const certain = wait === 'reads' || hidden || fullScreen
  const raw = terminal !== null && !terminal.canonical
  const asks =
    looksLikePrompt(tail) || (wait === 'listens' && raw && (openLine(tail).trim() !== '' || lineEditorAsked(dir)))
  if (!certain && !asks) return null
  const line = pid === null ? '' : commandLine(pid)
  // A builtin that reads is the shell itself: its command line is cerith's, not the agent's.
  const program = line.includes('__cerith') ? '' : line.slice(0, 80)
  const said = promptText(tail)
  // What an editor drew last says nothing; a pager has a line for it.
  const prompt = fullScreen && !PAGER.test(said) ? `(full-screen program${program ? `: ${program}` : ''})` : said
  return { prompt: job.mask(prompt), hidden, fullScreen, program: job.mask(program) }
}

/** The note for the caller that started it. */
export function waitingNote({ hidden, fullScreen, program }: Waiting, id: string): Note {
  const what = hidden
    ? 'wants a password or another hidden answer'
    : fullScreen
      ? 'is a full-screen program that waits for keys'
      : 'waits for input'
  const how = hidden
    ? `Answer job ${id} with a {{secret:NAME}} token, never in clear`
    : fullScreen
      ? `Send keys to job ${id} (q, C-c, ...)`
      : `Send the answer to job ${id}`
  return {
    // How to give a password is worth saying beside the question itself.
    code: hidden ? 'advice' : 'waits-for-input',
    text:
      `Not finished: ${program ? `\`${program}\`` : 'the command'} ${what}. ${how}; or stop the job and run the ` +
      'command in a way that does not ask.',
  }
}
