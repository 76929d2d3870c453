/** When a verb that would go on for ever stops: at a signal, or when the reader of its output has left. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Io } from './io.js'

export interface Stop {
  readonly signal: AbortSignal
  /** Resolves after this time, or at the stop. */
  pause(ms: number): Promise<void>
  unlisten(): void
}

export function listenForStop(io: Pick<Io, 'onSignal' | 'onOutputClosed'>): Stop {
  const stop = new AbortController()
  const abort = (): void => stop.abort()
  const unlisten = [io.onSignal(abort), io.onOutputClosed(abort)]
  const { signal } = stop
  return {
    signal,
    pause: (ms) => sleep(ms, undefined, { signal }).catch(() => {}),
    unlisten() {
      for (const each of unlisten) each()
    },
  }
}
