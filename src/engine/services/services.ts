/**
 * What the parts of an engine share: its settings, its launcher, its guard, its secrets. One
 * object, made once, passed down.
 */
import type { AuditSink } from './audit-sink.js'
import type { RunHandle } from '../../contract/engine.js'
import type { AskFunction, AutomationRule, Door, RunRequest } from '../../contract/request.js'
import type { Verdict } from '../../contract/verdict.js'
import type { GuardContext } from '../../guard/policy/context.js'
import type { Bash } from '../../os/user/bash.js'
import type { Launcher } from '../../os/helper/launcher.js'
import type { Questions } from '../../audit/questions.js'
import type { LiveCalls } from './live-calls.js'
import type { SpillFile } from '../../os/files/spill.js'
import type { PlannedEnvironment } from '../../env/filter.js'
import type { Sandbox, Stay } from './sandbox/sandbox.js'
import type { Seen } from '../../os/files/paths.js'
import type { Tries } from './sandbox/tries.js'
import type { SecretStore } from './secret-store.js'
import type { EngineLimits, EngineOptions } from './options.js'
import type { Directories } from './world.js'

export interface Services {
  readonly id: string
  readonly options: EngineOptions
  readonly limits: EngineLimits
  readonly cwd: string
  readonly roots: readonly string[] | null
  readonly baseEnv: Readonly<Record<string, string | undefined>>
  readonly bash: Bash
  readonly launcher: Launcher
  /** What the shells of sessions load to start programs with; null where they do without. */
  readonly shellBuiltin: string | null
  /** Code (latin1) with the functions and aliases of the user's login shell, for new sessions. */
  readonly setUp: string | null
  /** Variables of directories; null where none are wanted. */
  readonly directories: Directories | null
  /** `$CERITH_HOME` and the folder of this engine in it, which goes away with the engine. */
  readonly stateDir: string
  readonly runDir: string
  readonly secrets: SecretStore
  /** Null: commands run with the rights of the user. */
  readonly sandbox: Sandbox | null
  /** The same, or one for the calls that ask for it. */
  sandboxFor(): Sandbox
  closeSandboxes(): Promise<void>
  /** Where a directory of a command is looked at: in the room of a try, else as it is. */
  readonly seen: Seen
  /** What commands wrote without it counting yet. */
  readonly tries: Tries
  /** Where one command or session stays in the sandbox; null for the engine as a whole. */
  readonly stay: Stay | null
  readonly audit: AuditSink | null
  readonly door: Door
  /** Where chunks are read into; shared, because reading and handling a chunk is one step. */
  readonly scratch: Uint8Array
  judge(
    command: string,
    context: Pick<GuardContext, 'cwd' | 'variables' | 'functions' | 'aliases' | 'held'> & { readonly home?: string },
    automation?: readonly AutomationRule[],
  ): Verdict | Promise<Verdict>
  ask: AskFunction | null
  /** Starts a command of a session outside the sandbox, in a shell of its own. */
  outside: ((request: RunRequest) => RunHandle) | null
  /** The environment of a request that asks for nothing special, built once. */
  usualEnvironment: PlannedEnvironment | null
  /** Variables of the engine's own that every command gets, e.g. where password prompts are answered. */
  readonly ownEnv: Readonly<Record<string, string>>
  /** A name for a short-lived file in the engine's folder, which is made again when it was removed. */
  runFile(kind: string): string
  openSpill(label: string): SpillFile | null
  /** Calls under way, and questions to a person: what other processes of the user may look at and answer. */
  readonly calls: LiveCalls
  readonly questions: Questions
  /** Foreground work that must be ended with the engine. */
  readonly live: Set<{ end(): Promise<void> }>
  /**
   * How a server of the same directory ended before this one: its host goes on, and must hear that the shells are new.
   */
  readonly succeeds: 'killed' | 'ended' | null
  readonly state: { closed: boolean }
}
