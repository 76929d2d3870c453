/** Words for bytes on their way out: which stream they came from, how they are shaped, how much of them is kept. */

/** `output` is the one stream of a run whose stdout and stderr share a pipe (true order) or a terminal. */
export type StreamName = 'stdout' | 'stderr' | 'output'

/** A piece of decoded, masked text as it arrives. `offset` is the byte offset of its start in its stream. */
export interface OutputChunk {
  readonly stream: StreamName
  readonly text: string
  readonly offset: number
}

/** How the text of an Outcome is shortened. Every limit is "more than", never "at least". */
export type Clip =
  | { readonly kind: 'none' }
  | { readonly kind: 'head'; readonly maxChars: number }
  | { readonly kind: 'middle'; readonly maxBytes: number; readonly endBytes: number }
  | { readonly kind: 'ends'; readonly maxChars: number }

export type AnsiMode = 'keep' | 'strip'
export type ProgressMode = 'keep' | 'collapse'
/** `describe` says in one line what binary output is, shows control characters as `\x07`, and keeps the bytes in the file. */
export type BinaryMode = 'keep' | 'describe'
export type StreamsMode = 'separate' | 'merged'
