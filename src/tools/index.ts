/**
 * `cerith/tools`: the dialects bound to an engine, their schemas, the registry, and adapters to the SDKs people use.
 */
export { createTools, toolDefinitions, toolSchemas } from './create-tools.js'
export { DIALECTS, isDialectName, type DialectName } from './dialects/index.js'
export type { Dialect, Facts, Policy, Timeouts, ToolSpec } from './dialect.js'
export { FORMATS, formatTool, type Format, type FormattedTool } from './formats.js'
export type { ToolOptions } from './options.js'
export { quote } from './quote.js'
export { registerExecutionTools, ToolRegistry } from './registry.js'
export type { JsonSchema, ObjectSchema, OutputSchema } from './schema/schema.js'
export type { CallOptions, Tool, ToolAnnotations, ToolDefinition, ToolResult, ToolSet } from './tool.js'
export { aiSdkTools, type AiSdkTool } from './adapters/ai-sdk.js'
export { aiSdkSandbox, type SandboxSession } from './adapters/ai-sdk-sandbox.js'
export { agentsSandbox, agentsShell, agentsTools } from './adapters/openai-agents.js'
export { answerResponse, type CallAnswer } from './adapters/openai-responses.js'
export { answerToolUses, anthropicTools, type AnthropicRunnableTool } from './adapters/anthropic.js'
export { langchainTools } from './adapters/langchain.js'
export { answerGemini, geminiTools } from './adapters/gemini.js'
