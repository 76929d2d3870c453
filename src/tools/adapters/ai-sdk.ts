/**
 * The tools as a Vercel AI SDK tool set: pass the result as `tools` to `generateText`,
 * `streamText` or an agent. Needs no import of the SDK.
 */
import { ShellError } from '../../contract/errors.js'
import { readInput } from '../schema/input.js'
import type { ObjectSchema } from '../schema/schema.js'
import type { Tool, ToolResult, ToolSet } from '../tool.js'

/** What the SDK calls a standard schema with JSON Schema support; it takes one of these instead of zod. */
export interface StandardSchema {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: 'cerith'
    validate(value: unknown): { value: unknown } | { issues: readonly { message: string }[] }
    readonly jsonSchema: { input(): Record<string, unknown>; output(): Record<string, unknown> }
  }
}

export interface AiSdkTool {
  readonly title: string
  readonly description: string
  readonly inputSchema: StandardSchema
  execute(input: unknown, options: { abortSignal?: AbortSignal }): AsyncIterable<ToolResult>
  toModelOutput(given: { output: unknown }): { type: 'text' | 'error-text'; value: string }
}

/**
 * The model reads the text; `output.structured` is for the application. Output that arrives
 * early comes as preliminary results.
 */
export function aiSdkTools(tools: ToolSet): Record<string, AiSdkTool> {
  return Object.fromEntries(tools.list().map((tool) => [tool.name, aiSdkTool(tool)]))
}

function aiSdkTool(tool: Tool): AiSdkTool {
  return {
    title: tool.title,
    description: tool.description,
    inputSchema: standardSchema(tool.inputSchema),
    execute: (input, { abortSignal }) => follow(tool, input, abortSignal),
    toModelOutput: ({ output }) => {
      const { text, isError } = output as ToolResult
      return { type: isError ? 'error-text' : 'text', value: text }
    },
  }
}

/**
 * Yields what was printed so far whenever there is more, and the result at the end; the SDK
 * takes the last one for the answer.
 */
async function* follow(tool: Tool, input: unknown, signal?: AbortSignal): AsyncGenerator<ToolResult> {
  let printed = ''
  let shown = 0
  let wake = (): void => {}
  let result: ToolResult | null = null
  const running = tool.execute(input, {
    signal,
    onProgress: (text) => {
      printed = (printed + text).slice(-KEPT_CHARS)
      shown += 1
      wake()
    },
  })
  void running.then((ended) => {
    result = ended
    wake()
  })
  for (let seen = 0; result === null;) {
    if (seen === shown) await new Promise<void>((resolve) => (wake = resolve))
    if (seen === shown || result !== null) continue
    seen = shown
    yield { text: printed, structured: { status: 'running' }, isError: false }
  }
  yield await running
}

const KEPT_CHARS = 4_000

function standardSchema(schema: ObjectSchema): StandardSchema {
  const json = (): Record<string, unknown> => structuredClone(schema) as unknown as Record<string, unknown>
  return {
    '~standard': {
      version: 1,
      vendor: 'cerith',
      // The tool checks its input itself and answers the model in its own words; only what is
      // no object at all stops here.
      validate: (value) => {
        try {
          if (typeof value !== 'object') readInput(value, { tool: 'the tool', schema })
          return { value }
        } catch (error) {
          return { issues: [{ message: ShellError.is(error) ? error.message : String(error) }] }
        }
      },
      jsonSchema: { input: json, output: json },
    },
  }
}
