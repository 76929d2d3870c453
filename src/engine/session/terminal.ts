/** A session's command on a terminal: it runs in a shell of its own with the session's state, and what it changed comes back to the session. */
import { readFileSync, rmSync } from 'node:fs'
import type { Call } from '../call/call.js'
import type { Jobs } from '../job/jobs.js'
import type { Plan } from '../plan/plan.js'
import { runOnTerminal } from '../run/terminal.js'
import { quoteWord } from '../plan/quote.js'
import type { Services } from '../services/services.js'
import type { LiveSession } from './session.js'
import { dumpCode, fileOf } from './shell/lines.js'
import { restoreCode } from './shell/state.js'

export async function runSessionOnTerminal(
  plan: Plan,
  call: Call,
  session: LiveSession,
  services: Services,
  jobs: Jobs,
): Promise<void> {
  const state = await session.stateInTurn()
  const marks = { nonce: 'terminal', report: '', files: services.runFile('t') }
  const file = fileOf.state(marks)
  // The state is written down when the shell leaves, also by `exit` in the middle; after that the terminal's own variables are not part of it.
  const writeDown = `${FORGET_TERMINAL}; ${dumpCode(marks)}`
  const restore = `${state ? restoreCode(state, session.initialNames) : ''}\n${KNOW_TERMINAL}\n${givenVariables(plan)}\n\\builtin trap -- ${quoteWord(writeDown)} EXIT`
  await runOnTerminal(plan, call, services, jobs, {
    restore,
    after: `{ ${writeDown}; } 2>/dev/null`,
    async finish(outcome) {
      try {
        await session.adopt(withoutOurs(readFileSync(file, 'utf8')))
      } catch {
        return {
          ...outcome,
          cwd: session.cwd,
          notes: [
            ...outcome.notes,
            'It ended before its shell could say what it changed: the session keeps the state from before.',
          ],
        }
      } finally {
        rmSync(file, { force: true })
      }
      return { ...outcome, cwd: session.cwd }
    },
  })
}

/** Sessions have TERM=dumb, because they have no terminal. This shell has one. */
const KNOW_TERMINAL =
  '__cerith_t="${TERM-}" __cerith_n="${NO_COLOR-}"; \\builtin export TERM=xterm-256color; \\builtin unset -v NO_COLOR LINES COLUMNS'
const FORGET_TERMINAL =
  '\\builtin export TERM="${__cerith_t-dumb}"; [[ -z ${__cerith_n-} ]] || \\builtin export NO_COLOR="$__cerith_n"; \\builtin unset -v __cerith_t __cerith_n LINES COLUMNS'

/** Variables for this call only: they win over the session's. */
function givenVariables({ request, env }: Plan): string {
  return Object.keys(request.env ?? {})
    .filter((name) => /^[A-Za-z_]\w*$/.test(name) && env[name] !== undefined)
    .map((name) => `\\builtin export ${name}=${quoteWord(env[name] as string)}`)
    .join('\n')
}

/** Our own variables and the mark of the job are not the session's. */
function withoutOurs(dump: string): string {
  return dump.replaceAll(/^declare -\S+ (?:__cerith_\w+|CERITH_JOB)(?:=.*)?\n/gm, '')
}
