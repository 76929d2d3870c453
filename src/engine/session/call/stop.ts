/**
 * Ends the command of a session and leaves the shell alive: the shell is told first, so that
 * nothing of the list comes after.
 */
import { processesOf } from '../../../os/helper/processes.js'
import { descendantsOf, isAlive, processFacts, signalProcess } from '../../../os/process/proc.js'
import { usageOf } from '../../../os/process/usage.js'
import { within } from '../../services/within.js'
import { recoverLines } from '../lines/lines.js'
import { STOP_SIGNAL } from '../lines/marks.js'
import type { SessionShell } from '../shell/shell.js'
import type { SessionMemory } from './memory.js'

const LOOK_EVERY_MS = 10
const GIVE_UP_MS = 5_000
const LATE_GRACE_MS = 500
const RECOVER_LIMIT_MS = 1_500
/** A shell that gets no processor is waited for this long at most. */
const STARVED_LIMIT_MS = 10_000
const INTERRUPT_EVERY_MS = 25

export interface StopSpec {
  readonly shell: SessionShell
  /** Processes of earlier calls. */
  readonly spared: ReadonlySet<number>
  /** The signal that each process of the command gets first. */
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
  signalProcess(spec.shell.pid, STOP_SIGNAL)
  signalProcess(spec.shell.pid, 'SIGCONT')
  const asked = new Map<number, number>()
  const ask = (pids: readonly number[]): void => {
    for (const pid of pids) {
      if (asked.has(pid)) continue
      asked.set(pid, performance.now())
      signalProcess(pid, spec.polite)
      signalProcess(pid, 'SIGCONT')
    }
  }
  const askLatecomers = (): void => {
    const late = victims(spec)
    ask(late)
    for (const pid of late) if (performance.now() - (asked.get(pid) ?? 0) > LATE_GRACE_MS) signalProcess(pid, 'SIGKILL')
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
      for (const pid of left) signalProcess(pid, 'SIGKILL')
    }
    if (passed >= spec.graceMs + GIVE_UP_MS) return { forced, left, askLatecomers }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}

function victims({ shell, spared }: StopSpec): number[] {
  const seen = new Set(spared)
  // A child that a spared process started meanwhile belongs to it.
  for (const pid of spared) for (const child of descendantsOf(pid)) seen.add(child)
  return processesOf(shell.ward).filter((pid) => pid !== shell.pid && !seen.has(pid) && isAlive(pid))
}

/** After an interrupt the shell is at its prompt again; hear it say so. */
export async function recover(shell: SessionShell, memory: SessionMemory, stopped: Stopped | null): Promise<boolean> {
  const number = shell.nextNumber()
  const ready = shell.heard('R', number)
  const lines = recoverLines(number, shell.marks, memory.traps.exit, shell.hasBuiltin)
  shell.type(lines)
  let ticks = 0
  const again = setInterval(() => {
    // An interrupt that comes late takes our lines with it.
    if (shell.isAtPrompt()) return shell.isIdle() ? shell.type(lines) : undefined
    // A stop that came before the command did is not heard by it; the interrupt that the handler
    // sends can be lost on a builtin that waits for input in a sourced file, the next one is not.
    signalProcess(shell.pid, ticks++ % 2 === 0 ? STOP_SIGNAL : 'SIGINT')
    stopped?.askLatecomers()
  }, INTERRUPT_EVERY_MS)
  const began = performance.now()
  const used = usageOf([shell.pid]).cpuMs
  // A shell that waits for a processor has not had the time to answer.
  const isStarved = (): boolean =>
    performance.now() - began < STARVED_LIMIT_MS &&
    processFacts(shell.pid)?.state === 'R' &&
    usageOf([shell.pid]).cpuMs - used < RECOVER_LIMIT_MS / 2
  try {
    let isReady = await within(ready, RECOVER_LIMIT_MS)
    while (!isReady && shell.alive && isStarved()) isReady = await within(ready, RECOVER_LIMIT_MS)
    return isReady && shell.alive
  } finally {
    clearInterval(again)
  }
}
