/** Notices every way in which a server's life ends: a signal, or a parent that is gone without having said so. */

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

export type EndReason = 'eof' | (typeof SIGNALS)[number] | 'parent gone' | 'asked'

interface Ended {
  readonly reason: EndReason
  readonly exitCode: number
}

/**
 * Calls `end` once for the first sign; returns the function that stops looking. `watchParent`: the end of the process
 * that started us is one. Its end of our stdin may be held open by a sibling, so EOF alone is no proof of life.
 */
export function watchLife(end: (reason: EndReason) => void, { watchParent }: { watchParent: boolean }): () => void {
  let ended = false
  const once = (reason: EndReason): void => {
    if (ended) return
    ended = true
    end(reason)
  }
  const listeners = SIGNALS.map((signal) => {
    const listener = (): void => once(signal)
    process.on(signal, listener)
    return { signal, listener }
  })
  const parent = process.ppid
  const timer =
    watchParent && parent > 1 ? setInterval(() => process.ppid !== parent && once('parent gone'), 500) : null
  timer?.unref()
  return () => {
    for (const { signal, listener } of listeners) process.off(signal, listener)
    if (timer) clearInterval(timer)
  }
}

/** True when the work was done within the time (null: however long it takes); a failure counts as done. */
export async function within(ms: number | null, work: Promise<unknown>): Promise<boolean> {
  const finished = work.then(
    () => true,
    () => true,
  )
  if (ms === null) return finished
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => (timer = setTimeout(resolve, ms, false)))
  const done = await Promise.race([finished, late])
  clearTimeout(timer)
  return done
}

/** The first call of `end` closes everything; `ended` resolves when that is done, or took longer than `closeMs`. */
export function endsOnce(
  closeMs: number,
  close: () => Promise<unknown>,
): { readonly ended: Promise<Ended>; end(reason: EndReason, exitCode?: number): Promise<void> } {
  let finish!: (ended: Ended) => void
  const ended = new Promise<Ended>((resolve) => (finish = resolve))
  let ending: Promise<void> | null = null
  const work = async (reason: EndReason, exitCode: number): Promise<void> => {
    const closed = await within(reason === 'asked' ? null : closeMs, close())
    finish({ reason, exitCode })
    // Something does not heed the polite signal, and only our own end makes the wardens use force
    // at once. A parent that waits for the server's end still hears of it first.
    if (!closed) setImmediate(() => process.exit(exitCode))
  }
  return { ended, end: (reason, exitCode = 0) => (ending ??= work(reason, exitCode)) }
}

/**
 * How long an orderly close may take. Commands that heed SIGTERM are gone in a few milliseconds; for
 * the others the wardens need a second after our own end, and everything is to be gone within two.
 */
export const CLOSE_MS = 700
