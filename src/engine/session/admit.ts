/** Whether a command may run in its session: judged by what the shell is known to hold, and once more by a look. */
import { ShellError } from '../../contract/errors.js'
import type { Outcome } from '../../contract/outcome.js'
import type { RunRequest } from '../../contract/request.js'
import { passGate } from '../plan/gate.js'
import { planRun, type Plan, type Surroundings } from '../plan/plan.js'
import type { Services } from '../services/services.js'
import { isThere } from './call/directory.js'
import type { SessionMemory } from './call/memory.js'
import type { Shells } from './shells.js'

export function checkSandbox(request: RunRequest): void {
  // Not an object at all: the plan says so.
  if (request?.sandbox === undefined) return
  throw new ShellError(
    'BAD_REQUEST',
    'Bad request: a session keeps the sandbox of its engine',
    'Run the command without a session to give it a stricter one.',
  )
}

export async function admit(
  request: RunRequest,
  surroundings: () => Surroundings,
  services: Services,
  shells: Shells,
  memory: SessionMemory,
): Promise<{ readonly plan: Plan } | { readonly outcome: Outcome }> {
  const alive = (): boolean => shells.current?.alive === true
  const judged = (): Promise<Plan> =>
    planRun(request, { ...surroundings(), entered: alive() || isThere(memory, services.seen) }, services)
  let plan = await judged()
  // The guard may have refused for what the shell, or a file, held earlier: look at both, and judge again.
  if (plan.verdict.decision !== 'allow') {
    const shell = alive() && (memory.dirty || memory.unread) ? shells.current : null
    if (shell) await shells.writeDown(shell)
    if (memory.readFilesAgain() || shell) plan = await judged()
  }
  const outcome = await passGate(plan, services)
  // A command that bash cannot parse leaves its status, as any other.
  if (outcome?.exitCode) memory.noteStatus(outcome.exitCode)
  return outcome ? { outcome } : { plan }
}
