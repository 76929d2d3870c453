/** The machine as the policy asks about it. The os room looks at the real one; tests and fuzzing make their own. */

export type FileKind = 'directory' | 'file' | 'link' | 'socket' | 'other'

export interface Machine {
  /** The thing itself: a link is a link. Null where nothing is, or nothing can be seen. */
  kind(path: string): FileKind | null
  /** What a link says; null where there is none. */
  target(path: string): string | null
  /** Where a path leads in the end; null where it leads nowhere. */
  real(path: string): string | null
  /** Names in a directory; empty where there is none. */
  names(directory: string): readonly string[]
  /** Names of directories in a directory; a link is none. */
  directories(directory: string): readonly string[]
  /** The text of a small file; null where there is none. */
  text(path: string): string | null
  /** Where else these paths are seen, because a file system is mounted more than once. */
  elsewhere(paths: readonly string[]): readonly string[]
}
