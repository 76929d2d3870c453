/** What the guard says about a command, and why. */

export type Decision = 'allow' | 'ask' | 'deny'

/** A node of the readable tree that `cerith check` prints: what was seen, what it was unwrapped to. */
export interface Explained {
  readonly label: string
  readonly note?: string
  readonly decided?: boolean
  readonly children?: readonly Explained[]
}

/** What a command would leave behind in a session, as far as the guard can tell; fed to the next call's guard. */
export interface ShellMutations {
  readonly variables: Readonly<Record<string, string | null>>
  readonly aliases: Readonly<Record<string, string | null>>
  readonly functions: Readonly<Record<string, string | null>>
}

export interface Verdict {
  readonly decision: Decision
  readonly rule: string | null
  readonly reason: string | null
  readonly guidance: string | null
  /** The words that decided. */
  readonly words: readonly string[]
  /** Every effective argv that was seen after unwrapping. */
  readonly commands: readonly (readonly string[])[]
  /** True for the catastrophic rules (their texts say "dangerous"). */
  readonly dangerous: boolean
  readonly tree: Explained
  readonly mutations: ShellMutations
  readonly facts: {
    /** False when the text could not be parsed completely. */
    readonly parsedOk: boolean
    /** Stages of the last pipeline of the last line (1 = no pipe). */
    readonly lastPipelineStages: number
    /** Name of the last simple command ("grep" in `a | grep b`), when it is constant. */
    readonly finalCommand: string | null
    readonly endsInBackground: boolean
  }
}
