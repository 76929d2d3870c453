/**
 * Answers the calls in a Responses API result: `shell_call` items and function calls of any
 * dialect. Needs no import of the SDK.
 */
import type { ShellOutput } from '../dialects/openai-shell.js'
import type { CallOptions, ToolSet } from '../tool.js'

export interface ShellCall {
  readonly type: 'shell_call'
  readonly call_id: string
  readonly action: {
    readonly commands: readonly string[]
    readonly timeout_ms: number | null
    readonly max_output_length: number | null
  }
}

export interface FunctionCall {
  readonly type: 'function_call'
  readonly call_id: string
  readonly name: string
  readonly arguments: string
}

/** An item to put into the next request's `input`. */
export type CallAnswer =
  | { type: 'shell_call_output'; call_id: string; max_output_length: number | null; output: ShellOutput[] }
  | { type: 'function_call_output'; call_id: string; output: string }

/** One answer per call of a tool of cerith, in order; everything else in `output` is left to the caller. */
export async function answerResponse(
  output: readonly { readonly type: string }[],
  tools: ToolSet,
  options: CallOptions = {},
): Promise<CallAnswer[]> {
  const answers: CallAnswer[] = []
  for (const item of output) {
    if (item.type === 'shell_call' && tools.get('shell'))
      answers.push(await answerShellCall(item as ShellCall, tools, options))
    else if (item.type === 'function_call' && tools.get((item as FunctionCall).name))
      answers.push(await answerFunctionCall(item as FunctionCall, tools, options))
  }
  return answers
}

async function answerShellCall(
  { call_id, action }: ShellCall,
  tools: ToolSet,
  options: CallOptions,
): Promise<CallAnswer> {
  const result = await tools.execute('shell', action, options)
  const output = result.structured['output'] as ShellOutput[]
  if (output.length === 0) output.push({ stdout: '', stderr: result.text, outcome: { type: 'exit', exit_code: 125 } })
  return { type: 'shell_call_output', call_id, max_output_length: action.max_output_length, output }
}

async function answerFunctionCall(
  { call_id, name, arguments: input }: FunctionCall,
  tools: ToolSet,
  options: CallOptions,
): Promise<CallAnswer> {
  return { type: 'function_call_output', call_id, output: (await tools.execute(name, input, options)).text }
}
