/**
 * The one schema source: the part of JSON Schema that every vendor accepts as it is. Other
 * formats are made from it in formats.ts.
 */

/** One scalar type per node, closed objects, arrays with items, no unions at the root. */
export interface JsonSchema {
  readonly type?: 'object' | 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'null'
  readonly description?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean
  readonly items?: JsonSchema
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly anyOf?: readonly JsonSchema[]
}

export interface ObjectSchema extends JsonSchema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, JsonSchema>>
}

export interface OutputSchema extends JsonSchema {
  readonly type: 'object'
}

/** An input: closed, so that a misspelt field is an error and not silently another command. */
export function inputOf(properties: Record<string, JsonSchema>, required: readonly string[] = []): ObjectSchema {
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}), additionalProperties: false }
}

/** A result: open, because the same tool answers for success, failure, refusal and error. */
export function outputOf(properties?: Record<string, JsonSchema>, required: readonly string[] = []): OutputSchema {
  return { type: 'object', ...(properties ? { properties } : {}), ...(required.length > 0 ? { required } : {}) }
}

export const text = (description?: string): JsonSchema =>
  description ? { type: 'string', description } : { type: 'string' }
export const flag = (description?: string): JsonSchema =>
  description ? { type: 'boolean', description } : { type: 'boolean' }
export const whole = (description?: string, range: { minimum?: number; maximum?: number } = {}): JsonSchema => ({
  type: 'integer',
  ...(description ? { description } : {}),
  ...range,
})
export const oneOf = (values: readonly string[], description?: string): JsonSchema => ({
  type: 'string',
  ...(description ? { description } : {}),
  enum: values,
})
export const list = (items: JsonSchema, description?: string): JsonSchema => ({
  type: 'array',
  ...(description ? { description } : {}),
  items,
})
/** Only for results: inputs leave a field out instead. */
export const orNull = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: 'null' }] })
