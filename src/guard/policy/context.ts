/** What the guard is told about the shell and the machine before it reads a command. */
import type { ShellHoldings } from '../../contract/verdict.js'
import type { AutomationRule } from '../../contract/request.js'
import type { Policy } from './policy.js'
import type { KnownSecret } from './secrets.js'

export interface GuardContext {
  readonly cwd: string
  readonly home: string
  readonly tmp?: string
  /** What the session's shell is known to hold. */
  readonly variables?: Readonly<Record<string, string>>
  /** Function name to its text, as `declare -f` prints it or only the body. */
  readonly functions?: Readonly<Record<string, string>>
  readonly aliases?: Readonly<Record<string, string>>
  /** Positional parameters, arrays, references, the directory stack, hashed programs. */
  readonly held?: ShellHoldings
  /** Compiled with compilePolicy; the preset `open` when absent. */
  readonly policy?: Policy
  /** Directories in which the preset `careful` lets a command write; cwd when absent. */
  readonly roots?: readonly string[]
  /** Our own processes and our host's: killing them is refused. */
  readonly own?: { readonly pids: readonly number[]; readonly names: readonly string[] }
  /** Configuration, state and vault: never a target of writing. */
  readonly protectedPaths?: readonly string[]
  /** Files that no command may read, by all their names: the vault, its key, tokens. */
  readonly unreadablePaths?: readonly string[]
  /** Values that earlier calls gave to the shell: none of them may become code. */
  readonly secrets?: readonly KnownSecret[]
  /** Programs whose own tools should be used instead of their command line. */
  readonly automation?: readonly AutomationRule[]
  /** The command will run in a sandbox: what that makes harmless is not asked about. */
  readonly sandbox?: { readonly network: 'none' | 'allow-list' | 'all' }
  /** The real path behind symbolic links; undefined where nothing is. */
  readonly resolveSymlink?: ((path: string) => string | undefined) | undefined
}
