/** How a process ended, and why one could not begin. */
import { ShellError } from '../../contract/errors.js'
import type { End } from '../../contract/outcome.js'
import { startHint, type LeaderExit } from '../../os/helper/launcher.js'
import { signalName } from '../../os/process/signals.js'

export function endOf(
  exit: Pick<LeaderExit, 'code' | 'signal' | 'forced' | 'lost' | 'byLimit' | 'over'>,
  why: string | null,
  plan: { readonly timeoutMs: number | null },
): End {
  if (why === 'timeout') return { kind: 'timeout', afterMs: plan.timeoutMs ?? 0, forced: exit.forced }
  if (why === 'caller' || why === 'close') return { kind: 'kill', forced: exit.forced, by: why }
  if (exit.byLimit) return { kind: 'kill', forced: exit.forced, by: 'limit', ...(exit.over ? { over: exit.over } : {}) }
  if (exit.lost) return { kind: 'lost', reason: 'its watcher was destroyed' }
  if (exit.signal !== null) return { kind: 'signal', signal: signalName(exit.signal) }
  return { kind: 'exit', code: exit.code ?? -1 }
}

export function notStarted(error: unknown): ShellError {
  if (ShellError.is(error)) return error
  const hint = startHint((error as NodeJS.ErrnoException)?.code ?? '')
  return new ShellError(
    'SPAWN_FAILED',
    `Could not start the command: ${String((error as Error)?.message ?? error)}`,
    hint,
    { cause: error },
  )
}
