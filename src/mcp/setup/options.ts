/**
 * What the program that starts an MCP server may choose. The client sees none of it except through what the tools say.
 */
import type { EngineOptions } from '../../engine/services/options.js'
import type { ToolOptions } from '../../tools/options.js'

export interface McpOptions {
  /** How the tools are called and speak, where commands run, dry runs, environment. Default: the house dialect. */
  readonly tools?: Omit<ToolOptions, 'yieldMs' | 'ask' | 'door'>
  /**
   * A foreground command still running after so long goes on as a job. Default 45 s, because clients give up after 60.
   */
  readonly yieldMs?: number
  /** False: results carry text only, for hosts that would show the model everything twice. Default true. */
  readonly structured?: boolean
  /** False: a command that merely exits with another code than 0 is no error result. Default true. */
  readonly failedIsError?: boolean
  /** Upper bound of one serialized result. Default 1 MiB; readers of the SDK close the connection at 10 MiB. */
  readonly maxResultBytes?: number
  /**
   * How long a call waits for `cerith approve`, the page or a watching terminal when the client has no form to ask
   * with; never longer than `yieldMs`. Default: 40 s while a page or `cerith approve --watch` is open, else not at all.
   */
  readonly approvalWaitMs?: number
  /** How long a person may think about a form of the client. Default 5 minutes. */
  readonly approvalMs?: number
  /** Progress: no more often than this. Default 500 ms. */
  readonly progressEveryMs?: number
  /** Progress: a sign of life at least this often. Default 10 s. */
  readonly heartbeatMs?: number
  /** Updates of one resource: no more often than this. Default 1 s. */
  readonly updateEveryMs?: number
  /** Background shells of an HTTP connection that is gone are ended after so long. Default 1 hour; 0: never. */
  readonly orphanMs?: number
  /** Where things go that only a person can use. Default: one line on stderr. */
  readonly log?: (line: string) => void
}

/** Options of a server that makes (and closes) its own engine. */
export interface ServeOptions extends McpOptions {
  readonly engine?: EngineOptions
}

export type Settings = Required<Omit<McpOptions, 'approvalWaitMs'>> & { readonly approvalWaitMs: number | null }

export function settingsOf(options: McpOptions): Settings {
  return {
    tools: options.tools ?? {},
    yieldMs: options.yieldMs ?? 45_000,
    structured: options.structured ?? true,
    failedIsError: options.failedIsError ?? true,
    // Below 16 KiB not even the facts of a long list would fit.
    maxResultBytes: Math.max(16_384, options.maxResultBytes ?? 1_048_576),
    approvalWaitMs: options.approvalWaitMs ?? null,
    approvalMs: options.approvalMs ?? 300_000,
    progressEveryMs: options.progressEveryMs ?? 500,
    heartbeatMs: options.heartbeatMs ?? 10_000,
    updateEveryMs: options.updateEveryMs ?? 1_000,
    orphanMs: options.orphanMs ?? 60 * 60_000,
    log: options.log ?? ((line) => void process.stderr.write(`${line}\n`)),
  }
}
