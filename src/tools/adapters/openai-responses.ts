/**
 * Answers the calls in a Responses API result: `shell_call` items and function calls of any
 * dialect. Needs no import of the SDK.
 */
import { shellOutputs, type ShellOutput } from '../dialects/openai-shell.js'
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
    if (item.type === 'function_call' && tools.get((item as FunctionCall).name)) {
      const { call_id, name, arguments: input } = item as FunctionCall
      const { text } = await tools.execute(name, input, options)
      answers.push({ type: 'function_call_output', call_id, output: text })
    }
  }
  return answers
}

async function answerShellCall(
  { call_id, action }: ShellCall,
  tools: ToolSet,
  options: CallOptions,
): Promise<CallAnswer> {
  const result = await tools.execute('shell', action, options)
  const { max_output_length } = action
  return { type: 'shell_call_output', call_id, max_output_length, output: shellOutputs(result) }
}
