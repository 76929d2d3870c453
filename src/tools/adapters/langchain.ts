/** The tools for LangChain: the arguments of its `tool()` function, so that this package never imports it. */
import type { ToolSet } from '../tool.js'

export interface LangChainToolArguments {
  readonly run: (input: unknown, config?: { signal?: AbortSignal }) => Promise<[string, Record<string, unknown>]>
  readonly fields: {
    name: string
    description: string
    schema: Record<string, unknown>
    responseFormat: 'content_and_artifact'
    verboseParsingErrors: true
  }
}

/**
 * `langchainTools(tools).map(({ run, fields }) => tool(run, fields))`. The text goes to the
 * model, the structured result is the artifact.
 */
export function langchainTools(tools: ToolSet): LangChainToolArguments[] {
  return tools.list().map((tool) => ({
    run: async (input, config) => {
      const { text, structured, isError } = await tool.execute(input, { signal: config?.signal })
      return [text, { ...structured, is_error: isError }]
    },
    fields: {
      name: tool.name,
      description: tool.description,
      schema: structuredClone(tool.inputSchema) as unknown as Record<string, unknown>,
      responseFormat: 'content_and_artifact',
      // LangChain checks the input before we do; without this the model would not hear which field was wrong.
      verboseParsingErrors: true,
    },
  }))
}
