/** What the host of the tools may choose; the model sees none of it. */
import type { AnsiMode, BinaryMode, ProgressMode } from '../contract/output.js'
import type { AskFunction, AutomationRule, Door, ResourceLimits } from '../contract/request.js'
import type { Timeouts } from './dialect.js'
import type { DialectName } from './dialects/index.js'

export interface ToolOptions {
  /** Default `house`. */
  readonly dialect?: DialectName
  /** Where commands run. Default: the engine's directory. */
  readonly cwd?: string
  /** The session that dialects with state run in. Default `main`. */
  readonly session?: string
  /** Look, decide, and run nothing. */
  readonly dryRun?: boolean
  readonly env?: Readonly<Record<string, string>>
  /** `replace` starts from an empty environment. Default `merge`. */
  readonly envMode?: 'merge' | 'replace'
  /**
   * Features of the host whose command line is blocked in favour of its tools (`cron`,
   * `background`, `workflow`). Default: all on.
   */
  readonly features?: Readonly<Record<string, boolean>>
  readonly timeouts?: Partial<Timeouts>
  readonly graceMs?: number
  readonly ansi?: AnsiMode
  /** Default `collapse`, except in dialects that show output as it came: a redrawn line is shown once. */
  readonly progress?: ProgressMode
  /** Default `describe`, except in dialects that show output as it came: one line says what binary output is. */
  readonly binary?: BinaryMode
  /** A foreground command still running after so long becomes a job; also the longest that a wait blocks. */
  readonly yieldMs?: number
  readonly ask?: AskFunction
  /** How long a call waits for a person's approval. Default: the engine's. */
  readonly approvalWaitMs?: number
  /** What any one command may use, with everything that it starts; never more than the engine allows. */
  readonly limits?: ResourceLimits
  readonly door?: Door
  /** Further programs whose command line is to be used through tools. */
  readonly automation?: readonly AutomationRule[]
  /** False: starting a job is an error. */
  readonly background?: boolean
}
