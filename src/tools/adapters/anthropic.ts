/**
 * The tools for Anthropic's tool runner: the typed `bash_20250124` from the anthropic dialect,
 * custom tools from any other. Needs no import of the SDK.
 */
import { formatTool } from '../formats.js'
import type { ToolSet } from '../tool.js'

export interface AnthropicRunnableTool {
  readonly name: string
  run(input: unknown, context?: { signal?: AbortSignal | null | undefined }): Promise<string>
  parse(content: unknown): unknown
}

/**
 * For `client.beta.messages.toolRunner({ tools: anthropicTools(tools) })`. A failed result is
 * thrown, which the runner turns into `is_error`.
 */
export function anthropicTools<T = AnthropicRunnableTool>(tools: ToolSet): T[] {
  return tools.list().map(
    (tool) =>
      ({
        ...formatTool(tool, 'anthropic'),
        parse: (content: unknown) => content,
        run: async (input: unknown, context?: { signal?: AbortSignal | null | undefined }) => {
          const result = await tool.execute(input, context?.signal ? { signal: context.signal } : {})
          if (result.isError) throw new Error(result.text)
          return result.text
        },
      }) as T,
  )
}

export interface ToolUse {
  readonly type: 'tool_use'
  readonly id: string
  readonly name: string
  readonly input: unknown
}

/** The `tool_result` blocks for a message's `tool_use` blocks, for loops written by hand. */
export async function answerToolUses(
  content: readonly { readonly type: string }[],
  tools: ToolSet,
  options: { readonly signal?: AbortSignal } = {},
): Promise<{ type: 'tool_result'; tool_use_id: string; content: string; is_error: boolean }[]> {
  const uses = content.filter(
    (block): block is ToolUse => block.type === 'tool_use' && tools.get((block as ToolUse).name) !== undefined,
  )
  const results = []
  for (const use of uses) {
    const { text, isError } = await tools.execute(use.name, use.input, options)
    results.push({ type: 'tool_result' as const, tool_use_id: use.id, content: text, is_error: isError })
  }
  return results
}
