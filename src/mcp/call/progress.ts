/**
 * Tells a waiting client that the command lives: its last line, not too often, and a sign of life when it is silent.
 */
import { stripAnsi } from '../../output/terminal/ansi.js'

export interface Progress {
  /** More output of the command. */
  readonly push: (text: string) => void
  readonly stop: () => void
}

const MAX_CHARS = 200
/** Enough to find the last line in, however long the output is. */
const KEPT_CHARS = 2_000

export function reportProgress(
  send: (progress: number, message: string) => void,
  pace: { readonly everyMs: number; readonly heartbeatMs: number },
): Progress {
  const startedAt = performance.now()
  let recent = ''
  let fresh = false
  let last = 0
  let stopped = false
  let timer = setTimeout(tick, pace.heartbeatMs)
  let dueAt = startedAt + pace.heartbeatMs
  let sentAt = Number.NEGATIVE_INFINITY

  function tick(): void {
    if (stopped) return
    const now = performance.now()
    // The protocol wants every value to be larger than the one before.
    last = Math.max(last + 1, Math.round(now - startedAt))
    sentAt = now
    fresh = false
    const line = lastLine(recent)
    send(last, `${Math.round((now - startedAt) / 1_000)}s${line === '' ? '' : `: ${line}`}`)
    wakeAt(now + pace.heartbeatMs)
  }

  function wakeAt(at: number): void {
    clearTimeout(timer)
    dueAt = at
    timer = setTimeout(tick, Math.max(0, at - performance.now()))
  }

  return {
    push(text) {
      if (stopped) return
      recent = (recent + text).slice(-KEPT_CHARS)
      if (fresh) return
      fresh = true
      const soonest = Math.max(performance.now(), sentAt + pace.everyMs)
      if (soonest < dueAt) wakeAt(soonest)
    },
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}

/** The last line that says something; a carriage return begins a line anew. */
export function lastLine(text: string): string {
  const lines = stripAnsi(text).split(/[\r\n]+/)
  for (let at = lines.length - 1; at >= 0; at--) {
    const line = lines[at]!.replace(/[\u0000-\u001f\u007f]+/g, ' ').trim()
    if (line !== '') return line.length > MAX_CHARS ? `${line.slice(0, MAX_CHARS - 1)}…` : line
  }
  return ''
}
