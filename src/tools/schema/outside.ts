/**
 * How a model asks for one command outside the sandbox, in the words of each dialect. A person
 * is always asked; see docs/sandbox.md.
 */
import type { SandboxOptions } from '../../contract/sandbox.js'
import type { ToolInput } from './input.js'
import { flag, oneOf, text, type JsonSchema, type ObjectSchema } from './schema.js'

export interface OutsideForm {
  /**
   * Shown in the schema where there is a sandbox that can be left; accepted always, because
   * models know these fields by heart.
   */
  readonly fields: Readonly<Record<string, JsonSchema>>
  /** Accepted without being shown. */
  readonly silent?: Readonly<Record<string, JsonSchema>>
  /** The reason that was given; undefined where nothing was asked for. */
  reason(input: ToolInput): string | undefined
}

const NO_REASON = 'none was given'
const DISABLE = { dangerouslyDisableSandbox: flag('Run outside the sandbox; a person is asked, description says why') }

/** Bash tools of the Claude family: a switch, and the description as the reason. */
export const BY_SWITCH: OutsideForm = {
  fields: DISABLE,
  reason: (input) => (input['dangerouslyDisableSandbox'] === true ? said(input['description']) : undefined),
}

/** The house: the reason itself. */
export const BY_REASON: OutsideForm = {
  fields: { outside: text('Reason to leave the sandbox; a person is asked') },
  silent: DISABLE,
  reason: (input) => (isText(input['outside']) ? said(input['outside']) : BY_SWITCH.reason(input)),
}

const ESCALATED = 'require_escalated'

export const BY_PERMISSION: OutsideForm = {
  fields: {
    sandbox_permissions: oneOf(
      ['use_default', ESCALATED],
      'require_escalated runs outside the sandbox; a person is asked',
    ),
    justification: text('With require_escalated: why'),
  },
  reason: (input) => (input['sandbox_permissions'] === ESCALATED ? said(input['justification']) : undefined),
}

/** What is in force, for the description of a tool that runs commands: the model need not find out by failing. */
export function sandboxWords({ profile, network = 'none', domains = [], outside, try: tried }: SandboxOptions): string {
  const files = {
    off: '',
    'read-only': 'only /tmp can be written',
    workspace: 'only the workspace and /tmp can be written',
    strict: 'only the workspace and the system exist; only the workspace and /tmp can be written',
  }[profile]
  const reach = {
    none: 'no network but its own 127.0.0.1',
    'allow-list': `network: ${domains.slice(0, 5).join(', ') || 'no host'}${domains.length > 5 ? ' ...' : ''}`,
    all: 'network open',
  }[network]
  return (
    `Sandboxed: ${files}; ` +
    `${reach}${outside === 'never' ? '; it cannot be left' : ''}${tried ? '; what is written there counts only after Changes accept' : ''}.`
  )
}

/** The schema with the fields that this sandbox makes useful. */
export function withOutside(schema: ObjectSchema, form: OutsideForm, sandbox: SandboxOptions | null): ObjectSchema {
  return !sandbox || sandbox.outside === 'never'
    ? schema
    : { ...schema, properties: { ...schema.properties, ...form.fields } }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}

function said(value: unknown): string {
  return isText(value) ? value : NO_REASON
}
