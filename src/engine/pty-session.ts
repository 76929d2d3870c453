/** A session's command on a terminal: it runs with the session's state, and its changes come back. */
import { ShellError } from '../contract/errors.js'
import type { Call } from './call.js'
import type { Jobs } from './jobs.js'
import type { Plan } from './plan.js'
import type { Services } from './services.js'
import type { LiveSession } from './session.js'

export async function runSessionOnTerminal(_plan: Plan, _call: Call, _session: LiveSession, _services: Services, _jobs: Jobs): Promise<void> {
  throw new ShellError('PTY_UNAVAILABLE', 'Terminals are not there yet', 'Run without pty.')
}
