/**
 * What a caller may ask for. One flat object per verb; every field optional but `command`; defaults live in limits.ts.
 */
import type { AnsiMode, BinaryMode, ByteChunk, Clip, OutputChunk, ProgressMode, StreamsMode, Taken } from './output.js'
import type { SandboxOptions } from './sandbox.js'
import type { Verdict } from './verdict.js'

/** Which door a request came through, for the audit log and for texts. */
export type Door = 'library' | 'cli' | 'mcp' | 'tools' | 'hook'

export interface PtySize {
  readonly cols: number
  readonly rows: number
}

/** Asks a person; `null` means that none could be asked. */
export type AskFunction = (question: ApprovalQuestion) => Promise<ApprovalAnswer | null>

export interface ApprovalQuestion {
  readonly id: string
  readonly command: string
  readonly cwd: string
  readonly session: string | null
  readonly verdict: Verdict
  /** Aborted when the question was answered elsewhere (a terminal, the page): stop asking. */
  readonly signal?: AbortSignal
}

export type ApprovalAnswer = 'once' | 'session' | 'deny'

export const APPROVAL_ANSWERS: readonly unknown[] = ['once', 'session', 'deny'] satisfies ApprovalAnswer[]

export function isAnswer(as: unknown): as is ApprovalAnswer {
  return APPROVAL_ANSWERS.includes(as)
}

export interface RunRequest {
  /** A bash command line, or an argv that cerith quotes itself. */
  readonly command: string | readonly string[]
  /** Absolute, or relative to the engine's (in a session: to the session's) directory. */
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** `replace` starts from an empty environment plus `env`. Default `merge`. */
  readonly envMode?: 'merge' | 'replace'
  /** Null = no limit. Default 120,000. */
  readonly timeoutMs?: number | null
  /** Between the polite signal and SIGKILL. Default 2,000. */
  readonly graceMs?: number
  readonly signal?: AbortSignal
  /** Text or bytes for stdin; without it stdin is empty. */
  readonly input?: string | Uint8Array
  /** `merged` gives stdout and stderr the same pipe: true order, one `output`. Default `separate`. */
  readonly streams?: StreamsMode
  readonly ansi?: AnsiMode
  /** `collapse` shows a redrawn line as a terminal would show it at the end. Default `keep`. */
  readonly progress?: ProgressMode
  /** Default `keep`. */
  readonly binary?: BinaryMode
  readonly clip?: Clip
  readonly dryRun?: boolean
  readonly pty?: boolean | PtySize
  /** With `pty`: record the terminal into this file (asciicast v2, masked). */
  readonly record?: string
  /** Called with each piece of (masked, decoded) output as it comes. */
  readonly onOutput?: (chunk: OutputChunk) => void
  /**
   * Called with each piece of masked bytes as it comes, neither decoded nor shaped. A promise
   * holds the command back until it settles, as a slow reader of a pipe does. `closed` closes the
   * stream: the command's next write to it fails (SIGPIPE); in a session and on a terminal the
   * command is killed instead. What was given away like this is not written to an output file.
   */
  readonly onBytes?: (chunk: ByteChunk) => Taken | Promise<Taken>
  /** After so long a command still running becomes a job and the Outcome says `running`. Default: never. */
  readonly yieldMs?: number
  /** What a timeout does. Default `kill`. */
  readonly onTimeout?: 'kill' | 'background'
  /**
   * Whose the job is that it becomes by `yieldMs` or `onTimeout`: it ends with the engine
   * (`manager`, the default) or lives on (`detached`).
   */
  readonly owner?: JobOwner
  /** What it may use, with everything that it starts; never more than the engine allows. */
  readonly limits?: ResourceLimits
  /** Tell within about a second of silence when the command waits for input, instead of waiting for the timeout. */
  readonly reportInput?: boolean
  readonly description?: string
  /** Kept with the run, e.g. by a tool layer; returned in JobInfo. */
  readonly labels?: Readonly<Record<string, string>>
  /** Makes the id of a job that this run becomes. Default `shell_` + 8 hex. */
  readonly newId?: () => string
  readonly door?: Door
  /** The client that asks, e.g. the name of an MCP client: shown in the audit log, `cerith ps` and the page. */
  readonly client?: string
  /** Run this one command outside the engine's sandbox, for this reason: a person is always asked. */
  readonly outside?: string
  /** A stricter sandbox than the engine's, for this command alone. */
  readonly sandbox?: Partial<SandboxOptions>
  /** Overrides the engine's ask function for this call. */
  readonly ask?: AskFunction
  /** How long this call waits for a person's approval; 0: not at all. Default: the engine's. */
  readonly approvalWaitMs?: number
  /** Skips the ask step with an approval that was given for exactly this command, cwd and environment. */
  readonly approvalId?: string
  /** Over a link: a second call with the same key and the same words gets the first one's outcome, for ten minutes. */
  readonly key?: string
  /** Program guards of the calling dialect (own automation), added to the engine's. */
  readonly automation?: readonly AutomationRule[]
}

export type JobOwner = 'manager' | 'detached'

export interface StartRequest extends Omit<
  RunRequest,
  'yieldMs' | 'onTimeout' | 'clip' | 'timeoutMs' | 'record' | 'outside'
> {
  /** `manager` jobs end with their engine; `detached` ones live on. Default `manager`. */
  readonly owner?: JobOwner
  /** Hard wall-clock limit kept by the job's keeper, also without an engine. Default none. */
  readonly timeoutMs?: number | null
  /** Bytes of output kept on disk (head + tail). */
  readonly maxStoredBytes?: number
  /** Keep stdin open for `job.send`. Default false: stdin is empty. */
  readonly openStdin?: boolean
  /** Start it with the state (cwd, variables, functions) of this session. */
  readonly session?: string
}

/**
 * Limits of one command and everything that it starts; the outcome says which of them ended it. Time is `timeoutMs`.
 */
export interface ResourceLimits {
  /** CPU time of all its processes together. */
  readonly cpuSeconds?: number
  /** Memory of all its processes together. */
  readonly memoryBytes?: number
  /** Processes at once. */
  readonly processes?: number
  /** The size of one file that it writes. In a session this one has no effect: `ulimit -f` sets it there. */
  readonly fileBytes?: number
}

/** A program whose subcommands are to be used through built-in tools, not through the shell. */
export interface AutomationRule {
  readonly program: string
  /** Empty = every invocation. */
  readonly subcommands: readonly string[]
  /** The tools to use instead, as text for the model. */
  readonly tools: string
  readonly feature: string
  readonly enabled: boolean
}
