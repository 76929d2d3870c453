/**
 * What a command in a sandbox may see, write and reach. The words of the settings `sandbox.*`, the same in every door.
 */

/** From the loosest to the strictest. */
export const SANDBOX_PROFILES = ['off', 'workspace', 'read-only', 'strict'] as const
export type SandboxProfile = (typeof SANDBOX_PROFILES)[number]

/** From the loosest to the strictest. */
export const SANDBOX_NETWORKS = ['all', 'allow-list', 'none'] as const
export type SandboxNetwork = (typeof SANDBOX_NETWORKS)[number]

/** Limits of a whole room, all of its commands together. */
export interface SandboxLimits {
  readonly memoryBytes?: number
  readonly processes?: number
  /** Processors' worth of time: 1.5 is one and a half. */
  readonly cpus?: number
  /** What `/tmp` of the room holds at most. */
  readonly tmpBytes?: number
}

export interface SandboxOptions {
  /** `off` (default), `read-only`, `workspace` or `strict`; see docs/sandbox.md. */
  readonly profile: SandboxProfile
  /** Default `none`: a loopback of the room's own and nothing else. */
  readonly network?: SandboxNetwork
  /** With `allow-list`: host names, or `.example.com` for everything below it. */
  readonly domains?: readonly string[]
  /** Writable directories besides `roots` (or `cwd` where there are none). */
  readonly write?: readonly string[]
  /** Further paths that are not there for commands. */
  readonly hide?: readonly string[]
  /** Further names inside writable directories that stay read-only. */
  readonly protect?: readonly string[]
  /**
   * Read-only paths that are shown as they are, live: in `strict` what exists besides the
   * system, elsewhere what would be hidden.
   */
  readonly show?: readonly string[]
  /** Unix sockets that commands may connect to. A socket of a container engine gives the machine away. */
  readonly sockets?: readonly string[]
  /** Ports of the room that are reached on the machine's loopback under the same number. */
  readonly ports?: readonly number[]
  /** Let commands make user namespaces of their own (browsers, other sandboxes); the second wall is left out then. */
  readonly nested?: boolean
  readonly limits?: SandboxLimits
  /** What happens where no room can be built: `fail` (default), or `weaker`: Landlock and seccomp alone. */
  readonly unavailable?: 'fail' | 'weaker'
  /** Whether one command may be run outside after a person was asked. Default `ask`. */
  readonly outside?: 'ask' | 'never'
  /**
   * Writes in the roots land in a layer, and count when they are accepted. `true` goes on with the try of
   * the same roots that is not in use, or begins one; `'new'` begins one; an id goes on with that one.
   */
  readonly try?: boolean | string
  /** Whether `accept` asks a person (default), asks only about protected names, or is left to `cerith accept`. */
  readonly accept?: 'ask' | 'always' | 'never'
  /** A try that was not used for so many days is removed. Default 30. */
  readonly tryKeepDays?: number
  /** Which kind of wall to use; `landlock` is the weaker one, for tests and for machines without user namespaces. */
  readonly tier?: 'auto' | 'rooms' | 'landlock'
}

/** What the sandbox of an engine comes to on this machine; nothing is built for it. */
export interface SandboxSummary {
  readonly profile: Exclude<SandboxProfile, 'off'>
  readonly network: SandboxNetwork
  readonly domains: readonly string[]
  readonly writable: readonly string[]
  /** Of those that are there now. */
  readonly hidden: readonly string[]
  readonly protected: readonly string[]
  readonly ports: readonly number[]
  /** What its settings give away. */
  readonly warnings: readonly string[]
}

/** Where a command is confined. */
export interface SandboxPlace {
  readonly profile: Exclude<SandboxProfile, 'off'>
  readonly network: SandboxNetwork
  readonly tier: 'rooms' | 'landlock'
  /** Commands with the same room share loopback and `/tmp`. */
  readonly room: string
  /** The try that holds what the command wrote; null where it wrote for good. */
  readonly try: string | null
}

/** What was in force for a command. */
export interface SandboxFacts extends SandboxPlace {
  /** What the sandbox kept the command from, as far as it can be told from facts. */
  readonly blocked: readonly string[]
}
