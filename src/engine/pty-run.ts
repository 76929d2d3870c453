/** A foreground run on a terminal. */
import { ShellError } from '../contract/errors.js'
import type { Call } from './call.js'
import type { Jobs } from './jobs.js'
import type { Plan } from './plan.js'
import type { Services } from './services.js'

export async function runOnTerminal(_plan: Plan, _call: Call, _services: Services, _jobs: Jobs): Promise<void> {
  throw new ShellError('PTY_UNAVAILABLE', 'Terminals are not there yet', 'Run without pty.')
}
