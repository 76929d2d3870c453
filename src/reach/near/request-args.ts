/** What of a request and of an engine's options goes to the place, and what is done again to an outcome from there. */
import type { Outcome } from '../../contract/outcome.js'
import type { RunRequest } from '../../contract/request.js'
import type { EngineOptions } from '../../engine/services/options.js'
import { stripAnsi } from '../../output/terminal/ansi.js'
import { pack } from '../messages.js'

/** Functions and the signal stay here; of the rest the far side gets everything that a command needs. */
export function requestArgs(request: RunRequest): Record<string, unknown> {
  const { signal, ...rest } = request
  const args: Record<string, unknown> = { request: pack(rest) }
  if (signal) args['aborted'] = signal.aborted
  if (request.newId) {
    const mayBecomeJob = request.yieldMs !== undefined || request.onTimeout === 'background' || request.pty
    // Where only its caller can make it a job, the id comes with that order.
    args['newId'] = mayBecomeJob ? request.newId() : ''
  }
  return args
}

const OWN_SIDE = ['at', 'reach', 'stateDir', 'secretSources', 'ask', 'audit', 'approvals', 'runDir']

/**
 * What the engine there is made from: everything but what belongs to this side (the place, its state, the functions).
 */
export function settingsOf(options: EngineOptions): object {
  const settings = Object.fromEntries(Object.entries(options).filter(([name]) => !OWN_SIDE.includes(name)))
  const { stateDir } = options.reach ?? {}
  return stateDir === undefined ? settings : { ...settings, stateDir }
}

/** The engine there did this already; a place that lies did not. */
export function cleaned(outcome: Outcome, { ansi }: RunRequest): Outcome {
  if (ansi !== 'strip') return outcome
  const { stdout, stderr, output } = outcome
  return {
    ...outcome,
    stdout: stripAnsi(stdout),
    stderr: stripAnsi(stderr),
    output: output === null ? null : stripAnsi(output),
  }
}
