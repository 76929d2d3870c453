/**
 * A session's command on a terminal: it runs in a shell of its own with the session's state,
 * and what it changed comes back to the session.
 */
import type { Note } from '../../contract/note.js'
import { randomBytes } from 'node:crypto'
import type { Call } from '../call/call.js'
import type { Jobs } from '../job/jobs.js'
import type { Plan } from '../plan/plan.js'
import { quoteWord } from '../../contract/quote.js'
import { runOnTerminal } from '../run/terminal.js'
import { takePipe } from '../services/pipes.js'
import type { Services } from '../services/services.js'
import { FORGET_TERMINAL } from '../terminal/environment.js'
import { LAST } from '../terminal/script.js'
import { restoreOf } from './call/end.js'
import type { LiveSession } from './session.js'
import { dumpLeaving } from './lines/dump-text.js'
import { HUSHED } from './lines/marks.js'
import { DumpReader } from './shell/dump.js'
import { parseState } from './shell/state.js'

const STATE_LOST: Note = {
  code: 'state',
  text: 'It ended before its shell could say what it changed: the session keeps the state from before.',
}

export async function runSessionOnTerminal(
  plan: Plan,
  call: Call,
  session: LiveSession,
  services: Services,
  jobs: Jobs,
): Promise<void> {
  const { code, notes } = restoreOf(await session.stateInTurn(), session.initialNames)
  const pipe = await takePipe(services)
  const mark = (): string => randomBytes(12).toString('hex')
  const marks = { nonce: mark(), seal: mark(), farewell: mark(), state: pipe.writePath }
  const dumps = new DumpReader(pipe, marks, services.scratch)
  // Once: at the end of the command, or where it leaves the shell. After that the terminal's
  // own variables are not part of the state.
  const writeDown = `[[ \${__cerith_d-} ]] || { ${FORGET_TERMINAL}; ${dumpLeaving(marks, LAST_COMMAND)}; __cerith_d=1; }`
  const leaving =
    `__cerith_q=("$?" "$_" "\${PIPESTATUS[@]}"); [[ \${${LAST}+x} ]] || ${LAST}=("\${__cerith_q[@]}"); ` +
    `${writeDown}`
  await runOnTerminal(plan, call, services, jobs, {
    restore: { code: `${code}\n\\builtin trap -- ${quoteWord(leaving)} EXIT\n`, notes },
    after: `{ ${writeDown}; } ${HUSHED}`,
    over: () => dumps.close(),
    async finish(outcome) {
      dumps.readNow()
      const state = parseState(dumps.last?.sections)
      await session.adopt(state, outcome.exitCode ?? 130)
      return { ...outcome, cwd: session.cwd, notes: [...outcome.notes, ...notes, ...(state ? [] : [STATE_LOST])] }
    },
  })
}

/** `$?` and the stages on one line, then `$_`. */
const LAST_COMMAND = [['last', `printf '%s\\n%s' "\${${LAST}[0]} \${${LAST}[*]:2}" "\${${LAST}[1]:0:1000}"`]] as const
