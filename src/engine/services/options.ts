/** How an engine is set up. Every field is optional; the defaults are for one agent on its user's machine. */
import type { AskFunction, AutomationRule, Door, ResourceLimits } from '../../contract/request.js'
import { LIMITS } from '../../contract/limits.js'
import type { PolicyConfig } from '../../guard/policy/policy.js'
import type { SecretSource } from '../../contract/secret.js'
import type { SandboxOptions } from '../../contract/sandbox.js'
import type { ReachOptions } from '../../contract/place.js'
import type { DirectoryEnvOptions } from '../../os/user/directory-env.js'
import type { AuditSink } from './audit-sink.js'

export type EngineLimits = {
  -readonly [K in keyof typeof LIMITS]: (typeof LIMITS)[K] extends number ? number : (typeof LIMITS)[K]
}

/** Which prompt is answered with which secret. Without `prompt` every prompt of the program is. */
export interface AskpassRule {
  readonly program: 'sudo' | 'ssh' | 'git'
  readonly prompt?: RegExp
  /** The name of the secret, as in `{{secret:NAME}}`. */
  readonly secret: string
}

export interface EngineOptions {
  /** Where commands run unless told otherwise. Default: the host's current directory. */
  readonly cwd?: string
  /** Commands may only be started in these directories or below. Default: anywhere. */
  readonly roots?: readonly string[]
  /** The environment to start from. Default: the host's. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Set pagers, prompts and colours to non-interactive values. Default true. */
  readonly envDefaults?: boolean
  /** Let loader and interpreter hooks (LD_PRELOAD, NODE_OPTIONS ...) through. Default false. */
  readonly allowDangerousEnv?: boolean
  readonly keepEnv?: readonly string[]
  readonly dropEnv?: readonly string[]
  /** Take PATH from the user's login shell once (nvm, pyenv). Default false. */
  readonly pathFromLoginShell?: boolean
  /**
   * Begin with what the user's login shell sets up: its exported variables for every command,
   * its functions and aliases for sessions. Asked for once and kept in the state directory,
   * without secrets, until a start-up file changes. Default false.
   */
  readonly loginShell?: boolean
  /** Variables of the directory that a command runs in, by the rules of the user's own tools. Default: none. */
  readonly directoryEnv?: DirectoryEnvOptions
  /** A particular bash. Default: the first real one on PATH. */
  readonly bash?: string
  /** Default: `$CERITH_HOME`, `$XDG_STATE_HOME/cerith`, `~/.local/state/cerith`. */
  readonly stateDir?: string
  /** What commands may see, write and reach. Default: everything that the user may. */
  readonly sandbox?: SandboxOptions
  readonly policy?: PolicyConfig
  readonly protectedPaths?: readonly string[]
  readonly automation?: readonly AutomationRule[]
  readonly secretSources?: readonly SecretSource[]
  /**
   * Password prompts of `sudo -A`, ssh and git that are answered with a secret; the model neither sees nor types it.
   */
  readonly askpass?: readonly AskpassRule[]
  /** Answers `ask` verdicts. Without it they are refused. */
  readonly ask?: AskFunction
  /**
   * How long a call waits for a person's approval. Default: 40 s while a terminal or page is
   * open that can answer, otherwise not at all.
   */
  readonly approvalWaitMs?: number
  readonly limits?: Partial<EngineLimits>
  /** What any one command may use, with everything that it starts; a call may ask for less. Default: no limit. */
  readonly commandLimits?: ResourceLimits
  readonly audit?: AuditSink
  /**
   * Save named sessions in the state directory when the engine closes, and begin with what was saved. Default false.
   */
  readonly persistSessions?: boolean
  /** Record what sessions print, masked, in the state directory, so that it can be played again. Default false. */
  readonly recordSessions?: boolean
  readonly door?: Door
  /** Use the launcher without native code (the lower tier), e.g. in tests. */
  readonly tier?: 'auto' | 'plain'
  /**
   * Another place in which everything runs: `ssh://host`, `docker://name`, `podman://name`, `k8s://namespace/pod`,
   * `slurm://partition`, chains with `!`, or `loop:` (this machine, through a link). Default: this process's machine.
   */
  readonly at?: string
  readonly reach?: ReachOptions
  /** Where short-lived files (the state of sessions) stand. Default: in the state directory. */
  readonly runDir?: string
  /** `ask`: approvals come from `ask` alone, never from files in the state directory. Default `files`. */
  readonly approvals?: 'files' | 'ask'
}
