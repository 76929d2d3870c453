/** A request that is sent again with the same idempotency key gets the first one's answer; its command runs once. */
import { createHash } from 'node:crypto'
import { badRequest } from '../../contract/errors.js'

/** Where a client puts the key in a request's `_meta`. Over HTTP the header `Idempotency-Key` does the same. */
export const KEY_IN_META = 'cerith/idempotency-key'

const KEEP_MS = 10 * 60_000
const MAX_KEPT = 256
const MAX_KEPT_BYTES = 32 * 1_048_576
const MAX_KEY_CHARS = 200

interface Entry<T> {
  readonly digest: string
  readonly answer: Promise<T>
  readonly stop: AbortController
  waiting: number
  leaving: NodeJS.Timeout | null
  endedAt: number | null
  bytes: number
}

export interface RetryOptions<T> {
  /** The caller's cancellation. */
  readonly signal: AbortSignal
  /** After the last caller left, how long the command waits for one to come back. 0: it ends at once. */
  readonly returnMs: number
  /** Answers that are only a step on the way are not remembered. */
  readonly isFinal: (answer: T) => boolean
}

export class Retries<T> {
  readonly #entries = new Map<string, Entry<T>>()

  async once(
    key: string,
    about: unknown,
    run: (signal: AbortSignal) => Promise<T>,
    options: RetryOptions<T>,
  ): Promise<T> {
    if (key.length > MAX_KEY_CHARS)
      throw badRequest(`The idempotency key is longer than ${MAX_KEY_CHARS} characters`, 'Use a UUID.')
    this.#forgetOld()
    const digest = createHash('sha256').update(JSON.stringify(about)).digest('base64')
    const entry = this.#entries.get(key) ?? this.#begin(key, digest, run, options.isFinal)
    if (entry.digest !== digest)
      throw badRequest('This idempotency key was used for another call', 'Use a new key for every new command.')
    return join(entry, options)
  }

  #begin(
    key: string,
    digest: string,
    run: (signal: AbortSignal) => Promise<T>,
    isFinal: (answer: T) => boolean,
  ): Entry<T> {
    const stop = new AbortController()
    const answer = run(stop.signal)
    const entry: Entry<T> = { digest, answer, stop, waiting: 0, leaving: null, endedAt: null, bytes: 0 }
    this.#entries.set(key, entry)
    answer.then(
      (value) => {
        entry.endedAt = performance.now()
        entry.bytes = JSON.stringify(value).length
        if (!isFinal(value)) this.#entries.delete(key)
      },
      () => this.#entries.delete(key),
    )
    return entry
  }

  /** The oldest first; what still runs is never forgotten. */
  #forgetOld(): void {
    const now = performance.now()
    let bytes = [...this.#entries.values()].reduce((sum, entry) => sum + entry.bytes, 0)
    for (const [key, entry] of this.#entries) {
      if (entry.endedAt === null) continue
      if (now - entry.endedAt <= KEEP_MS && this.#entries.size <= MAX_KEPT && bytes <= MAX_KEPT_BYTES) continue
      this.#entries.delete(key)
      bytes -= entry.bytes
    }
  }
}

/** Waits for the answer; when the last waiting caller is gone for good, the command is stopped. */
async function join<T>(entry: Entry<T>, { signal, returnMs }: RetryOptions<T>): Promise<T> {
  entry.waiting += 1
  if (entry.leaving) clearTimeout(entry.leaving)
  entry.leaving = null
  let left = false
  const leave = (): void => {
    if (left) return
    left = true
    entry.waiting -= 1
    if (entry.waiting > 0 || entry.endedAt !== null) return
    if (returnMs === 0) entry.stop.abort()
    else entry.leaving = setTimeout(() => entry.stop.abort(), returnMs).unref()
  }
  if (signal.aborted) leave()
  else signal.addEventListener('abort', leave, { once: true })
  try {
    return await entry.answer
  } finally {
    signal.removeEventListener('abort', leave)
    if (!left) entry.waiting -= 1
  }
}
