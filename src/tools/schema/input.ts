/**
 * Reads what a model sent: names the field and what was expected, accepts the sibling dialects'
 * names, treats null as absent.
 */
import { badRequest, type ShellError } from '../../contract/errors.js'
import type { JsonSchema, ObjectSchema } from './schema.js'
import { attempt, isRecord } from '../../contract/attempt.js'
import { nearest } from '../../contract/names/nearest.js'

export type ToolInput = Readonly<Record<string, unknown>>

export interface InputRules {
  readonly tool: string
  readonly schema: ObjectSchema
  /** Other names for a field, as used by sibling dialects: alias to own name. */
  readonly aliases?: Readonly<Record<string, string>>
  /** Fields that hold an id: text or number, whatever the dialect that made it. */
  readonly ids?: readonly string[]
  /** Fields that may also be an argv, which is quoted word by word. */
  readonly argv?: readonly string[]
  /** Fields that may also be a plain `{NAME: value}` map although the schema shows a list of pairs. */
  readonly maps?: readonly string[]
  /** Fields that are read although the schema does not show them. */
  readonly silent?: Readonly<Record<string, JsonSchema>>
}

/** Returns the fields under their own names, or throws BAD_REQUEST. */
export function readInput(raw: unknown, rules: InputRules): ToolInput {
  const given = asObject(raw, rules.tool)
  refuseModeWithTimeout(given)
  const input: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(given)) {
    // Strict schemas make every field required, so models send null for what they leave out.
    if (value === null || value === undefined) continue
    const own = ownName(name, rules)
    if (Object.hasOwn(input, own) && input[own] !== value) {
      throw badRequest(`'${own}' was given twice in ${rules.tool}, once as '${name}'.`, `Give only '${own}'.`)
    }
    input[own] = readField(own, value, rules)
  }
  for (const name of rules.schema.required ?? []) {
    if (!Object.hasOwn(input, name)) throw missing(name, rules)
  }
  return input
}

function asObject(raw: unknown, tool: string): Record<string, unknown> {
  if (raw === undefined || raw === null) return {}
  const given = typeof raw === 'string' ? attempt(() => asObject(JSON.parse(raw) ?? 0, tool)) : raw
  if (isRecord(given)) return given
  const got = `${typeof raw === 'string' ? 'the text ' : ''}${show(raw)}`
  throw badRequest(`The input of ${tool} must be an object, got ${got}.`, 'Send the fields as one JSON object.')
}

// The two say the same thing in two dialects; guessing which one was meant could kill a long build.
function refuseModeWithTimeout(given: Record<string, unknown>): void {
  const isGiven = (name: string): boolean => given[name] !== null && given[name] !== undefined
  if (!isGiven('mode') || !isGiven('timeout')) return
  throw badRequest(
    `'mode' and 'timeout' cannot be given together (mode ${show(given['mode'])}, timeout ${show(given['timeout'])}).`,
    'Give only the one that is in the schema of this tool.',
  )
}

function ownName(name: string, rules: InputRules): string {
  const known = rules.schema.properties
  if (Object.hasOwn(known, name) || (rules.silent && Object.hasOwn(rules.silent, name))) return name
  const alias = rules.aliases && Object.hasOwn(rules.aliases, name) ? rules.aliases[name] : undefined
  if (alias !== undefined && Object.hasOwn(known, alias)) return alias
  const names = Object.keys(known)
  const near = nearest(name, names)
  throw badRequest(
    `Unknown field '${name.slice(0, 60)}' in ${rules.tool}.${near ? ` Did you mean '${near}'?` : ''}`,
    names.length > 0 ? `Fields: ${names.join(', ')}.` : `${rules.tool} takes no fields.`,
  )
}

function readField(name: string, value: unknown, rules: InputRules): unknown {
  if (rules.ids?.includes(name)) return readId(name, value)
  if (Array.isArray(value) && rules.argv?.includes(name)) return readArgv(name, value)
  if (rules.maps?.includes(name) && isRecord(value)) return readMap(name, value)
  return readValue(name, value, (rules.schema.properties[name] ?? rules.silent?.[name])!)
}

function readValue(name: string, value: unknown, schema: JsonSchema): unknown {
  switch (schema.type) {
    case 'string':
      if (typeof value !== 'string') throw expected(name, 'a string', value)
      if (schema.enum && !schema.enum.includes(value)) throw expected(name, `one of ${schema.enum.join(', ')}`, value)
      if (value.includes('\0'))
        throw badRequest(`'${name}' contains a NUL character.`, 'No command line can hold one; leave it out.')
      return value
    case 'boolean':
      if (typeof value !== 'boolean') throw expected(name, 'true or false', value)
      return value
    case 'integer':
      if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw expected(name, 'a whole number', value)
      return inRange(name, value, schema)
    case 'array':
      if (!Array.isArray(value)) throw expected(name, 'a list', value)
      return value.map((item, index) => readValue(`${name}[${index}]`, item, schema.items ?? {}))
    case 'object':
      return readInput(value, { tool: `'${name}'`, schema: schema as ObjectSchema })
    default:
      return value
  }
}

function inRange(name: string, value: number, { minimum = -Infinity, maximum = Infinity }: JsonSchema): number {
  if (value > maximum)
    throw badRequest(`'${name}' above maximum: ${value} is more than ${maximum}.`, `Give at most ${maximum}.`)
  if (value < minimum)
    throw badRequest(`'${name}' below minimum: ${value} is less than ${minimum}.`, `Give at least ${minimum}.`)
  return value
}

function readId(name: string, value: unknown): string {
  // Several ids: a list, or one text with commas.
  if (Array.isArray(value) && value.length > 0) return value.map((one) => readId(name, one)).join(',')
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  if (typeof value !== 'string' || value.trim() === '') throw expected(name, 'an id', value)
  return value.trim()
}

function readArgv(name: string, words: readonly unknown[]): readonly string[] {
  if (words.length === 0) throw expected(name, 'a command', words)
  return words.map((word, index) => {
    if (typeof word !== 'string') throw expected(`${name}[${index}]`, 'a string', word)
    if (word.includes('\0'))
      throw badRequest(`'${name}[${index}]' contains a NUL character.`, 'No argument can hold one; leave it out.')
    return word
  })
}

function readMap(name: string, map: Record<string, unknown>): readonly { name: string; value: string }[] {
  return Object.entries(map).map(([key, value]) => {
    if (typeof value !== 'string') throw expected(`${name}.${key}`, 'a string', value)
    return { name: key, value }
  })
}

function missing(name: string, rules: InputRules): ShellError {
  const schema = rules.schema.properties[name]
  return badRequest(
    `Missing required field: '${name}' (${schema?.type ?? 'any'}) in ${rules.tool}.`,
    schema?.description ? `${name}: ${schema.description}` : `Call ${rules.tool} again with '${name}'.`,
  )
}

function expected(name: string, what: string, value: unknown): ShellError {
  return badRequest(`'${name}' must be ${what}, got ${show(value)}.`, `Call again with '${name}' as ${what}.`)
}

function show(value: unknown): string {
  const shown = attempt(() => JSON.stringify(value) ?? String(value), typeof value)
  return shown.length > 80 ? `${shown.slice(0, 77)}...` : shown
}
