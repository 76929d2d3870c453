/** Words for runs that are kept: what a job tells, how it is read, waited for and ended. */
import type { Note } from './note.js'
import type { SandboxPlace } from './sandbox.js'
import type { ProgressMode, StreamName, Taken } from './output.js'
import type { JobOwner, PtySize } from './request.js'
import type { End, Usage } from './outcome.js'

/** The six status words of the requirements, plus `lost` (the machine restarted, or its keeper was destroyed). */
export type JobStatus = 'pending' | 'running' | 'completed' | 'failed' | 'timeout' | 'killed' | 'lost'

export interface JobInfo {
  readonly id: string
  readonly status: JobStatus
  readonly isRunning: boolean
  /** As asked for, secret tokens unresolved. */
  readonly command: string
  readonly description: string | null
  readonly cwd: string
  readonly owner: JobOwner
  readonly pid: number | null
  readonly pgid: number | null
  readonly end: End | null
  readonly exitCode: number | null
  readonly signal: string | null
  /** Epoch milliseconds. */
  readonly startedAt: number
  readonly endedAt: number | null
  readonly durationMs: number
  readonly outputFile: string
  readonly streams: 'separate' | 'merged'
  readonly pty: boolean
  readonly bytes: { readonly total: number; readonly omitted: number }
  /** False when output could not be stored (disk full). */
  readonly outputComplete: boolean
  /** Null while it runs. */
  readonly usage: Usage | null
  readonly notes: readonly Note[]
  readonly labels: Readonly<Record<string, string>>
  /** The engine that started it, and the session whose state it began with or came from. */
  readonly engine: string
  readonly session: string | null
  /** What confines it; null where nothing does. */
  readonly sandbox: SandboxPlace | null
}

export interface ReadOptions {
  /** Byte offset to read from; default 0. For separate streams see `stream`. */
  readonly since?: number
  readonly maxBytes?: number
  /** Default: `output` when merged, else `stdout`. */
  readonly stream?: StreamName
  /** Regular expression; keeps whole matching lines. */
  readonly filter?: string
  readonly before?: number
  readonly after?: number
  /** Only the last so many lines of the range. */
  readonly tail?: number
  readonly ansi?: 'keep' | 'strip'
  /** `collapse` shows redrawn lines as a terminal would show them at the end of this range. Default `keep`. */
  readonly progress?: ProgressMode
  /**
   * `latin1` gives every byte as one character of `text`, so that none is lost; it does not go
   * with a filter or `collapse`. Default `utf8`.
   */
  readonly encoding?: 'utf8' | 'latin1'
}

export interface ReadResult {
  readonly text: string
  /** Pass as `since` to read what comes next. */
  readonly cursor: number
  readonly start: number
  /** Bytes between `since` and `start` that are no longer kept. */
  readonly omittedBytes: number
  readonly totalBytes: number
  /** With a filter: how many lines matched. */
  readonly matches: number | null
}

export interface WaitOptions {
  /** Wait for the end of the job (also when nothing else is asked). */
  readonly exit?: boolean
  /** Wait until a line (new since `since`) matches. */
  readonly until?: RegExp | string
  readonly port?: number
  readonly idleMs?: number
  /** Wait until it waits for typed input (a terminal, or an open stdin); `match` is then its prompt. */
  readonly input?: boolean
  readonly file?: string
  readonly since?: number
  /**
   * Where lines of stderr count from when the streams are apart. Default: 0, or with `since` what comes from now on.
   */
  readonly sinceStderr?: number
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

export interface WaitResult {
  /** What came true first. */
  readonly reason: 'exit' | 'until' | 'port' | 'idle' | 'file' | 'timeout' | 'aborted' | 'input'
  readonly match: string | null
  readonly info: JobInfo
}

export interface KillOptions {
  /** TERM (default) and KILL end the whole tree; any other signal is only delivered to the group. */
  readonly signal?: string
  readonly graceMs?: number
  /** What the record says about the reason. Default `caller` (status killed). */
  readonly why?: 'caller' | 'timeout'
  /** Who ends it, for the audit log. */
  readonly by?: string
}

export interface KillResult {
  readonly info: JobInfo
  readonly alreadyStopped: boolean
  readonly forced: boolean
  /** Processes that could not be ended, and other things worth telling. */
  readonly notes: readonly Note[]
}

export type JobEvent =
  | { readonly kind: 'started'; readonly info: JobInfo }
  | { readonly kind: 'output'; readonly id: string; readonly stream: StreamName; readonly totalBytes: number }
  | { readonly kind: 'ended'; readonly info: JobInfo }

/** What a person would see on the job's terminal. */
export interface Screen {
  readonly text: string
  readonly cursor: { readonly row: number; readonly col: number }
  readonly title: string
  readonly size: { readonly cols: number; readonly rows: number }
  readonly version: number
  /** Rows that changed since the version asked for. */
  readonly changedRows: readonly number[]
  readonly alternate: boolean
}

/** Input for a running command: text (secret tokens are resolved), keys by name, or the end of input. */
export interface SendOptions {
  readonly text?: string
  readonly keys?: readonly string[]
  readonly enter?: boolean
  readonly eof?: boolean
  /** Who types, for the transcript of a shared terminal. */
  readonly by?: string
}

/** What a running job does that its output may not say. */
export interface Doing {
  /** Addresses that its processes listen on: `127.0.0.1:5173`. */
  readonly listening: readonly string[]
  /** Set while it waits for typed input. */
  readonly waitingForInput: { readonly prompt: string; readonly hidden: boolean } | null
}

/** A terminal on the terminal of a job. */
export interface Attachment {
  /** Resolves when the job has ended, or after `leave`. */
  readonly done: Promise<'ended' | 'left'>
  /** Raw bytes as the keyboard sent them. */
  type(bytes: Uint8Array): void
  resize(size: PtySize): Promise<void>
  leave(): Promise<void>
}

export interface AttachOptions {
  /** The name of the person who types, for the notes of the job. */
  readonly by: string
  /**
   * Gets what the terminal shows. Its promise holds further output back (the job goes on);
   * `closed` ends the attachment.
   */
  readonly show: (text: string) => Taken | Promise<Taken>
  /** The size of the terminal that shows it; the job takes it over. Null: there is no terminal. */
  readonly size: PtySize | null
  /** Only watch: neither keys nor sizes reach the job. */
  readonly readOnly: boolean
}

export interface Job {
  readonly id: string
  info(): Promise<JobInfo>
  read(options?: ReadOptions): Promise<ReadResult>
  wait(options?: WaitOptions): Promise<WaitResult>
  kill(options?: KillOptions): Promise<KillResult>
  send(options: SendOptions): Promise<void>
  resize(size: { cols: number; rows: number }): Promise<void>
  screen(options?: { since?: number }): Promise<Screen>
  /** One look at its processes; empty when it has ended. */
  doing(): Promise<Doing>
  /** Shows the job's terminal and types into it; the job does not notice. */
  attach(options: AttachOptions): Promise<Attachment>
  /** Output and end of this job as they come; ends with the job. */
  events(): AsyncIterable<JobEvent>
}
