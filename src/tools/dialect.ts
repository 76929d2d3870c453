/**
 * What a dialect is: data about names, limits and policies, plus one small function per tool
 * that asks the engine and renders the answer.
 */
import type { ShellError } from '../contract/errors.js'
import type { AnsiMode, BinaryMode, Clip, ProgressMode, StreamsMode } from '../contract/output.js'
import type { AutomationRule, JobOwner } from '../contract/request.js'
import type { ToolInput } from './schema/input.js'
import type { OutsideForm } from './schema/outside.js'
import type { SandboxOptions } from '../contract/sandbox.js'
import type { ObjectSchema, Of } from './schema/schema.js'
import type { CallOptions, ToolDefinition, ToolResult } from './tool.js'
import type { Toolbox } from './toolbox.js'

export interface Timeouts {
  readonly defaultMs: number
  readonly maxMs: number
  /** The long mode of dialects that have modes. */
  readonly slowMs: number
}

/** What a dialect asks of the engine. */
export interface Policy {
  readonly state: 'session' | 'fresh'
  readonly streams: StreamsMode
  /** Background jobs read best in true order, unless the document wants the streams apart. */
  readonly jobStreams: StreamsMode
  readonly clip: Clip
  readonly ansi: AnsiMode
  readonly progress: ProgressMode
  readonly binary: BinaryMode
  readonly timeouts: Timeouts
  readonly graceMs: number
  readonly owner: JobOwner
  /** The field that gives a command a terminal; null: it has none. */
  readonly terminal: 'pty' | 'tty' | null
  /** Makes job ids; one that is taken is asked for again. Null: the engine's own `shell_` + 8 hex. */
  readonly newId: IdMaker | null
  /** Programs of the dialect's own automation, and whether each feature is on. */
  readonly automation: (features: Readonly<Record<string, boolean>>) => readonly AutomationRule[]
}

export interface IdMaker {
  /** `count` grows with every id that is asked for. */
  make(count: number): string
  /** Finds the number in ids of this kind, for dialects that count on from the highest there is. */
  readonly counts?: RegExp
}

/** Facts a description may tell. */
export interface Facts {
  readonly cwd: string
  /** "bash 5.2 on linux" */
  readonly shell: string
  readonly timeouts: Timeouts
  /** A foreground command becomes a job after so long; null: never. */
  readonly yieldMs: number | null
  /** Null: commands have the rights of the user. */
  readonly sandbox: SandboxOptions | null
}

export interface ToolSpec extends Pick<ToolDefinition, 'name' | 'title' | 'annotations' | 'outputSchema' | 'native'> {
  describe(facts: Facts): string
  inputSchema(facts: Facts): ObjectSchema
  readonly aliases?: Readonly<Record<string, string>>
  readonly argv?: readonly string[]
  readonly ids?: readonly string[]
  readonly maps?: readonly string[]
  /** How it asks for one command outside the sandbox; dialects without the notion have none. */
  readonly outside?: OutsideForm
  call(box: Toolbox, input: ToolInput, call: CallOptions): Promise<ToolResult>
  /** Could not start, no such id, or wrong input: the same shape as any other result of this tool. */
  fail(error: ShellError): ToolResult
}

/** A tool whose `call` gets the fields that its own schema names. */
export function defineTool<Input>(
  spec: Omit<ToolSpec, 'inputSchema' | 'call'> & {
    inputSchema(facts: Facts): Of<Input, ObjectSchema>
    call(box: Toolbox, input: Input, call: CallOptions): Promise<ToolResult>
  },
): ToolSpec {
  return spec as ToolSpec
}

export interface Dialect {
  readonly name: string
  /** One line for the list of dialects. */
  readonly summary: string
  readonly policy: Policy
  readonly tools: readonly ToolSpec[]
}

/** Set in dialects whose documents want the output unchanged. */
export const AS_IT_CAME = { ansi: 'keep', progress: 'keep', binary: 'keep' } as const

/** What most dialects ask for: a dialect spreads this and names only where it differs. */
export const USUAL_POLICY: Policy = {
  state: 'session',
  streams: 'separate',
  jobStreams: 'merged',
  clip: { kind: 'ends', maxChars: 30_000 },
  ansi: 'strip',
  progress: 'collapse',
  binary: 'describe',
  timeouts: { defaultMs: 120_000, maxMs: 600_000, slowMs: 600_000 },
  graceMs: 2_000,
  owner: 'manager',
  terminal: null,
  newId: null,
  automation: () => [],
}
