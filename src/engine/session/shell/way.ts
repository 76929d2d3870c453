/** A way to have a command done. */
export interface Way {
  readonly line: Uint8Array
  /** What the line sources; null when the command is typed as it is. */
  readonly file: string | null
  /** Whether the shell had the builtin of ours. */
  readonly loaded: boolean
  /** How to do it when the builtin of ours declines. */
  readonly otherwise: (() => Way) | null
}
