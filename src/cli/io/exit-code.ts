/** The exit code that says the same as an Outcome. */
import type { Outcome } from '../../contract/outcome.js'
import { signalNumber } from '../../os/process/signals.js'
import { EXIT } from './io.js'

/** `stoppedBy`: the signal to `cerith` that stopped the command, if one did. */
export function exitCodeOf(outcome: Outcome, stoppedBy: string | null = null): number {
  if (outcome.status === 'refused') return EXIT.refused
  if (outcome.status === 'error') return EXIT.error
  if (outcome.status === 'timeout') return EXIT.timeout
  if (outcome.status === 'dry_run' || outcome.status === 'running') return EXIT.ok
  const { end } = outcome
  if (end?.kind === 'exit') return end.code
  if (end?.kind === 'signal') return EXIT.signal + (signalNumber(end.signal) ?? 0)
  if (end?.kind === 'kill') return EXIT.signal + (signalNumber(stoppedBy ?? 'SIGKILL') ?? 9)
  return EXIT.error
}
