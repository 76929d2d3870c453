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

/** A schema that remembers which values it lets through. `value` is for the compiler only. */
export type Of<Value, Schema extends JsonSchema = JsonSchema> = Schema & { readonly value?: Value }

/** The values of an input with these fields. */
type Fields<Properties, Required> = {
  readonly [Name in keyof Properties]: Properties[Name] extends Of<infer Value>
    ? Name extends Required
      ? Value
      : Value | undefined
    : never
}

/** An input: closed, so that a misspelt field is an error and not silently another command. */
export function inputOf<
  Properties extends Record<string, JsonSchema>,
  Required extends keyof Properties & string = never,
>(properties: Properties, required: readonly Required[] = []): Of<Fields<Properties, Required>, ObjectSchema> {
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}), additionalProperties: false }
}

/** A result: open, because the same tool answers for success, failure, refusal and error. */
export function outputOf(properties?: Record<string, JsonSchema>, required: readonly string[] = []): OutputSchema {
  return { type: 'object', ...(properties ? { properties } : {}), ...(required.length > 0 ? { required } : {}) }
}

const schemaOf = (type: JsonSchema['type'], description?: string, more: JsonSchema = {}): JsonSchema => ({
  type,
  ...(description ? { description } : {}),
  ...more,
})
export const text = (description?: string): Of<string> => schemaOf('string', description)
export const flag = (description?: string): Of<boolean> => schemaOf('boolean', description)
export const whole = (description?: string, range: { minimum?: number; maximum?: number } = {}): Of<number> =>
  schemaOf('integer', description, range)
export const oneOf = <const Value extends string>(values: readonly Value[], description?: string): Of<Value> =>
  schemaOf('string', description, { enum: values })
export const list = <Item>(items: Of<Item>, description?: string): Of<readonly Item[]> =>
  schemaOf('array', description, { items })
/** Only for results: inputs leave a field out instead. */
export const orNull = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: 'null' }] })
