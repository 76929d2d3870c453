/** The root entry of cerith: the engine and its words. Exports are chosen by hand; each one is a promise. */
export { createEngine } from './setup/create-engine.js'
export { createFleet, type Fleet, type FleetMember, type FleetOptions, type FleetPlace } from './reach/fleet.js'
export { ShellManager, type ShellProcess, type ShellStatus } from './engine/shell-manager.js'
export type { AskpassRule, EngineOptions } from './engine/services/options.js'
export { ShellError, type ShellErrorCode } from './contract/errors.js'
export type { Note, NoteCode } from './contract/note.js'
export {
  outcomeToJson,
  statusOf,
  type End,
  type Outcome,
  type Status,
  type Refusal,
  type PlanSummary,
} from './contract/outcome.js'
export type {
  Accepted,
  AcceptOptions,
  Change,
  ChangedFile,
  ChangedType,
  ChangeKind,
  Changes,
  ChangesOptions,
  Discarded,
  TryInfo,
} from './contract/changes.js'
export type { Engine, RunHandle, Session, SessionInfo } from './contract/engine.js'
export type {
  Attachment,
  AttachOptions,
  Job,
  JobEvent,
  JobInfo,
  JobStatus,
  KillResult,
  ReadOptions,
  ReadResult,
  Screen,
  SendOptions,
  WaitOptions,
  WaitResult,
} from './contract/job.js'
export type { ApprovalAnswer, ApprovalQuestion, AskFunction, RunRequest, StartRequest } from './contract/request.js'
export type { LinkEvent, PlaceInfo, ReachOptions } from './contract/place.js'
export type { Clip, OutputChunk, StreamName } from './contract/output.js'
export type { Verdict, Decision } from './contract/verdict.js'
export { quoteArgv as quote } from './contract/quote.js'
export { LIMITS } from './contract/limits.js'
