/** What all hosts' hooks have in common: a shell command that is about to run, and a decision about it. */
import { isRecord } from '../contract/attempt.js'

/** A command that the host's own shell tool wants to run. */
export interface HookCall {
  readonly command: string
  readonly cwd: string
  /** The host's name of the conversation; null where it tells none. */
  readonly session: string | null
  /** The tool's input as it came, for hosts that want it back changed. */
  readonly input: Readonly<Record<string, unknown>>
  /** `permission`: the host is about to ask the person. */
  readonly moment: 'before' | 'permission'
}

/**
 * `none` leaves the decision to the host. `allow` skips the host's question. `ask` makes the
 * host put its question, with this reason. `run` lets another command run in its place.
 */
export type HookDecision =
  | { readonly kind: 'none' }
  | { readonly kind: 'allow'; readonly reason: string }
  | { readonly kind: 'ask'; readonly reason: string }
  | { readonly kind: 'deny'; readonly reason: string }
  | { readonly kind: 'run'; readonly command: string; readonly allowed: boolean }

/** What the hook's process prints and how it ends. */
export interface HookReply {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
}

/** A message that is not what the host's documentation says. */
export class HookMessageError extends Error {}

export interface HookHost {
  readonly title: string
  /** Null: the message is about something else than a shell command. Throws HookMessageError where it is broken. */
  read(message: Readonly<Record<string, unknown>>, cwd: string): HookCall | null
  write(decision: HookDecision, call: HookCall): HookReply
  /** A message about a command as this host would send it. */
  example(command: string, cwd: string): Readonly<Record<string, unknown>>
  /** How this host hears that nothing may run: used when the message could not be read. */
  block(reason: string): HookReply
  readonly settings: HookSettings
}

/** Where the host keeps its hooks, and how an entry looks there. */
export interface HookSettings {
  /** Relative to the home directory or to the project; null where the host has no such place. */
  readonly user: string | null
  readonly project: string | null
  /** A variable that names another folder in place of the first part of `user`. */
  readonly homeVariable?: string
  /** Further keys of a new file. */
  readonly fresh?: Readonly<Record<string, unknown>>
  entries(command: string): readonly { readonly event: string; readonly entry: Readonly<Record<string, unknown>> }[]
  /** What the person has to do besides. */
  readonly afterwards?: string
}

export const SILENT: HookReply = { stdout: '', stderr: '', exitCode: 0 }

export function json(value: object): HookReply {
  return { stdout: `${JSON.stringify(value)}\n`, stderr: '', exitCode: 0 }
}

/** Exit code 2 blocks in Claude Code, Codex, Gemini CLI and VS Code; what stands on stderr reaches the model. */
export function exit2(reason: string): HookReply {
  return { stdout: '', stderr: `${reason}\n`, exitCode: 2 }
}

export function textOf(record: Readonly<Record<string, unknown>>, name: string): string {
  const value = record[name]
  if (typeof value !== 'string') throw new HookMessageError(`${name} is missing, or no text`)
  return value
}

export function optionalText(record: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = record[name]
  return typeof value === 'string' && value !== '' ? value : null
}

export function recordOf(record: Readonly<Record<string, unknown>>, name: string): Record<string, unknown> {
  const value = record[name]
  if (!isRecord(value)) throw new HookMessageError(`${name} is missing, or no object`)
  return value
}
