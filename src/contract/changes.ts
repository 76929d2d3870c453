/** What commands of a try changed, and what became of it. The originals are as they were until a change is accepted. */
import type { AskFunction, Door } from './request.js'

export type ChangeKind = 'added' | 'changed' | 'deleted' | 'replaced'
export type ChangedType = 'file' | 'directory' | 'link' | 'pipe' | 'socket' | 'device'

/** One side of a change. */
export interface ChangedFile {
  readonly type: ChangedType
  /** Permission bits. */
  readonly mode: number
  readonly size: number
  /** Where a link leads. */
  readonly target: string | null
}

export interface Change {
  /** Absolute. Bytes that are no UTF-8 and control characters stand as `\xNN`. */
  readonly path: string
  /** `replaced`: something of another type stands there now. A deleted directory is one change. */
  readonly kind: ChangeKind
  readonly before: ChangedFile | null
  readonly after: ChangedFile | null
  /** What of it differs. */
  readonly parts: readonly ('content' | 'mode' | 'owner' | 'attributes')[]
  /** The original changed since the try began, in words; it is overwritten only with `force`. */
  readonly conflict: string | null
  /** Other programs of the person would run or believe it: accepted only when that is said. */
  readonly protected: boolean
  /** Why it can never be accepted: sockets, named pipes, devices. */
  readonly refused: string | null
  /** Worth knowing: a link that leads outside, other names of the same file. */
  readonly notes: readonly string[]
  /** With `text`: a unified diff; null for what is no text, or too large. */
  readonly diff?: string | null
}

export interface Changes {
  /** Of the try. */
  readonly id: string
  readonly roots: readonly string[]
  readonly startedAt: number
  /** Unless it is used or accepted before, it is removed by then. */
  readonly keptUntil: number
  /** Of everything that is listed: `accept` can be bound to it. */
  readonly digest: string
  readonly changes: readonly Change[]
}

export interface ChangesOptions {
  /** Default: the try of the engine. */
  readonly id?: string
  /** Files and directories; everything below a directory counts. Default: all. */
  readonly paths?: readonly string[]
  /** With a unified diff for each text. Default false. */
  readonly text?: boolean
}

export interface AcceptOptions extends Omit<ChangesOptions, 'text'> {
  /** Also where the original changed underneath. */
  readonly force?: boolean
  /** Also protected names. */
  readonly protected?: boolean
  /** Nothing is accepted when what would be is not this any more. */
  readonly digest?: string
  readonly signal?: AbortSignal
  /** Who is asked. Default: the engine's. */
  readonly ask?: AskFunction
  readonly door?: Door
  /** How long an answer from elsewhere is waited for, as in a request. */
  readonly approvalWaitMs?: number
}

export interface Accepted {
  readonly id: string
  readonly accepted: readonly string[]
  /** What was not, each with the reason. It stays in the try. */
  readonly kept: readonly { readonly path: string; readonly reason: string }[]
  /** How many changes the try still holds. */
  readonly left: number
  /** Set when no change was accepted because the person said no, or none could be asked. */
  readonly refused: { readonly rule: string; readonly reason: string; readonly guidance: string } | null
  readonly approvalId: string | null
}

export interface Discarded {
  readonly id: string
  readonly discarded: readonly string[]
}

/** A try as a list shows it. */
export interface TryInfo {
  readonly id: string
  readonly roots: readonly string[]
  readonly startedAt: number
  readonly usedAt: number
  readonly keptUntil: number
  /** Commands live in its room. */
  readonly inUse: boolean
}
