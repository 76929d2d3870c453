/**
 * Runs one approved command outside the sandbox of its engine: fresh, with the engine's
 * environment, while the rooms stand still.
 */
import type { Call } from '../call/call.js'
import { passGate } from '../plan/gate.js'
import { outsidePlan, shownContents } from '../plan/outside.js'
import type { Plan } from '../plan/plan.js'
import { refusedOutcome } from '../services/outcomes.js'
import type { Services } from '../services/services.js'
import { runFresh } from './foreground.js'

const RESTLESS = {
  rule: 'outside',
  reason: 'Not run: something in the sandbox does not stand still, so it could change what the person is asked about.',
  guidance: 'End the jobs and sessions of the sandbox, or wait for them, then repeat.',
}

export async function runOutside(planned: Plan, call: Call, services: Services): Promise<void> {
  const plan = outsidePlan(planned, services)
  const thaw = services.sandbox ? await services.sandbox.freeze() : () => {}
  if (!thaw) return call.settle(refusedOutcome(RESTLESS, plan))
  call.outcome.then(thaw, thaw)
  const before = shownContents(planned, services)
  const stopped = await passGate(plan, services)
  if (stopped) return call.settle(stopped)
  if (shownContents(planned, services) !== before)
    return call.settle(
      refusedOutcome(
        {
          rule: 'outside',
          reason: 'Not run: its directory or a file that it uses changed after it was shown to the person.',
          guidance: 'Repeat the call, so that the person sees what would run now.',
        },
        plan,
      ),
    )
  // No terminal and no move to the background: one command, which ends before the rooms go on.
  await runFresh(plan, call, services, null)
}
