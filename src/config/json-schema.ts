/** The settings as a JSON Schema, for editors. */
import { SETTINGS, type Setting, type SettingType } from './schema.js'

/** The JSON Schema for editors; the package publishes it as `cerith/cerith.schema.json`. */
export function configJsonSchema(): Record<string, unknown> {
  const properties: Record<string, Record<string, unknown>> = { $schema: { type: 'string' } }
  for (const setting of SETTINGS) {
    const [group, name] = setting.key.split('.') as [string, string?]
    if (name === undefined) properties[group] = property(setting)
    else {
      const parent = (properties[group] ??= { type: 'object', additionalProperties: false, properties: {} })
      ;(parent['properties'] as Record<string, unknown>)[name] = property(setting)
    }
  }
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'cerith.config.json',
    type: 'object',
    additionalProperties: false,
    properties,
  }
}

const SHAPES: Record<SettingType, Record<string, unknown>> = {
  boolean: { type: 'boolean' },
  number: { type: 'integer' },
  string: { type: 'string' },
  path: { type: 'string', minLength: 1 },
  names: { type: 'array', items: { type: 'string', minLength: 1 } },
  paths: { type: 'array', items: { type: 'string', minLength: 1 } },
  numbers: { type: 'array', items: { type: 'integer' } },
  flags: { type: 'object', additionalProperties: { type: 'boolean' } },
  texts: { type: 'object', additionalProperties: { type: 'string' } },
  commands: { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' }, minItems: 1 } },
  object: { type: 'object' },
  objects: { type: 'array', items: { type: 'object' } },
}

function property({
  type,
  about,
  choices,
  min,
  max,
  default: value,
  key,
  variable,
  project,
}: Setting): Record<string, unknown> {
  return {
    description: about,
    ...SHAPES[type],
    ...(choices ? { enum: choices } : {}),
    ...(min === undefined ? {} : { minimum: min }),
    ...(max === undefined ? {} : { maximum: max }),
    ...(value === null ? {} : { default: value }),
    ...POLICY_SHAPES[key],
    ...(variable ? { 'x-variable': variable } : {}),
    'x-project': project,
  }
}

const TEXTS = { type: 'array', items: { type: 'string', minLength: 1 } }

/** The parts of the policy that editors should complete; the guard checks them in full when it loads them. */
const POLICY_SHAPES: Record<string, Record<string, unknown>> = {
  'policy.rules': {
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['decision', 'commands'],
      properties: {
        name: { type: 'string' },
        decision: { enum: ['allow', 'ask', 'deny'] },
        commands: TEXTS,
        directories: TEXTS,
        reason: { type: 'string' },
        guidance: { type: 'string' },
        match: TEXTS,
        notMatch: TEXTS,
      },
    },
  },
  'policy.protected': {
    additionalProperties: false,
    required: ['paths'],
    properties: { paths: TEXTS, decision: { enum: ['ask', 'deny'] } },
  },
  'secrets.askpass': {
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['program', 'secret'],
      properties: {
        program: { enum: ['sudo', 'ssh', 'git'] },
        prompt: { type: 'string', minLength: 1 },
        secret: { type: 'string', minLength: 1 },
      },
    },
  },
  automation: {
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['program', 'subcommands', 'tools', 'feature', 'enabled'],
      properties: {
        program: { type: 'string' },
        subcommands: TEXTS,
        tools: { type: 'string' },
        feature: { type: 'string' },
        enabled: { type: 'boolean' },
      },
    },
  },
}
