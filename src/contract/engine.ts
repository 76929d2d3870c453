/** The face of the engine that every door and dialect speaks to. */
import type { Accepted, AcceptOptions, Changes, ChangesOptions, Discarded, TryInfo } from './changes.js'
import type { Job, JobEvent, JobInfo } from './job.js'
import type { Outcome, PlanSummary } from './outcome.js'
import type { LinkEvent, PlaceInfo } from './place.js'
import type { OutputChunk } from './output.js'
import type { AskFunction, RunRequest, StartRequest } from './request.js'
import type { SandboxOptions, SandboxSummary } from './sandbox.js'
import type { Verdict } from './verdict.js'

/** A running foreground command: follow it, interrupt it, or turn it into a job. */
export interface RunHandle extends AsyncIterable<OutputChunk> {
  readonly pid: number | null
  readonly outcome: Promise<Outcome>
  /** What Ctrl-C would do. */
  interrupt(): void
  kill(): void
  /** Turns it into a job without losing a byte; resolves when `outcome` has settled as `running`. */
  toBackground(): Promise<Outcome>
}

export interface SessionInfo {
  readonly name: string
  readonly pid: number | null
  readonly cwd: string
  readonly busy: boolean
  readonly startedAt: number
  readonly calls: number
  readonly restarts: number
  /** Processes that earlier calls left running. */
  readonly leftovers: readonly { readonly pid: number; readonly command: string }[]
}

export interface Session {
  readonly name: string
  /** The shell's directory after the last command. */
  readonly cwd: string
  run(request: RunRequest): Promise<Outcome>
  stream(request: RunRequest): RunHandle
  info(): Promise<SessionInfo>
  /** Starts over: a new shell without the old state. */
  restart(): Promise<void>
  /** A session of another name with a copy of this one's state: directory, variables, functions, options. */
  fork(name: string): Promise<Session>
  close(): Promise<void>
}

export interface Engine {
  readonly id: string
  readonly cwd: string
  /** The resolved bash and its version, for descriptions. */
  readonly shell: { readonly path: string; readonly version: string }
  /** What commands are confined to; null where they have the rights of the user. */
  readonly sandbox: SandboxOptions | null
  /** A fresh shell per call. */
  run(request: RunRequest): Promise<Outcome>
  stream(request: RunRequest): RunHandle
  /** A shell that remembers; the same name gives the same session. Default name `main`. */
  session(name?: string): Promise<Session>
  sessions(): Promise<readonly SessionInfo[]>
  /** Throws REFUSED when the guard, a person or a dry run kept it from starting; `begin` says so with a value. */
  start(request: StartRequest): Promise<Job>
  begin(request: StartRequest): Promise<{ readonly job: Job } | { readonly outcome: Outcome }>
  /** Any job in the state directory; throws JOB_NOT_FOUND with the ids that exist. */
  job(id: string): Promise<Job>
  jobs(options?: { readonly all?: boolean }): Promise<readonly JobInfo[]>
  clean(options?: { readonly olderThanMs?: number }): Promise<{ readonly removed: readonly string[] }>
  /** What the guard says, without running anything. */
  check(
    command: string | readonly string[],
    options?: {
      readonly session?: string
      readonly cwd?: string
      /** The home directory to judge for; `cwd` need not exist then. */
      readonly home?: string
    },
  ): Promise<Verdict>
  /** What the sandbox comes to on this machine, without building it; null where there is none. */
  sandboxPolicy(): Promise<SandboxSummary | null>
  plan(request: RunRequest & { readonly session?: string }): Promise<PlanSummary>
  readonly secrets: {
    set(name: string, value: string | Uint8Array): void
    setDecrypted(id: string, value: string | Uint8Array): void
    delete(name: string): void
    clear(): void
    /** What `{{secret:NAME}}` may name, as far as the sources tell without asking a person. */
    names(): readonly string[]
    /** Masks every known value in a text that is about to leave through a door. */
    mask(text: string): string
  }
  /** Tries of the state directory, the one that was used last first. */
  tries(): Promise<readonly TryInfo[]>
  /** What commands changed in a try; throws TRY_NOT_FOUND where nothing was tried. */
  changes(options?: ChangesOptions): Promise<Changes>
  /**
   * Makes changes of a try count. Asks a person, unless `sandbox.accept` says otherwise. Idle
   * sessions leave its room and keep their state.
   */
  accept(options?: AcceptOptions): Promise<Accepted>
  /** Removes a try with everything in it. */
  discard(options?: { readonly id?: string }): Promise<Discarded>
  /** Events of all jobs. Returns the unsubscribe function. */
  onJobEvent(listener: (event: JobEvent) => void): () => void
  setAsk(ask: AskFunction | null): void
  /** Where commands run when that is not this machine; null here. */
  readonly place: PlaceInfo | null
  /** News of the link to another place; an engine of this machine has none. Returns the unsubscribe function. */
  onLink(listener: (event: LinkEvent) => void): () => void
  /** What came of a call that a cut link kept from its caller (`end.link.call`); null when no such call is known. */
  recover(call: string): Promise<Outcome | null>
  close(): Promise<void>
}

/** The part of an engine that looks at jobs and steps in. */
export type JobsView = Pick<Engine, 'id' | 'job' | 'jobs' | 'sessions' | 'place'>
