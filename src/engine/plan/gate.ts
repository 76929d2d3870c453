/**
 * The gate between a plan and the machine: denied things stop here, dry runs end here, doubtful ones are asked about.
 */
import type { Outcome, Refusal } from '../../contract/outcome.js'
import type { Verdict } from '../../contract/verdict.js'
import { abortedOutcome, dryRunOutcome, refusedOutcome } from '../services/outcomes.js'
import { askPerson } from './ask.js'
import type { Plan } from './plan.js'
import type { Services } from '../services/services.js'
import { syntaxErrorOutcome } from './syntax-check.js'

/** Null = go. The guard looks before the dry run: what is denied stays denied in one. */
export async function passGate(plan: Plan, services: Services): Promise<Outcome | null> {
  const { verdict, request } = plan
  await services.secrets.ready
  if (verdict.rule === 'unreadable' && verdict.decision !== 'allow') {
    // The shell's own message is worth more than a refusal; what bash would accept and the
    // guard cannot read stays refused.
    const failed = await syntaxErrorOutcome(plan, services)
    if (failed) return failed
  }
  if (verdict.decision === 'deny') return refusedOutcome(refusalOf(verdict, plan.command), plan)
  if (request.dryRun) return dryRunOutcome(plan.summary)
  if (verdict.decision === 'allow') return null
  const { as: answer, id, trouble, waitedMs = 0 } = await askPerson(plan, services)
  if (answer === 'once' || answer === 'session') return null
  if (answer === null && request.signal?.aborted) return abortedOutcome(plan)
  const because =
    answer === 'deny'
      ? 'The person who was asked declined (or the client cannot ask and declined for them).'
      : (trouble ??
        (waitedMs < 1_000 ? 'Nobody could be asked.' : `Nobody answered within ${Math.round(waitedMs / 1_000)} s.`))
  return refusedOutcome(
    {
      rule: verdict.rule ?? 'ask',
      reason: `Not run: it needs approval (${verdict.reason ?? 'a rule asks for it'}). ${because}`,
      guidance:
        answer === 'deny' || id === ''
          ? 'Do something else, or ask the person what they would allow.'
          : `A person can allow exactly this command once with: cerith approve ${id} - then repeat the same call.`,
    },
    { ...plan, approvalId: answer === 'deny' || id === '' ? null : id },
  )
}

export function refusalOf(verdict: Verdict, command: string): Refusal {
  const shown = command.length > 300 ? `${command.slice(0, 300)}…` : command
  const reason = verdict.dangerous
    ? (
        `Command blocked for security reasons (dangerous pattern: ${verdict.rule ?? 'unknown'}): ${shown}. ` +
        `${verdict.reason ?? ''}`
      ).trim()
    : (verdict.reason ?? 'Command blocked by policy.')
  return {
    rule: verdict.rule ?? 'policy',
    reason,
    guidance: verdict.guidance ?? 'Find another way to do it, or ask the person in charge.',
    ...(verdict.dangerous || verdict.reason === null ? { isWhole: true } : {}),
  }
}
