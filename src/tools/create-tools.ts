/** Binds a dialect to an engine: every call is read, run, rendered and masked here, and none of them throws. */
import type { Engine } from '../contract/engine.js'
import type { SandboxOptions } from '../contract/sandbox.js'
import { changesTool } from './changes.js'
import type { Dialect, Facts, ToolSpec } from './dialect.js'
import { DIALECTS, isDialectName, type DialectName } from './dialects/index.js'
import { formatTool, type Format, type FormattedTool } from './formats.js'
import { readInput, type InputRules } from './schema/input.js'
import type { ToolOptions } from './options.js'
import { sandboxWords, withOutside } from './schema/outside.js'
import type { ObjectSchema } from './schema/schema.js'
import { secretWords } from './secret-words.js'
import { asShellError } from './texts.js'
import type { CallOptions, Tool, ToolDefinition, ToolResult, ToolSet } from './tool.js'
import { Toolbox } from './toolbox.js'

export function createTools(engine: Engine, options: ToolOptions = {}): ToolSet {
  const dialect = dialectNamed(options.dialect)
  const box = new Toolbox(engine, dialect.policy, options)
  const facts: Facts = {
    cwd: box.cwd,
    shell: shellWords(engine.shell.version),
    timeouts: box.timeouts,
    yieldMs: options.yieldMs ?? null,
    sandbox: engine.sandbox,
  }
  const tools = specsOf(dialect, facts).map((spec): Tool => {
    const definition = define(spec, facts)
    const rules = rulesOf(spec, definition.inputSchema)
    return {
      ...definition,
      // Secrets may be set after the tools were made.
      get description() {
        return describe(spec, facts, definition.inputSchema, engine.secrets.names())
      },
      execute: (input, call) => execute(spec, box, rules, input, call ?? {}),
    }
  })
  const get = (name: string): Tool | undefined => tools.find((tool) => tool.name === name)
  return {
    dialect: dialect.name as DialectName,
    list: () => tools,
    get,
    execute: (name, input, call) => {
      const tool = get(name)
      if (tool) return tool.execute(input, call)
      const message = `Tool not found: ${name}. The tools are ${tools.map((known) => known.name).join(', ')}.`
      return Promise.resolve({ text: message, structured: { error: message }, isError: true })
    },
    schemas: (format) => tools.map((tool) => formatTool(tool, format)),
    [Symbol.iterator]: () => tools[Symbol.iterator](),
  }
}

/** The definitions alone, for `cerith schema` and for hosts that execute the tools elsewhere. Needs no engine. */
export function toolSchemas<F extends Format>(
  dialect: DialectName,
  format: F,
  options: { cwd?: string; shell?: string; yieldMs?: number } = {},
): FormattedTool<F>[] {
  return toolDefinitions(dialect, options).map((tool) => formatTool(tool, format))
}

export function toolDefinitions(
  dialect: DialectName,
  options: {
    cwd?: string
    shell?: string
    yieldMs?: number
    timeouts?: ToolOptions['timeouts']
    secrets?: readonly string[]
    sandbox?: SandboxOptions | null
  } = {},
): readonly ToolDefinition[] {
  const { policy, ...chosen } = dialectNamed(dialect)
  const facts: Facts = {
    cwd: options.cwd ?? '.',
    shell: shellWords(options.shell ?? ''),
    timeouts: { ...policy.timeouts, ...options.timeouts },
    yieldMs: options.yieldMs ?? null,
    sandbox: options.sandbox ?? null,
  }
  return specsOf(chosen, facts).map((spec) => define(spec, facts, options.secrets))
}

/** What was tried can be looked at in every dialect. */
function specsOf({ tools }: Pick<Dialect, 'tools'>, { sandbox }: Facts): readonly ToolSpec[] {
  return sandbox?.try ? [...tools, changesTool] : tools
}

function dialectNamed(name: string = 'house') {
  if (isDialectName(name)) return DIALECTS[name]
  throw new TypeError(`Unknown dialect ${JSON.stringify(name)}. The dialects are ${Object.keys(DIALECTS).join(', ')}.`)
}

/** The tools that take a command say what confines it and which secrets it may use. */
function describe(spec: ToolSpec, facts: Facts, schema: ObjectSchema, secrets: readonly string[]): string {
  const takesCommand = ['command', 'commands', 'cmd'].some((field) => Object.hasOwn(schema.properties, field))
  if (!takesCommand) return spec.describe(facts)
  const words = [spec.describe(facts), facts.sandbox ? sandboxWords(facts.sandbox) : '', secretWords(secrets)]
  return words.filter((word) => word !== '').join(' ')
}

function define(spec: ToolSpec, facts: Facts, secrets: readonly string[] = []): ToolDefinition {
  const own = spec.inputSchema(facts)
  const inputSchema = spec.outside ? withOutside(own, spec.outside, facts.sandbox) : own
  return {
    name: spec.name,
    category: 'execution',
    title: spec.title,
    description: describe(spec, facts, inputSchema, secrets),
    inputSchema,
    outputSchema: spec.outputSchema,
    annotations: spec.annotations,
    ...(spec.native ? { native: spec.native } : {}),
  }
}

function rulesOf({ name: tool, aliases, argv, ids, maps, outside }: ToolSpec, schema: ObjectSchema): InputRules {
  return { tool, schema, aliases, argv, ids, maps, silent: outside && { ...outside.silent, ...outside.fields } }
}

async function execute(
  spec: ToolSpec,
  box: Toolbox,
  rules: InputRules,
  raw: unknown,
  call: CallOptions,
): Promise<ToolResult> {
  let result: ToolResult
  try {
    const input = readInput(raw, rules)
    const outside = spec.outside?.reason(input)
    result = await spec.call(box, input, outside === undefined ? call : { ...call, outside })
  } catch (error) {
    result = spec.fail(asShellError(error))
  }
  const { mask } = box.engine.secrets
  return {
    text: mask(result.text),
    structured: maskDeep(result.structured, mask) as Record<string, unknown>,
    isError: result.isError,
    ...(result.failedByExit ? { failedByExit: true } : {}),
  }
}

/** The same value when nothing in it had to be hidden, which is nearly always. */
function maskDeep(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value)
  if (typeof value !== 'object' || value === null) return value
  const inner = Object.values(value) as unknown[]
  const hidden = inner.map((item) => maskDeep(item, mask))
  if (hidden.every((item, at) => item === inner[at])) return value
  return Array.isArray(value) ? hidden : Object.fromEntries(Object.keys(value).map((key, at) => [key, hidden[at]]))
}

/** "bash 5.2 (linux)". */
function shellWords(version: string): string {
  const [number] = /\d+\.\d+/.exec(version) ?? []
  return `bash${number ? ` ${number}` : ''} (${process.platform})`
}
