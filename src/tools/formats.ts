/** One tool definition as each vendor wants to see it. Everything is made from the one input schema. */
import type { JsonSchema, ObjectSchema } from './schema.js'
import type { ToolDefinition } from './tool.js'

export const FORMATS = ['openai', 'openai-responses', 'openai-strict', 'openai-responses-strict', 'anthropic', 'gemini', 'mcp', 'ai-sdk'] as const

export type Format = (typeof FORMATS)[number]

export type FormattedTool = Record<string, unknown>

/** A vendor's own typed tool, where the dialect has one, wins over a function with a schema. */
export function formatTool(tool: ToolDefinition, format: Format): FormattedTool {
  return tool.native?.[format] ? { ...tool.native[format] } : FORMATTERS[format](tool)
}

const FORMATTERS: Record<Format, (tool: ToolDefinition) => FormattedTool> = {
  openai: ({ name, description, inputSchema }) => ({ type: 'function', function: { name, description, parameters: inputSchema } }),
  // The Responses API takes a missing `strict` for true, so it is always said.
  'openai-responses': ({ name, description, inputSchema }) => ({ type: 'function', name, description, parameters: inputSchema, strict: false }),
  'openai-strict': ({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, description, parameters: strictSchema(inputSchema), strict: true },
  }),
  'openai-responses-strict': ({ name, description, inputSchema }) => ({
    type: 'function',
    name,
    description,
    parameters: strictSchema(inputSchema),
    strict: true,
  }),
  anthropic: ({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema }),
  gemini: ({ name, description, inputSchema }) => ({ name, description, parameters: geminiSchema(inputSchema) }),
  mcp: ({ name, title, description, inputSchema, outputSchema, annotations }) => ({ name, title, description, inputSchema, outputSchema, annotations }),
  'ai-sdk': ({ name, description, inputSchema }) => ({ type: 'function', name, description, inputSchema }),
}

/** OpenAI strict: every property is required, and what was optional may be null. */
export function strictSchema(schema: ObjectSchema): ObjectSchema {
  const required = new Set(schema.required)
  const properties = Object.fromEntries(
    Object.entries(schema.properties).map(([name, property]) => {
      const strict = strictValue(property)
      return [name, required.has(name) ? strict : { anyOf: [strict, { type: 'null' } as const] }]
    }),
  )
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
    ...(properties ? { properties: Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, geminiSchema(property)])) } : {}),
    ...(items ? { items: geminiSchema(items) } : {}),
    ...(required && required.length > 0 ? { required } : {}),
  }
}
