/** Words for bytes on their way out: which stream they came from, how they are shaped, how much of them is kept. */

/** `output` is the one stream of a run whose stdout and stderr share a pipe (true order) or a terminal. */
export type StreamName = 'stdout' | 'stderr' | 'output'

/** A piece of decoded, masked text as it arrives. `offset` is the byte offset of its start in its stream. */
export interface OutputChunk {
  readonly stream: StreamName
  readonly text: string
  readonly offset: number
  /** Bytes of this stream between the last piece and this one that an iterator lost because its reader was too slow. */
  readonly droppedBytes?: number
}

/** A piece of masked bytes as it arrives. Its memory is used again after the call: copy what is to be kept. */
export interface ByteChunk {
  readonly stream: StreamName
  readonly bytes: Uint8Array
  readonly offset: number
}

/**
 * What a reader of bytes answers: nothing, `closed` when it takes no more of this stream, or a
 * pipe (`/proc/PID/fd/N`) into which the rest of stdout may go without passing through here.
 * Where something has to be masked or is looked at, it comes through here all the same.
 */
export type Taken = void | 'closed' | { readonly into: string }

/** How the text of an Outcome is shortened. Every limit is "more than", never "at least". */
export type Clip =
  | { readonly kind: 'none' }
  | { readonly kind: 'head'; readonly maxChars: number }
  | { readonly kind: 'middle'; readonly maxBytes: number; readonly endBytes: number }
  | { readonly kind: 'ends'; readonly maxChars: number }

export type AnsiMode = 'keep' | 'strip'
export type ProgressMode = 'keep' | 'collapse'
/**
 * `describe` says in one line what binary output is, shows control characters as `\x07`, and
 * keeps the bytes in the file.
 */
export type BinaryMode = 'keep' | 'describe'
export type StreamsMode = 'separate' | 'merged'
