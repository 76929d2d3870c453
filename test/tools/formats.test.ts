/** Every format of every dialect, checked offline with the vendor's own library. */
import { transformJSONSchema } from '@anthropic-ai/sdk/lib/transform-json-schema'
import { GoogleGenAI, type FunctionDeclaration } from '@google/genai'
import { convertToOpenAITool } from '@langchain/core/utils/function_calling'
import { specTypeSchemas, type Tool } from '@modelcontextprotocol/server'
import { asSchema } from 'ai'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { toStrictJsonSchema } from 'openai/lib/transform'
import { describe, expect, test } from 'vitest'
import {
  aiSdkTools,
  createTools,
  DIALECTS,
  FORMATS,
  toolDefinitions,
  toolSchemas,
  type DialectName,
} from '../../src/tools/index.js'
import { strictSchema } from '../../src/tools/formats.js'
import { scriptedEngine } from './scripted-engine.js'

const dialects = Object.keys(DIALECTS) as DialectName[]

/** Every schema node below a schema, with its path. */
function* nodes(schema: unknown, path = '#'): Generator<{ path: string; node: Record<string, unknown> }> {
  if (typeof schema !== 'object' || schema === null) return
  const node = schema as Record<string, unknown>
  yield { path, node }
  for (const [name, child] of Object.entries((node['properties'] as object | undefined) ?? {}))
    yield* nodes(child, `${path}/${name}`)
  if (node['items']) yield* nodes(node['items'], `${path}[]`)
}

/** A fetch that keeps the request's body and answers with `reply`. */
function stubFetch(reply: unknown) {
  const bodies: Record<string, unknown>[] = []
  const fetch = async (_url: unknown, init?: { body?: unknown }): Promise<Response> => {
    bodies.push(JSON.parse(String(init?.body)))
    return new Response(JSON.stringify(reply), { headers: { 'content-type': 'application/json' } })
  }
  return { bodies, fetch: fetch as typeof globalThis.fetch }
}

describe.each(dialects)('%s', (dialect) => {
  const definitions = toolDefinitions(dialect, { cwd: '/srv/app' })

  test('input schemas use only what every vendor accepts', () => {
    for (const { name, inputSchema } of definitions) {
      expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/)
      for (const { path, node } of nodes(inputSchema)) {
        const where = `${name} ${path}`
        expect(typeof node['type'], where).toBe('string')
        for (const banned of ['anyOf', 'oneOf', 'allOf', '$ref', 'const', 'default', 'format', 'pattern'])
          expect(node, where).not.toHaveProperty(banned)
        if (node['type'] === 'array') expect(node['items'], where).toBeTypeOf('object')
        if (node['type'] === 'object') expect(node['additionalProperties'], where).toBe(false)
        for (const property of Object.keys((node['properties'] as object | undefined) ?? {}))
          expect(property, where).toMatch(/^[A-Za-z0-9_]{1,64}$/)
      }
    }
  })

  test('JSON Schema 2020-12: valid by ajv, inputs and outputs', () => {
    const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: false })
    for (const { inputSchema, outputSchema } of definitions) {
      expect(ajv.validateSchema(inputSchema)).toBe(true)
      expect(ajv.validateSchema(outputSchema)).toBe(true)
      expect(() => ajv.compile(inputSchema)).not.toThrow()
      expect(() => ajv.compile(outputSchema)).not.toThrow()
    }
  })

  test('mcp: every tool passes the protocol library', () => {
    for (const tool of toolSchemas(dialect, 'mcp')) {
      const checked = specTypeSchemas.Tool['~standard'].validate(tool)
      expect(checked).not.toHaveProperty('issues')
      expect(tool['name']).toMatch(/^[A-Za-z0-9_.-]{1,128}$/)
    }
  })

  test('openai-strict: the vendor would not change a thing', () => {
    for (const { inputSchema } of definitions) {
      const strict = JSON.parse(JSON.stringify(strictSchema(inputSchema)))
      expect(toStrictJsonSchema(strict)).toEqual(strict)
    }
  })

  test('openai: chat and responses reach the wire as they are', async () => {
    const { bodies, fetch } = stubFetch({ id: 'r', object: 'response', output: [], choices: [] })
    const client = new OpenAI({ apiKey: 'none', fetch, maxRetries: 0 })
    for (const format of ['openai', 'openai-strict'] as const) {
      const tools = toolSchemas(dialect, format)
      await client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'x' }], tools })
      expect(bodies.at(-1)!['tools']).toEqual(JSON.parse(JSON.stringify(tools)))
      for (const tool of tools)
        expect(tool).toMatchObject({
          type: 'function',
          function: { name: expect.any(String), description: expect.any(String), parameters: { type: 'object' } },
        })
    }
    for (const format of ['openai-responses', 'openai-responses-strict'] as const) {
      const tools = toolSchemas(dialect, format)
      await client.responses.create({ model: 'm', input: 'x', tools })
      expect(bodies.at(-1)!['tools']).toEqual(JSON.parse(JSON.stringify(tools)))
    }
  })

  test('anthropic: nothing is emptied by the strict transform', () => {
    for (const { inputSchema } of definitions) {
      const before = [...nodes(inputSchema)].map(({ path, node }) => [path, node['type'] ?? 'enum'])
      const after = [...nodes(transformJSONSchema(JSON.parse(JSON.stringify(inputSchema))))]
      expect(after.map(({ path }) => path)).toEqual(before.map(([path]) => path))
      for (const { node, path } of after)
        if (node['type'] === 'object' && path !== '#')
          expect(Object.keys(node['properties'] as object), path).not.toEqual([])
    }
    for (const tool of toolSchemas(dialect, 'anthropic')) expect(tool['name']).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
  })

  test('gemini: the SDK takes the declarations and drops nothing', async () => {
    const declarations = toolSchemas(dialect, 'gemini')
    const { bodies, fetch } = stubFetch({ candidates: [{ content: { role: 'model', parts: [{ text: 'ok' }] } }] })
    const real = globalThis.fetch
    globalThis.fetch = fetch
    try {
      const client = new GoogleGenAI({ apiKey: 'none' })
      await client.models.generateContent({
        model: 'gemini-2.5-flash',
        contents: 'x',
        config: { tools: [{ functionDeclarations: declarations }] },
      })
    } finally {
      globalThis.fetch = real
    }
    const sent = (bodies[0]!['tools'] as { functionDeclarations: unknown[] }[])[0]!.functionDeclarations
    expect(sent).toEqual(JSON.parse(JSON.stringify(declarations)))
    const json = JSON.stringify(declarations)
    for (const banned of ['additionalProperties', '"anyOf"', '"null"', '"object"', '"string"'])
      expect(json).not.toContain(banned)
  })

  test('ai-sdk: the SDK reads the same schema back', async () => {
    const tools = aiSdkTools(createTools(scriptedEngine(), { dialect }))
    for (const { name, inputSchema } of definitions)
      expect(await asSchema(tools[name]!.inputSchema as never).jsonSchema).toEqual(inputSchema)
    for (const tool of toolSchemas(dialect, 'ai-sdk'))
      expect(Object.keys(tool)).toEqual(['type', 'name', 'description', 'inputSchema'])
  })

  test('langchain: converts to the openai format unchanged', () => {
    for (const tool of definitions) {
      const converted = convertToOpenAITool({
        name: tool.name,
        description: tool.description,
        schema: tool.inputSchema,
      } as never)
      expect(converted.function.parameters).toEqual(tool.inputSchema)
    }
  })
})

test('the typed tools of the vendors are offered as such', () => {
  const [bash] = toolSchemas('anthropic', 'anthropic')
  expect(bash).toEqual({ type: 'bash_20250124', name: 'bash' } satisfies Anthropic.ToolBash20250124)
  const [shell] = toolSchemas('openai-shell', 'openai-responses')
  expect(shell).toEqual({ type: 'shell', environment: { type: 'local' } } satisfies OpenAI.Responses.FunctionShellTool)
})

test("what each format gives is the vendor's own type, without a cast", () => {
  const tools = createTools(scriptedEngine())
  const chat: OpenAI.Chat.ChatCompletionTool[] = tools.schemas('openai-strict')
  const responses: OpenAI.Responses.Tool[] = tools.schemas('openai-responses')
  const messages: Anthropic.ToolUnion[] = tools.schemas('anthropic')
  const protocol: Tool[] = tools.schemas('mcp')
  const declarations: FunctionDeclaration[] = tools.schemas('gemini')
  for (const list of [chat, responses, messages, protocol, declarations]) expect(list).toHaveLength(5)
})

test('every format of every dialect is plain JSON', () => {
  for (const dialect of dialects)
    for (const format of FORMATS)
      expect(JSON.parse(JSON.stringify(toolSchemas(dialect, format)))).toEqual(toolSchemas(dialect, format))
})

test('an unknown dialect is an error that names the known ones', () => {
  expect(() => toolSchemas('klingon' as never, 'mcp')).toThrow(/house, lango, phoenix/)
})
