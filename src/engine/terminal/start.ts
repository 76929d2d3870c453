/**
 * Makes a plan ready for a terminal: the helper that provides it, the size, the environment.
 * The same for foreground runs, jobs and sessions.
 */
import { badRequest } from '../../contract/errors.js'
import type { PtySize } from '../../contract/request.js'
import { needsHelper } from '../../os/helper/file.js'
import { noteInput } from '../../os/job/terminal.js'
import { terminalEnvironment } from './environment.js'
import { checkSize } from './size.js'
import type { Plan } from '../plan/plan.js'
import type { Services } from '../services/services.js'

/** Throws PTY_UNAVAILABLE where no terminal can be had; everything else works there. */
export function withTerminal(plan: Plan, services: Services): Plan {
  if (services.launcher.tier !== 'native')
    throw needsHelper('PTY_UNAVAILABLE', 'A terminal', ' Without pty the command runs.')
  const { request } = plan
  terminalSize(plan, services)
  if (request.streams === 'separate')
    throw badRequest('Bad request: a terminal has one stream', 'Leave `streams` out, or run without pty.')
  return { ...plan, env: terminalEnvironment(plan.env, { NO_COLOR: services.baseEnv['NO_COLOR'], ...request.env }) }
}

export function terminalSize({ request }: Plan, services: Services): PtySize {
  return checkSize(typeof request.pty === 'object' ? request.pty : services.limits.pty)
}

/** The first note of a terminal's job: with which size it began. */
export function noteTerminal(dir: string, { cols, rows }: PtySize): void {
  noteInput(dir, { by: 'start', size: [cols, rows], offset: 0 })
}
