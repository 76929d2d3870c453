/** A stage that text passes on its way to a reader, in pieces. */

/** What `push` holds back (an unfinished sequence, a line) comes with a later call. */
export interface TextStage {
  push(text: string): string
  flush(): string
}
