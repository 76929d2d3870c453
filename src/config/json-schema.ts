/** The settings as a JSON Schema, for editors. */
import { SETTINGS } from './schema.js'
import type { Setting, SettingType } from './setting.js'

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

const TEXT = { type: 'string', minLength: 1 }
const TEXTS = { type: 'array', items: TEXT }

const SHAPES: Record<SettingType, Record<string, unknown>> = {
  boolean: { type: 'boolean' },
  number: { type: 'integer' },
  string: { type: 'string' },
  path: TEXT,
  names: TEXTS,
  paths: TEXTS,
  numbers: { type: 'array', items: { type: 'integer' } },
  flags: { type: 'object', additionalProperties: { type: 'boolean' } },
  texts: { type: 'object', additionalProperties: { type: 'string' } },
  commands: { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' }, minItems: 1 } },
  object: { type: 'object' },
  objects: { type: 'array', items: { type: 'object' } },
}

/** What is undefined is not written. */
function property(setting: Setting): Record<string, unknown> {
  const { key, type, about, project, choices, min, max, variable, default: value } = setting
  return {
    description: about,
    ...SHAPES[type],
    enum: choices,
    minimum: min,
    maximum: max,
    default: value ?? undefined,
    ...POLICY_SHAPES[key],
    'x-variable': variable,
    'x-project': project,
  }
}

/** The parts of the policy that editors should complete; the guard checks them in full when it loads them. */
const POLICY_SHAPES: Record<string, Record<string, unknown>> = {
  'policy.rules': {
    items: closed(['decision', 'commands'], {
      name: { type: 'string' },
      decision: { enum: ['allow', 'ask', 'deny'] },
      commands: TEXTS,
      directories: TEXTS,
      reason: { type: 'string' },
      guidance: { type: 'string' },
      match: TEXTS,
      notMatch: TEXTS,
    }),
  },
  'policy.protected': closed(['paths'], { paths: TEXTS, decision: { enum: ['ask', 'deny'] } }),
  'secrets.askpass': {
    items: closed(['program', 'secret'], { program: { enum: ['sudo', 'ssh', 'git'] }, prompt: TEXT, secret: TEXT }),
  },
  automation: {
    items: closed(['program', 'subcommands', 'tools', 'feature', 'enabled'], {
      program: { type: 'string' },
      subcommands: TEXTS,
      tools: { type: 'string' },
      feature: { type: 'string' },
      enabled: { type: 'boolean' },
    }),
  },
}

/** An object without other fields. */
function closed(required: readonly string[], properties: Record<string, unknown>): Record<string, unknown> {
  return { type: 'object', additionalProperties: false, required, properties }
}
