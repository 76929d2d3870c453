/** Notices every way in which a server's life ends: a signal, or a parent that is gone without having said so. */

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

export type EndReason = 'eof' | (typeof SIGNALS)[number] | 'parent gone' | 'asked'

export interface LifeOptions {
  /** End when the process that started us is gone. Its end of our stdin may be held open by a sibling, so EOF alone is no proof of life. */
  readonly watchParent: boolean
}

/** Calls `end` once for the first sign; returns the function that stops looking. */
export function watchLife(end: (reason: EndReason) => void, { watchParent }: LifeOptions): () => void {
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
  const timer = watchParent && parent > 1 ? setInterval(() => process.ppid !== parent && once('parent gone'), 500) : null
  timer?.unref()
  return () => {
    for (const { signal, listener } of listeners) process.off(signal, listener)
    if (timer) clearInterval(timer)
  }
}

/** Waits for the promise, but not longer; a failure counts as done. */
export async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  await Promise.race([work.catch(() => {}), new Promise((resolve) => (timer = setTimeout(resolve, ms)))])
  clearTimeout(timer)
}

/**
 * How long an orderly close may take. Commands that heed SIGTERM are gone in a few milliseconds; for the others the wardens
 * need a second after our own end, and everything is to be gone within two.
 */
export const CLOSE_MS = 700
