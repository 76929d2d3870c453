/** A tool as its caller sees it: a name, a description, two schemas, and one function that never throws. */
import type { AskFunction, Door } from '../contract/request.js'
import type { Format, FormattedTool } from './formats.js'
import type { DialectName } from './dialects/index.js'
import type { ObjectSchema, OutputSchema } from './schema/schema.js'

/** `text` is complete on its own, and so is `structured`: hosts show the model only one of the two. */
export interface ToolResult {
  readonly text: string
  readonly structured: Record<string, unknown>
  readonly isError: boolean
  /** It is an error only because the command ended by itself with another exit code than 0. */
  readonly failedByExit?: boolean
}

export interface CallOptions {
  /** Aborting is what Ctrl-C is to a person: the command's whole process group is ended. */
  readonly signal?: AbortSignal
  /** Called with each piece of output of a foreground command as it comes. */
  readonly onProgress?: (text: string) => void
  readonly ask?: AskFunction
  /** How long it waits for a person's approval. Default: the tools' own. */
  readonly approvalWaitMs?: number
  /** Kept with the job that this call starts. */
  readonly labels?: Readonly<Record<string, string>>
  /** The session of this call when its input names none. */
  readonly session?: string
  /** The reader sees no more characters than this; the clip keeps to it. */
  readonly maxChars?: number | null
  /** The same when the command failed. */
  readonly maxFailedChars?: number | null
  readonly door?: Door
  /** The reason why this one command is to run outside the sandbox; the tools read it from their own fields. */
  readonly outside?: string
  /** The client that calls, as `cerith ps`, the page and the audit log show it. */
  readonly client?: string
  /** Called when a wait for a line or a port ran out, by callers that can tell when it comes true after all. */
  readonly later?: (missed: MissedWait) => void
}

export interface MissedWait {
  readonly id: string
  readonly until?: string
  readonly port?: number
  /** Output before this byte was looked at. */
  readonly since: number
}

/**
 * For a read-only tool the protocol gives the destructive and idempotent hints no meaning, so they are left out there.
 */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint: boolean
}

/** A tool as a vendor or a host wants to see it, before anything can run. */
export interface ToolDefinition {
  readonly name: string
  readonly category: 'execution'
  readonly title: string
  readonly description: string
  readonly inputSchema: ObjectSchema
  readonly outputSchema: OutputSchema
  readonly annotations: ToolAnnotations
  /** What a vendor's own typed tool looks like in that vendor's format, when there is one. */
  readonly native?: { readonly [F in Format]?: FormattedTool<F> }
}

export interface Tool extends ToolDefinition {
  execute(input: unknown, options?: CallOptions): Promise<ToolResult>
}

/** The tools of one dialect, bound to one engine; owns the read cursors. */
export interface ToolSet extends Iterable<Tool> {
  readonly dialect: DialectName
  list(): readonly Tool[]
  get(name: string): Tool | undefined
  execute(name: string, input: unknown, options?: CallOptions): Promise<ToolResult>
  schemas<F extends Format>(format: F): FormattedTool<F>[]
}
