/** The shapes in which output is handed from one room to the next. */
export type { OutputChunk, StreamName } from '../contract/output.js'

/** What is kept of a stream: its first bytes and its last bytes. With nothing omitted, head and tail are adjacent. */
export interface Kept {
  readonly head: Uint8Array
  readonly tail: Uint8Array
  readonly omittedBytes: number
  readonly totalBytes: number
}

/** One contiguous range of a stream. `lostBefore` counts the bytes that were asked for and are no longer kept. */
export interface Slice {
  readonly bytes: Uint8Array
  readonly start: number
  readonly end: number
  readonly lostBefore: number
}

/**
 * Text on its way out, made piece by piece. What `push` holds back (an unfinished sequence, a
 * line) comes with a later call.
 */
export interface TextStage {
  push(text: string): string
  flush(): string
}
