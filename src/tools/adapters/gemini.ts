/**
 * The tools for Gemini: function declarations for the request, and the answers to the calls of
 * a response. Needs no import of the SDK.
 */
import { formatTool } from '../formats.js'
import type { CallOptions, ToolSet } from '../tool.js'

/** For `config.tools`: `[geminiTools(tools)]`. */
export function geminiTools<T = Record<string, unknown>>(tools: ToolSet): { functionDeclarations: T[] } {
  return { functionDeclarations: tools.list().map((tool) => formatTool(tool, 'gemini') as T) }
}

export interface GeminiCall {
  readonly id?: string
  readonly name?: string
  readonly args?: Record<string, unknown>
}

export interface GeminiAnswer {
  readonly functionResponse: {
    readonly id?: string
    readonly name: string
    readonly response: { output: string } | { error: string }
  }
}

/** Parts for the next user turn, one per call of a tool of cerith. The API wants `output` or `error`, never both. */
export async function answerGemini(
  calls: readonly GeminiCall[],
  tools: ToolSet,
  options: CallOptions = {},
): Promise<GeminiAnswer[]> {
  const answers: GeminiAnswer[] = []
  for (const { id, name, args } of calls) {
    if (name === undefined || !tools.get(name)) continue
    const { text, isError } = await tools.execute(name, args, options)
    answers.push({
      functionResponse: {
        ...(id === undefined ? {} : { id }),
        name,
        response: isError ? { error: text } : { output: text },
      },
    })
  }
  return answers
}
