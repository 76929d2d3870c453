/** One call on its way: what was said, what is heard of it, and the promises of its end. */
import type { ShellError } from '../../contract/errors.js'
import type { ByteChunk } from '../../contract/output.js'
import type { RunRequest } from '../../contract/request.js'
import {
  errorFromWire,
  type CallMessage,
  type Gap,
  type News,
  type ResultMessage,
  type StopMessage,
} from '../messages.js'

/** What a caller wants to hear of its call besides the result. */
export interface CallListener {
  onOutput?(chunk: ByteChunk, confirm: () => void): void
  onGap?(gap: Gap): void
  onEvent?(news: News): void
}

/** Why a call has no result. */
export type CallLoss =
  | {
      readonly kind: 'not-started'
      readonly downMs: number
      readonly why: string
      readonly error?: ShellError | undefined
    }
  | { readonly kind: 'unanswered'; readonly downMs: number; readonly call: string }
  | { readonly kind: 'gone'; readonly why: string }

export class CallLost extends Error {
  constructor(readonly loss: CallLoss) {
    super(loss.kind)
  }
}

export interface PendingCall {
  readonly id: number
  /** As a model reads it. */
  readonly name: string
  readonly message: CallMessage
  /** With its functions, which stay here: what a person is shown where the place asks about the call. */
  request: RunRequest | null
  readonly listener: CallListener
  readonly result: Promise<unknown>
  /** The result whenever it comes, also after the caller was told that the link is down. */
  readonly late: Promise<unknown>
  settle(result: ResultMessage): void
  lose(loss: CallLoss): void
  isSent: boolean
  /** The caller was told that there is no answer. */
  isGivenUp: boolean
  seen: number
  /** Live output that its reader has not taken yet. */
  unread: number
  /** What its reader has taken, as far as it was told there. */
  told: number
  /** Set while the call is sent in pieces, or waits for another one that is. */
  leaving: Promise<unknown> | null
  timer: NodeJS.Timeout | null
  /** What must be said again after a cut: orders that change the call for good. */
  readonly orders: Map<StopMessage['how'], Omit<StopMessage, 'id'>>
}

export function makeCall(name: string, message: CallMessage, listener: CallListener): PendingCall {
  let resolve!: (value: unknown) => void
  let reject!: (error: Error) => void
  let resolveLate!: (value: unknown) => void
  const result = new Promise<unknown>((yes, no) => ([resolve, reject] = [yes, no]))
  const late = new Promise<unknown>((yes) => (resolveLate = yes))
  result.catch(() => {})
  return {
    id: message.id,
    name,
    message,
    request: null,
    listener,
    result,
    late,
    settle({ value, error }) {
      resolveLate(error ? null : value)
      if (error) reject(errorFromWire(error))
      else resolve(value)
    },
    lose: (loss) => reject(new CallLost(loss)),
    isSent: false,
    isGivenUp: false,
    seen: 0,
    unread: 0,
    told: 0,
    leaving: null,
    timer: null,
    orders: new Map(),
  }
}
