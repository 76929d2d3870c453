/** What bash itself says about a command that cannot be parsed: the shell's own error, and nothing of it has run. */
import type { Outcome } from '../../contract/outcome.js'
import { syntaxErrorOf } from '../../os/user/bash-syntax.js'
import { endedOutcome } from '../services/outcomes.js'
import type { Plan } from './plan.js'
import type { Services } from '../services/services.js'

/** The failed Outcome with bash's message; null when bash would accept the text (then the guard's refusal stands). */
export async function syntaxErrorOutcome(plan: Plan, services: Services): Promise<Outcome | null> {
  const startedAt = performance.now()
  const message = await syntaxErrorOf(plan.command, services.bash.path)
  if (message === null) return null
  const told = services.secrets.mask(message)
  const isMerged = plan.request.streams === 'merged' || Boolean(plan.request.pty)
  return endedOutcome({
    end: { kind: 'exit', code: 2 },
    stderr: isMerged ? '' : told,
    output: isMerged ? told : null,
    durationMs: Math.round(performance.now() - startedAt),
    cwd: plan.cwd,
    pid: null,
    pgid: null,
    session: plan.session,
    notes: [{ code: 'not-run', text: 'The command has a syntax error; nothing of it was run.' }],
  })
}
