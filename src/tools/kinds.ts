/**
 * The kinds of tools that dialects have: what is the same about every tool that runs, reads,
 * types or ends. A dialect spreads one and adds its own words.
 */
import type { JobInfo } from '../contract/job.js'
import type { ToolSpec } from './dialect.js'
import type { CallOptions, ToolResult } from './tool.js'
import type { ToolRequest } from './run-request.js'
import type { Ran, Toolbox } from './toolbox.js'

type Kind = Pick<ToolSpec, 'title' | 'annotations' | 'aliases' | 'argv' | 'ids'>

/** Runs the command in its field `command`, which may also be an argv. */
export const RUNS: Kind = {
  title: 'Run a command',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  argv: ['command'],
}

interface Sayings {
  ran(ran: Ran): ToolResult
  started(info: JobInfo): ToolResult
}

/** The call of a Bash with the fields `command`, `description`, `timeout` and `run_in_background`. */
export function bashCall(say: Sayings) {
  return (box: Toolbox, input: BashInput, call: CallOptions): Promise<ToolResult> => {
    const { command, description, timeout, run_in_background: asJob } = input
    // The timeout is for what one waits for; a background shell runs until it ends or is killed.
    return runOrStart(box, call, { command, description, timeoutMs: asJob ? null : timeout, asJob }, say)
  }
}

interface BashInput {
  readonly command: string
  readonly description?: string
  readonly timeout?: number
  readonly run_in_background?: boolean
}

/** Waits for the command, or starts it as a job; a job that may not start is told like a command that may not run. */
export async function runOrStart(
  box: Toolbox,
  call: CallOptions,
  request: ToolRequest & { readonly asJob: boolean | undefined },
  say: Sayings,
): Promise<ToolResult> {
  if (!request.asJob) return say.ran(await box.foreground(request, call))
  const begun = await box.background(request, call)
  return begun.kind === 'started' ? say.started(begun.info) : say.ran(begun.ran)
}

/** Tells about the job whose id is in the field `id`. */
export function readsJob(id: string): Kind {
  return { title: 'Read a shell', annotations: READS, ...takesId(id) }
}

/** Tells about everything. */
export const READS = { readOnlyHint: true, openWorldHint: false } as const

/** Types into a job: may do anything, as the protocol assumes when the other hints are missing. */
export function typesIntoJob(id: string): Kind {
  return { title: 'Type into a shell', annotations: { readOnlyHint: false, openWorldHint: true }, ...takesId(id) }
}

export function endsJob(id: string): Kind {
  return {
    title: 'End a shell',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    ...takesId(id),
  }
}

/** Every such tool understands the id names of its siblings; its schema shows only its own. */
function takesId(own: string): Pick<ToolSpec, 'ids' | 'aliases'> {
  const names = ['bash_id', 'shell_id', 'task_id', 'session_id', 'id']
  return { ids: [own], aliases: Object.fromEntries(names.filter((name) => name !== own).map((name) => [name, own])) }
}
