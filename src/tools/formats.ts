/** One tool definition as each vendor wants to see it. Everything is made from the one input schema. */
import type { JsonSchema, ObjectSchema } from './schema/schema.js'
import type { ToolAnnotations, ToolDefinition } from './tool.js'

export const FORMATS = [
  'openai',
  'openai-responses',
  'openai-strict',
  'openai-responses-strict',
  'anthropic',
  'gemini',
  'mcp',
  'ai-sdk',
] as const

export type Format = (typeof FORMATS)[number]

/** A tool as it is in one format; the vendor's own type takes it without a cast. */
export type FormattedTool<F extends Format = Format> = Formatted[F]

interface Formatted {
  openai: OpenAIChatTool
  'openai-strict': OpenAIChatTool
  'openai-responses': OpenAIResponsesTool
  'openai-responses-strict': OpenAIResponsesTool
  anthropic: { name: string; description: string; input_schema: Parameters } | { type: 'bash_20250124'; name: 'bash' }
  gemini: { name: string; description: string; parameters: Record<string, unknown> }
  mcp: {
    name: string
    title: string
    description: string
    inputSchema: Parameters
    outputSchema: Parameters
    annotations: ToolAnnotations
  }
  'ai-sdk': { type: 'function'; name: string; description: string; inputSchema: Parameters }
}

interface OpenAIChatTool {
  type: 'function'
  function: { name: string; description: string; parameters: Parameters; strict?: boolean }
}

type OpenAIResponsesTool =
  | { type: 'function'; name: string; description: string; parameters: Parameters; strict: boolean }
  | { type: 'shell'; environment: { type: 'local' } }

/** A JSON Schema in the open and mutable type that the SDKs have for one. */
type Parameters = { type: 'object'; properties?: Record<string, Json>; required?: string[]; [keyword: string]: unknown }

type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

/** A vendor's own typed tool, where the dialect has one, wins over a function with a schema. */
export function formatTool<F extends Format>(tool: ToolDefinition, format: F): FormattedTool<F> {
  const native = tool.native?.[format]
  return native ? { ...native } : FORMATTERS[format](tool)
}

const FORMATTERS: { readonly [F in Format]: (tool: ToolDefinition) => FormattedTool<F> } = {
  openai: ({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, description, parameters: plain(inputSchema) },
  }),
  'openai-strict': ({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, description, parameters: plain(strictSchema(inputSchema)), strict: true },
  }),
  'openai-responses': (tool) => forResponses(tool, tool.inputSchema, false),
  'openai-responses-strict': (tool) => forResponses(tool, strictSchema(tool.inputSchema), true),
  anthropic: ({ name, description, inputSchema }) => ({ name, description, input_schema: plain(inputSchema) }),
  gemini: ({ name, description, inputSchema }) => ({ name, description, parameters: geminiSchema(inputSchema) }),
  mcp: ({ name, title, description, inputSchema, outputSchema, annotations }) => ({
    name,
    title,
    description,
    inputSchema: plain(inputSchema),
    outputSchema: plain(outputSchema),
    annotations,
  }),
  'ai-sdk': ({ name, description, inputSchema }) => {
    return { type: 'function', name, description, inputSchema: plain(inputSchema) }
  },
}

/** The Responses API takes a missing `strict` for true, so it is always said. */
function forResponses({ name, description }: ToolDefinition, schema: ObjectSchema, strict: boolean) {
  return { type: 'function' as const, name, description, parameters: plain(schema), strict }
}

function plain(schema: JsonSchema): Parameters {
  return schema as Parameters
}

/** OpenAI strict: every property is required, and what was optional may be null. */
export function strictSchema(schema: ObjectSchema): ObjectSchema {
  const required = new Set(schema.required)
  const properties = mapValues(schema.properties, (property, name): JsonSchema => {
    const strict = strictValue(property)
    return required.has(name) ? strict : { anyOf: [strict, { type: 'null' }] }
  })
  return { ...schema, properties, required: Object.keys(properties), additionalProperties: false }
}

function strictValue(schema: JsonSchema): JsonSchema {
  if (schema.type === 'object') return strictSchema(schema as ObjectSchema)
  return schema.items ? { ...schema, items: strictValue(schema.items) } : schema
}

/** Gemini's OpenAPI subset: upper-case types, nothing about additional properties. */
function geminiSchema(schema: JsonSchema): Record<string, unknown> {
  const { type, properties, items, required, additionalProperties: _closed, anyOf: _never, ...rest } = schema
  return {
    ...(type ? { type: type.toUpperCase() } : {}),
    ...rest,
    ...(properties ? { properties: mapValues(properties, geminiSchema) } : {}),
    ...(items ? { items: geminiSchema(items) } : {}),
    ...(required && required.length > 0 ? { required } : {}),
  }
}

function mapValues<T, U>(of: Readonly<Record<string, T>>, make: (value: T, name: string) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(of).map(([name, value]) => [name, make(value, name)]))
}
