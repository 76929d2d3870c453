/** How something ended as one number, for protocols that know nothing else. */
import { constants } from 'node:os'
import type { Outcome } from '../../contract/outcome.js'

/**
 * A process that a signal ended has no code of its own; 128 + n is what a shell would report,
 * also of a signal that we sent.
 */
export function exitNumber({ exitCode, signal, end }: Pick<Outcome, 'exitCode' | 'signal' | 'end'>): number {
  const ours = end?.kind === 'kill' || end?.kind === 'timeout' ? (end.forced ? 'SIGKILL' : 'SIGTERM') : null
  const number = constants.signals[(signal ?? ours) as keyof typeof constants.signals] ?? 0
  return exitCode ?? 128 + number
}

/**
 * As shells and `timeout` do: 124 timed out, 126 not allowed to run, 130 interrupted. What
 * still runs, or would have run, has not failed.
 */
export function outcomeNumber(outcome: Outcome): number {
  switch (outcome.status) {
    case 'timeout':
      return 124
    case 'refused':
      return 126
    case 'killed':
      return 130
    case 'running':
    case 'dry_run':
      return 0
    default:
      return exitNumber(outcome)
  }
}
