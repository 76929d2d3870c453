/**
 * Ends the command of a session and leaves the shell alive: the shell is told first, so that
 * nothing of the list comes after.
 */
import { processesOf, type Watched } from '../../../os/helper/processes.js'
import { descendantsOf, isAlive } from '../../../os/process/proc.js'

const LOOK_EVERY_MS = 10
const GIVE_UP_MS = 5_000
const LATE_GRACE_MS = 500

export interface StopSpec {
  readonly shell: number
  readonly ward: Watched
  /** Processes of earlier calls. */
  readonly spared: ReadonlySet<number>
  readonly stopSignal: number
  readonly polite: number
  readonly graceMs: number
}

export interface Stopped {
  readonly forced: boolean
  readonly left: readonly number[]
  /**
   * To be called while the shell does not answer: it may have been about to start one more program when it was told.
   */
  askLatecomers(): void
}

export async function stopCommand(spec: StopSpec): Promise<Stopped> {
  // Pending in the shell before its child can die: when the wait for the child returns, the
  // handler runs and not the next command.
  signal(spec.shell, spec.stopSignal)
  signal(spec.shell, 'SIGCONT')
  const asked = new Map<number, number>()
  const ask = (pids: readonly number[]): void => {
    for (const pid of pids) {
      if (asked.has(pid)) continue
      asked.set(pid, performance.now())
      signal(pid, spec.polite)
      signal(pid, 'SIGCONT')
    }
  }
  const askLatecomers = (): void => {
    const late = victims(spec)
    ask(late)
    for (const pid of late) if (performance.now() - (asked.get(pid) ?? 0) > LATE_GRACE_MS) signal(pid, 'SIGKILL')
  }
  const began = performance.now()
  let forced = false
  for (;;) {
    const left = victims(spec)
    if (left.length === 0) return { forced, left, askLatecomers }
    ask(left)
    const passed = performance.now() - began
    if (passed >= spec.graceMs) {
      forced = true
      for (const pid of left) signal(pid, 'SIGKILL')
    }
    if (passed >= spec.graceMs + GIVE_UP_MS) return { forced, left, askLatecomers }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}

function victims({ shell, ward, spared }: StopSpec): number[] {
  const seen = new Set(spared)
  // A child that a spared process started meanwhile belongs to it.
  for (const pid of spared) for (const child of descendantsOf(pid)) seen.add(child)
  return processesOf(ward).filter((pid) => pid !== shell && !seen.has(pid) && isAlive(pid))
}

function signal(pid: number, what: number | NodeJS.Signals): void {
  try {
    process.kill(pid, what)
  } catch {
    // It is gone.
  }
}
